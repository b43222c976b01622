import type { Context } from 'aws-lambda';
import { isPublished, referenceRoute } from '../reference/route.ts';
import { createAccessStore } from '../shared/accounts/access-store.ts';
import { createKeyLabelStore } from '../shared/accounts/key-label-store.ts';
import { createStoreClient } from '../shared/dynamodb.ts';
import { requireEnvironment, systemClock } from '../shared/environment.ts';
import type { Answer, RequestEvent } from '../shared/http/event.ts';
import { environment } from '../shared/tables.ts';
import { validateRoute } from './route.ts';

let reference: ReturnType<typeof referenceRoute> | undefined;

const client = createStoreClient();
const accounts = requireEnvironment(environment.accountsTable);

const validate = validateRoute({
  accessStore: createAccessStore(client, accounts),
  keyLabelStore: createKeyLabelStore(client, accounts),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  clock: systemClock,
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
