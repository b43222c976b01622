import type { Context } from 'aws-lambda';
import { isPublished } from '../reference/request.ts';
import { createKeyStore } from '../shared/accounts/key-record.ts';
import { systemClock } from '../shared/accounts/quota.ts';
import { createStoreClient } from '../shared/dynamodb.ts';
import type { Answer, RequestEvent } from '../shared/http/middleware.ts';
import { environment, optionalEnvironment, requireEnvironment } from '../shared/names.ts';
import { validateRoute } from './route.ts';

let reference: ReturnType<typeof import('../reference/route.ts').referenceRoute> | undefined;

const validate = validateRoute({
  keyStore: createKeyStore(createStoreClient(), requireEnvironment(environment.accountsTable)),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  clock: systemClock,
  previousChecksumSecret: optionalEnvironment(environment.previousKeyChecksumSecret),
});

/**
 * The Lambda behind `/v1/auth/validate`, the published description, and every path that does not exist. The route of the
 * description, with all its texts, is loaded with the first request for it, so that cold starts stay short.
 */
export async function handler(event: RequestEvent, context: Context): Promise<Answer> {
  if (!isPublished(event.rawPath)) return await validate(event, context);
  reference ??= (await import('../reference/route.ts')).referenceRoute();
  return await reference(event, context);
}
