import type { Context } from 'aws-lambda';
import { createChecksumSecrets } from '../../core/accounts/checksum-secret.ts';
import { createKeyStore } from '../../core/accounts/key-record.ts';
import { systemClock } from '../../core/calendar.ts';
import { environment, requireEnvironment } from '../../core/environment.ts';
import { hasDocsIn, isPublished } from '../../packages/reference/published.ts';
import type { FunctionSetting } from '../http/function-setting.ts';
import type { Answer, RequestEvent } from '../http/middleware.ts';
import { validateRoute } from './validate-route.ts';

/**
 * The handler behind `/v1/auth/validate`, the published description, and every path that does not
 * exist. The route of the description, with all its texts, is loaded with the first request for it,
 * so that cold starts stay short.
 * @throws Error if a variable is missing
 */
export function createHandler({ variables, client, log }: FunctionSetting) {
  const hasDocs = hasDocsIn(variables);
  let reference: ReturnType<typeof import('./reference-route.ts').referenceRoute> | undefined;
  const accounts = requireEnvironment(environment.accountsTable, variables);
  const validate = validateRoute({
    keyStore: createKeyStore(client, accounts),
    checksumSecrets: createChecksumSecrets(client, accounts),
    clock: systemClock,
    log,
  });
  return async (event: RequestEvent, context: Context): Promise<Answer> => {
    if (!isPublished(event, hasDocs)) return await validate(event, context);
    reference ??= (await import('./reference-route.ts')).referenceRoute(variables, log);
    return await reference(event, context);
  };
}
