import { requireEnvironment, systemClock } from '../shared/settings.ts';
import { createAccessStore } from '../shared/store/access-store.ts';
import { createKeyLabelStore } from '../shared/store/key-label-store.ts';
import { createStoreClient } from '../shared/store/store-client.ts';
import { environment } from '../shared/tables.ts';
import { validateRoute } from './route.ts';

const client = createStoreClient();
const accounts = requireEnvironment(environment.accountsTable);

/** The Lambda behind `/v1/auth/validate` and behind every path that nothing is published at. */
export const handler = validateRoute({
  accessStore: createAccessStore(client, accounts),
  keyLabelStore: createKeyLabelStore(client, accounts),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  clock: systemClock,
});
