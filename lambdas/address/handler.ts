import { requireEnvironment, systemClock } from '../shared/settings.ts';
import { createAccessStore } from '../shared/store/access-store.ts';
import { createAddressStore } from '../shared/store/address-store.ts';
import { createDatasetDate } from '../shared/store/dataset-date.ts';
import { createStoreClient } from '../shared/store/store-client.ts';
import { environment } from '../shared/tables.ts';
import { addressRoute } from './route.ts';

const client = createStoreClient();
const addresses = requireEnvironment(environment.addressesTable);

/** The Lambda behind `/v1/address`. */
export const handler = addressRoute({
  accessStore: createAccessStore(client, requireEnvironment(environment.accountsTable)),
  addressStore: createAddressStore(client, addresses),
  datasetDate: createDatasetDate(client, addresses),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  clock: systemClock,
});
