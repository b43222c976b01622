// npx openapi-zod-client openapi.json -o client.ts --media-type-expr "mediaType.endsWith('json')"
// The packages @zodios/core, axios and zod 3 send the requests. Without the expression, problems
// have no types.
import { isErrorFromAlias } from '@zodios/core';
import type { z } from 'zod';
import { createApiClient, type schemas } from './client.ts';
import { describeAnswer } from './outcomes.ts';
import { describeProblem } from './problems.ts';
import type { Batch, Query } from './requests.ts';

type Schemas = typeof schemas;
type SharedProblem =
  | 'Unauthorized'
  | 'AccountInactive'
  | 'PlanInactive'
  | 'QuotaExceeded'
  | 'InternalError'
  | 'TemporarilyUnavailable';

export type Answer = z.infer<Schemas['LookupAnswer']>;
export type Problem = z.infer<Schemas[SharedProblem | 'InvalidInput']>;
export type BatchProblem = z.infer<
  Schemas[SharedProblem | 'InvalidBody' | 'ContentTooLarge' | 'UnsupportedMediaType']
>;
type Client = ReturnType<typeof createClient>;

/**
 * The generated client, with the key in the header of every request. It checks responses only: if
 * it checked parameters too, invalid ones would throw here, without what the service says to send
 * instead. Lists in a query are separated by commas.
 */
export function createClient(baseUrl: string, key: string) {
  return createApiClient(`${baseUrl}/v1`, {
    validate: 'response',
    axiosConfig: {
      headers: { 'X-API-Key': key },
      paramsSerializer: (params: Record<string, unknown>) =>
        String(
          new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)])),
        ),
    },
  });
}

export async function describeLookup(client: Client, query: Query): Promise<string> {
  try {
    return describeAnswer(await client.lookUpAddress({ queries: query }));
  } catch (error) {
    if (!isErrorFromAlias(client.api, 'lookUpAddress', error)) throw error;
    return describeProblem(error.response.data);
  }
}

export async function describeLookups(client: Client, batch: Batch): Promise<string[]> {
  try {
    return (await client.lookUpAddresses(batch)).results.map(describeAnswer);
  } catch (error) {
    if (!isErrorFromAlias(client.api, 'lookUpAddresses', error)) throw error;
    return [describeProblem(error.response.data)];
  }
}

export async function planOf(client: Client): Promise<string> {
  return (await client.validateKey()).plan_code;
}
