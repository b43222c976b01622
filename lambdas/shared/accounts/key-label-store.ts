import { documents, orUnavailable, type StoreClient } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import { keyRecord } from './account-item.ts';

export type KeyLabelStore = {
  /** The label that a key was created with. Throws `StoreUnavailable`. */
  label(key: { account: string; keyId: string }, signal: AbortSignal): Promise<string>;
};

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
