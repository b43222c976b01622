import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AddressRequest } from '../contract.ts';
import { orUnavailable, type StoreClient } from '../dynamodb.ts';
import { keyItem, type Place, storedAddress } from './address-item.ts';
import { addressKey } from './address-key.ts';

export type AddressStore = {
  /** The distinct places of an address, sorted; none if the register has no such address. Throws `StoreUnavailable`. */
  find(request: AddressRequest, signal: AbortSignal): Promise<Place[]>;
};

/** One eventually consistent `GetItem` a lookup: half a read unit. */
export function createAddressStore(client: StoreClient, table: string): AddressStore {
  return {
    async find(request, signal) {
      const command = new GetItemCommand({ TableName: table, Key: keyItem(addressKey(request)) });
      const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
      return Item ? storedAddress(Item).places : [];
    },
  };
}
