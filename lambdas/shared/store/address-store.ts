import { addressKey, type Place } from '../domain/address-key.ts';
import type { AddressStore } from '../domain/ports.ts';
import { addressesTable } from '../tables.ts';
import { documents, type StoreClient } from './documents.ts';
import { orUnavailable } from './send.ts';

/** One eventually consistent `GetItem` a lookup: half a read unit. */
export function createAddressStore(client: StoreClient, table: string): AddressStore {
  const { get } = documents(client);
  return {
    async find(request, signal) {
      const Key = { [addressesTable.partitionKey]: addressKey(request) };
      const item = await orUnavailable(get({ TableName: table, Key }, signal), signal);
      const places: Place[] = item?.[addressesTable.places] ?? [];
      // DynamoDB gives the members of a map in any order; an answer has one.
      return places.map(({ straat, woonplaats }) => ({ straat, woonplaats }));
    },
  };
}
