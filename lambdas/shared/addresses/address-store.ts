import { documents, orUnavailable, type StoreClient } from '../dynamodb.ts';
import { addressesTable } from '../tables.ts';
import { type AddressRequest, addressKey, type Place } from './address-key.ts';

export type AddressStore = {
  /** The distinct places of an address, sorted; none if the register has no such address. Throws `StoreUnavailable`. */
  find(request: AddressRequest, signal: AbortSignal): Promise<Place[]>;
};

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
