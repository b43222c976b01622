// npx openapi-typescript openapi.json --output client.ts
// The package openapi-fetch sends the requests.
import createFetch from 'openapi-fetch';
import type { paths } from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';
import type { Batch, Query } from './requests.ts';

export type Answer = NonNullable<Awaited<ReturnType<typeof lookUp>>['data']>;
export type Problem = NonNullable<Awaited<ReturnType<typeof lookUp>>['error']>;
export type BatchProblem = NonNullable<Awaited<ReturnType<typeof lookUpAll>>['error']>;
type Client = ReturnType<typeof createClient>;

/**
 * A client with the generated types, and the key in the header of every request. Lists in a query
 * are separated by commas.
 */
export function createClient(baseUrl: string, key: string) {
  return createFetch<paths>({
    baseUrl: `${baseUrl}/v1`,
    headers: { 'X-API-Key': key },
    querySerializer: { array: { style: 'form', explode: false } },
  });
}

const lookUp = (client: Client, query: Query) => client.GET('/address', { params: { query } });
const lookUpAll = (client: Client, body: Batch) => client.POST('/addresses', { body });

export async function describeLookup(client: Client, query: Query): Promise<string> {
  const { data, error } = await lookUp(client, query);
  return data ? describeAnswer(data) : describeProblem(error);
}

export async function describeLookups(client: Client, batch: Batch): Promise<string[]> {
  const { data, error } = await lookUpAll(client, batch);
  return data ? data.results.map(describeAnswer) : [describeProblem(error)];
}

export async function planOf(client: Client): Promise<string> {
  const { data, error } = await client.GET('/auth/validate');
  return data ? data.plan_code : error.title;
}
