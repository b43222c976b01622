import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { KeyLabelStore } from '../domain/ports.ts';
import { accountsTable } from '../tables.ts';
import { keyRecord } from './access-item.ts';
import { orUnavailable, type StoreClient } from './send.ts';

/** Reads the record of a key; strongly consistent, since a key is often validated right after it was made. */
export function createKeyLabelStore(client: StoreClient, table: string): KeyLabelStore {
  return {
    async label({ account, keyId }, signal) {
      const command = new GetCommand({
        TableName: table,
        Key: { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: keyRecord.sortKey(keyId) },
        ConsistentRead: true,
      });
      const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
      return Item?.[keyRecord.label] ?? '';
    },
  };
}
