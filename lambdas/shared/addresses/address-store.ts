import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AddressRequest } from '../contract.ts';
import { orUnavailable, type StoreClient } from '../dynamodb.ts';
import { keyItem, type Place, type StoredAddress, storedAddress, type Toevoeging } from './address-item.ts';
import { addressKey } from './address-key.ts';

/** What the dataset has for a lookup. */
export type Found = {
  /** The distinct places of the address, sorted; none if there is no such address. */
  places: Place[];
  /** Where there is no such address: the toevoegingen that do exist at its postcode and huisnummer, sorted. Otherwise none. */
  toevoegingen: Toevoeging[];
};

export type AddressStore = {
  /** @throws StoreUnavailable */
  find(request: AddressRequest, signal: AbortSignal): Promise<Found>;
};

/**
 * One eventually consistent `GetItem` for an address that exists: half a read unit. For one that does not, one more at most:
 * the item of the same key without its toevoeging lists those that exist (decision 0121).
 */
export function createAddressStore(client: StoreClient, table: string): AddressStore {
  async function read(request: AddressRequest, signal: AbortSignal): Promise<StoredAddress | undefined> {
    const command = new GetItemCommand({ TableName: table, Key: keyItem(addressKey(request)) });
    const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
    return Item && storedAddress(Item);
  }

  return {
    async find(request, signal) {
      const found = await read(request, signal);
      if (found && found.places.length > 0) return { places: found.places, toevoegingen: [] };
      const bare = request.toevoeging === null ? found : await read({ ...request, toevoeging: null }, signal);
      return { places: [], toevoegingen: existing(bare, request) };
    },
  };
}

/** A load may write between the two reads: a toevoeging that was just not found is not listed. */
function existing(bare: StoredAddress | undefined, { toevoeging }: AddressRequest): Toevoeging[] {
  const asked = toevoeging?.toUpperCase() ?? null;
  const listed = bare?.toevoegingen ?? (bare && bare.places.length > 0 ? [null] : []);
  return listed.filter((one) => one !== asked);
}
