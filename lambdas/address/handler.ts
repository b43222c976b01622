import { createAccessStore } from '../shared/accounts/access-store.ts';
import { createKeyUse } from '../shared/accounts/key-record.ts';
import { systemClock } from '../shared/accounts/quota.ts';
import { createRefusalCount } from '../shared/accounts/usage-record.ts';
import { createAddressStore, createDatasetDate } from '../shared/addresses/address-store.ts';
import { createStoreClient } from '../shared/dynamodb.ts';
import { environment, optionalEnvironment, requireEnvironment } from '../shared/names.ts';
import { addressRoute } from './route.ts';

const client = createStoreClient();
const accounts = requireEnvironment(environment.accountsTable);
const addresses = requireEnvironment(environment.addressesTable);

/** The Lambda behind `/v1/address`. */
export const handler = addressRoute({
  accessStore: createAccessStore(client, accounts),
  keyUse: createKeyUse(client, accounts),
  refusals: createRefusalCount(client, accounts),
  addressStore: createAddressStore(client, addresses),
  datasetDate: createDatasetDate(client, addresses),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  previousChecksumSecret: optionalEnvironment(environment.previousKeyChecksumSecret),
  clock: systemClock,
});
