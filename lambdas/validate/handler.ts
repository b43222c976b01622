import type { Context } from 'aws-lambda';
import { isPublished, referenceRoute } from '../reference/route.ts';
import { createStoreClient } from '../shared/dynamodb.ts';
import { optionalEnvironment, requireEnvironment } from '../shared/environment.ts';
import type { Answer, RequestEvent } from '../shared/http/event.ts';
import { environment } from '../shared/tables.ts';
import { createKeyStore } from './key-store.ts';
import { validateRoute } from './route.ts';

let reference: ReturnType<typeof referenceRoute> | undefined;

const validate = validateRoute({
  keyStore: createKeyStore(createStoreClient(), requireEnvironment(environment.accountsTable)),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  previousChecksumSecret: optionalEnvironment(environment.previousKeyChecksumSecret),
});

/**
 * The Lambda behind `/v1/auth/validate`, behind what the interface publishes about itself, and behind every path that
 * nothing is published at. What publishes is made when it is first asked for.
 */
export async function handler(event: RequestEvent, context: Context): Promise<Answer> {
  if (!isPublished(event.rawPath)) return await validate(event, context);
  reference ??= referenceRoute();
  return await reference(event, context);
}
