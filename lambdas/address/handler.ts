import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { createKeyUse } from '../../core/accounts/key-record.ts';
import { createRefusalCount } from '../../core/accounts/usage-record.ts';
import { createAddressStore, createDatasetDate } from '../../core/addresses/address-store.ts';
import { systemClock } from '../../core/calendar.ts';
import { createStoreClient } from '../../core/dynamodb.ts';
import { environment, optionalEnvironment, requireEnvironment } from '../../core/names.ts';
import { offeredHere } from '../http/offered.ts';
import { addressRoute } from './route.ts';

const client = createStoreClient();
const accounts = requireEnvironment(environment.accountsTable);
const addresses = requireEnvironment(environment.addressesTable);

/** The Lambda behind `/v1/address` and `/v1/addresses`. */
export const handler = addressRoute({
  accessStore: createAccessStore(client, accounts),
  keyUse: createKeyUse(client, accounts),
  refusals: createRefusalCount(client, accounts),
  addressStore: createAddressStore(client, addresses),
  testAddresses: optionalEnvironment(environment.testAddresses) !== 'off',
  offered: offeredHere(),
  datasetDate: createDatasetDate(client, addresses),
  checksumSecret: requireEnvironment(environment.keyChecksumSecret),
  previousChecksumSecret: optionalEnvironment(environment.previousKeyChecksumSecret),
  clock: systemClock,
});
