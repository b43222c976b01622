// npx openapi-typescript openapi.json --output client.ts
// The package openapi-fetch sends the requests.
import createFetch from 'openapi-fetch';
import type { paths } from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';

export type Answer = NonNullable<Awaited<ReturnType<typeof lookUp>>['data']>;
export type Problem = NonNullable<Awaited<ReturnType<typeof lookUp>>['error']>;
export type Query = { postcode: string; huisnummer: number; toevoeging?: string };
type Client = ReturnType<typeof createClient>;

/** A client with the generated types, and the key in the header of every request. */
export function createClient(baseUrl: string, key: string) {
  return createFetch<paths>({ baseUrl: `${baseUrl}/v1`, headers: { 'X-API-Key': key } });
}

const lookUp = (client: Client, query: Query) => client.GET('/address', { params: { query } });

export async function describeLookup(client: Client, query: Query): Promise<string> {
  const { data, error } = await lookUp(client, query);
  return data ? describeAnswer(data) : describeProblem(error);
}

export async function planOf(client: Client): Promise<string> {
  const { data, error } = await client.GET('/auth/validate');
  return data ? data.plan_code : error.title;
}
