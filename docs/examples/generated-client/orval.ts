// npx orval --config orval.config.js
import {
  type LookupAnswer,
  lookUpAddress,
  lookUpAddresses,
  type lookUpAddressesResponseError,
  type lookUpAddressResponseError,
  validateKey,
} from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';
import type { Batch, Query } from './requests.ts';

export type Answer = LookupAnswer;
export type Problem = lookUpAddressResponseError['data'];
export type BatchProblem = lookUpAddressesResponseError['data'];
type Client = ReturnType<typeof createClient>;

/**
 * The address of the API, which the generated functions begin each URL with, as `orval.config.js`
 * tells them.
 */
export let apiUrl = '';

/** The options of every request: the key in the header. */
export function createClient(baseUrl: string, key: string) {
  apiUrl = `${baseUrl}/v1`;
  return { headers: { 'X-API-Key': key } };
}

export async function describeLookup(client: Client, query: Query): Promise<string> {
  const response = await lookUpAddress(query, client);
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
