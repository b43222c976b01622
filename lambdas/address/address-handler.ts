import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { createChecksumSecrets } from '../../core/accounts/checksum-secret.ts';
import { createRefusalCount } from '../../core/accounts/usage-record.ts';
import { createAddressStore, createDatasetDate } from '../../core/addresses/address-store.ts';
import { systemClock } from '../../core/calendar.ts';
import { environment, optionalEnvironment, requireEnvironment } from '../../core/environment.ts';
import { availableIncludesIn } from '../../core/place-fields.ts';
import type { FunctionSetting } from '../http/function-setting.ts';
import { addressRoute } from './address-route.ts';

/** The handler behind `/v1/address` and `/v1/addresses`. @throws Error if a variable is missing */
export function createHandler({ variables, client, log }: FunctionSetting) {
  const accounts = requireEnvironment(environment.accountsTable, variables);
  const addresses = requireEnvironment(environment.addressesTable, variables);
  return addressRoute({
    accessStore: createAccessStore(client, accounts),
    refusals: createRefusalCount(client, accounts),
    addressStore: createAddressStore(client, addresses),
    testAddresses: optionalEnvironment(environment.testAddresses, variables) !== 'off',
    available: availableIncludesIn(variables),
    datasetDate: createDatasetDate(client, addresses),
    checksumSecrets: createChecksumSecrets(client, accounts),
    clock: systemClock,
    log,
  });
}
