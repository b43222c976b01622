import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { addressKey, type Place } from '../domain/address-key.ts';
import type { AddressStore } from '../domain/ports.ts';
import { addressesTable } from '../tables.ts';
import { orUnavailable, type StoreClient } from './send.ts';

/** One eventually consistent `GetItem` a lookup: half a read unit. */
export function createAddressStore(client: StoreClient, table: string): AddressStore {
  return {
    async find(request, signal) {
      const command = new GetCommand({
        TableName: table,
        Key: { [addressesTable.partitionKey]: addressKey(request) },
      });
      const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
      const places: Place[] = Item?.[addressesTable.places] ?? [];
      // DynamoDB gives the members of a map in any order; an answer has one.
      return places.map(({ straat, woonplaats }) => ({ straat, woonplaats }));
    },
  };
}
