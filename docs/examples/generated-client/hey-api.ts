// npx openapi-ts --input openapi.json --output client
// openapi-ts is the command of the package @hey-api/openapi-ts.
import { createClient as createFetch } from './client/client/index.ts';
import {
  type LookUpAddressError,
  type LookUpAddressesError,
  type LookupAnswer,
  lookUpAddress,
  lookUpAddresses,
  validateKey,
} from './client/index.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';
import type { Batch, Query } from './requests.ts';

export type Answer = LookupAnswer;
export type Problem = LookUpAddressError;
export type BatchProblem = LookUpAddressesError;
type Client = ReturnType<typeof createClient>;

/** A client that sends the key in the header of every request. */
export function createClient(baseUrl: string, key: string) {
  return createFetch({ baseUrl: `${baseUrl}/v1`, auth: key });
}

export async function describeLookup(client: Client, query: Query): Promise<string> {
  const { data, error } = await lookUpAddress({ client, query });
  return data ? describeAnswer(data) : describeProblem(error);
}

export async function describeLookups(client: Client, body: Batch): Promise<string[]> {
  const { data, error } = await lookUpAddresses({ client, body });
  return data ? data.results.map(describeAnswer) : [describeProblem(error)];
}

export async function planOf(client: Client): Promise<string> {
  const { data, error } = await validateKey({ client });
  return data ? data.plan_code : error.title;
}
