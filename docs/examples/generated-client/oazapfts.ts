// npx oazapfts openapi.json client.ts
// The package @oazapfts/runtime sends the requests.
import { type LookupAnswer, lookUpAddress, lookUpAddresses, validateKey } from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';
import type { Batch, Query } from './requests.ts';

export type Answer = LookupAnswer;
export type Problem = Exclude<Awaited<ReturnType<typeof lookUpAddress>>, { status: 200 }>['data'];
export type BatchProblem = Exclude<
  Awaited<ReturnType<typeof lookUpAddresses>>,
  { status: 200 }
>['data'];
type Client = ReturnType<typeof createClient>;

/** The options of every request: the address of the API, and the key in the header. */
export function createClient(baseUrl: string, key: string) {
  return { baseUrl: `${baseUrl}/v1`, headers: { 'X-API-Key': key } };
}

export async function describeLookup(client: Client, query: Query): Promise<string> {
  const { postcode, huisnummer, ...optional } = query;
  const response = await lookUpAddress(postcode, huisnummer, optional, client);
  return response.status === 200 ? describeAnswer(response.data) : describeProblem(response.data);
}

export async function describeLookups(client: Client, batch: Batch): Promise<string[]> {
  const response = await lookUpAddresses(batch, client);
  return response.status === 200
    ? response.data.results.map(describeAnswer)
    : [describeProblem(response.data)];
}

export async function planOf(client: Client): Promise<string> {
  const response = await validateKey(client);
  return response.status === 200 ? response.data.plan_code : response.data.title;
}
