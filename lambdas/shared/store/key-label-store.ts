import type { KeyLabelStore } from '../domain/ports.ts';
import { accountsTable } from '../tables.ts';
import { keyRecord } from './access-item.ts';
import { documents, type StoreClient } from './documents.ts';
import { orUnavailable } from './send.ts';

/** Reads the record of a key; strongly consistent, since a key is often validated right after it was made. */
export function createKeyLabelStore(client: StoreClient, table: string): KeyLabelStore {
  const { get } = documents(client);
  return {
    async label({ account, keyId }, signal) {
      const Key = { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: keyRecord.sortKey(keyId) };
      const item = await orUnavailable(get({ TableName: table, Key, ConsistentRead: true }, signal), signal);
      return item?.[keyRecord.label] ?? '';
    },
  };
}
