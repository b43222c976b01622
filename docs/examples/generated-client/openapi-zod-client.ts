// npx openapi-zod-client openapi.json --output client.ts --media-type-expr "mediaType.endsWith('json')"
// The packages @zodios/core, axios and zod 3 send the requests. Without the expression, problems have no types.
import { isErrorFromAlias } from '@zodios/core';
import type { z } from 'zod';
import { createApiClient, type schemas } from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';

export type Answer = z.infer<typeof schemas.LookupAnswer>;
export type Problem = z.infer<
  (typeof schemas)[
    | 'Unauthorized'
    | 'AccountInactive'
    | 'PlanInactive'
    | 'InvalidInput'
    | 'QuotaExceeded'
    | 'InternalError'
    | 'TemporarilyUnavailable']
>;
export type Query = { postcode: string; huisnummer: number; toevoeging?: string };
type Client = ReturnType<typeof createClient>;

/**
 * The generated client, with the key in the header of every request. It checks responses only: if it checked parameters too,
 * invalid ones would throw here, without what the service says to send instead.
 */
export function createClient(baseUrl: string, key: string) {
  return createApiClient(`${baseUrl}/v1`, { validate: 'response', axiosConfig: { headers: { 'X-API-Key': key } } });
}

export async function describeLookup(client: Client, query: Query): Promise<string> {
  try {
    return describeAnswer(await client.lookUpAddress({ queries: query }));
  } catch (error) {
    if (!isErrorFromAlias(client.api, 'lookUpAddress', error)) throw error;
    return describeProblem(error.response.data);
  }
}

export async function planOf(client: Client): Promise<string> {
  return (await client.validateKey()).plan_code;
}
