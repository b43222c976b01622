import type { Context } from 'aws-lambda';
import { createKeyStore } from '../../core/accounts/key-record.ts';
import { systemClock } from '../../core/calendar.ts';
import { createStoreClient } from '../../core/dynamodb.ts';
import { environment, optionalEnvironment, requireEnvironment } from '../../core/names.ts';
import type { Answer, RequestEvent } from '../../lambdas/http/middleware.ts';
import { isPublished } from '../../lambdas/http/published.ts';
import { validateRoute } from '../../lambdas/validate/route.ts';

let reference: ReturnType<typeof import('./route.ts').referenceRoute> | undefined;

const validate = validateRoute({
  keyStore: createKeyStore(createStoreClient(), requireEnvironment(environment.accountsTable)),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  clock: systemClock,
  previousChecksumSecret: optionalEnvironment(environment.previousKeyChecksumSecret),
});

/**
 * The Lambda behind `/v1/auth/validate`, the published description, and every path that does not exist. The route of
 * the description, with all its texts, is loaded with the first request for it, so that cold starts stay short.
 */
export async function handler(event: RequestEvent, context: Context): Promise<Answer> {
  if (!isPublished(event)) return await validate(event, context);
  reference ??= (await import('./route.ts')).referenceRoute();
  return await reference(event, context);
}
