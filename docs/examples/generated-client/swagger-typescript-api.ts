// npx swagger-typescript-api generate -p openapi.json -o . -n client.ts --disable-throw-on-error
import { Api, type LookupAnswer } from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';
import type { Batch, Query } from './requests.ts';

export type Answer = LookupAnswer;
export type Problem = Awaited<ReturnType<Client['address']['lookUpAddress']>>['error'];
export type BatchProblem = Awaited<ReturnType<Client['addresses']['lookUpAddresses']>>['error'];
type Client = ReturnType<typeof createClient>;

/**
 * The generated client repeats the parameter for each member of a list; the service takes one,
 * separated by commas.
 */
class AddressApi extends Api<unknown> {
  protected override addArrayQueryParam(query: Record<string, string[]>, name: string): string {
    return this.addQueryParam({ [name]: query[name]?.join(',') }, name);
  }
}

/** The generated client, with the key in the header of every request. */
export function createClient(baseUrl: string, key: string) {
  return new AddressApi({
    baseUrl: `${baseUrl}/v1`,
    baseApiParams: { headers: { 'X-API-Key': key } },
  });
}

export async function describeLookup(client: Client, query: Query): Promise<string> {
  const response = await client.address.lookUpAddress(query);
  return response.ok ? describeAnswer(response.data) : describeProblem(response.error);
}

export async function describeLookups(client: Client, batch: Batch): Promise<string[]> {
  const response = await client.addresses.lookUpAddresses(batch);
  return response.ok
    ? response.data.results.map(describeAnswer)
    : [describeProblem(response.error)];
}

export async function planOf(client: Client): Promise<string> {
  const response = await client.auth.validateKey();
  return response.ok ? response.data.plan_code : response.error.title;
}
