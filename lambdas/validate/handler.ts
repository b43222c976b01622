import type { Context } from 'aws-lambda';
import { isPublished } from '../reference/published.ts';
import type { Answer, RequestEvent } from '../shared/http/event.ts';
import { requireEnvironment, systemClock } from '../shared/settings.ts';
import { createAccessStore } from '../shared/store/access-store.ts';
import { createKeyLabelStore } from '../shared/store/key-label-store.ts';
import { createStoreClient } from '../shared/store/store-client.ts';
import { environment } from '../shared/tables.ts';
import { validateRoute } from './route.ts';

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
 * nothing is published at. The published documents are loaded when they are first asked for.
 */
export async function handler(event: RequestEvent, context: Context): Promise<Answer> {
  if (!isPublished(event.rawPath)) return await validate(event, context);
  const { referenceRoute } = await import('../reference/route.ts');
  return await referenceRoute()(event, context);
}
