import { BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Access } from '../shared/accounts/account.ts';
import { accessKey, readAccess, readKeyRecord, recordKey } from '../shared/accounts/account-item.ts';
import type { KeyClaim } from '../shared/accounts/api-key.ts';
import { orUnavailable, type StoreClient, StoreUnavailable } from '../shared/dynamodb.ts';
import { accountsTable } from '../shared/tables.ts';

export type KeyStore = {
  /** The access item of a key's account and the key's label, by one strongly consistent call. Throws `StoreUnavailable`. */
  read(claim: KeyClaim, signal: AbortSignal): Promise<{ access: Access | undefined; label: string }>;
};

/** Keys in DynamoDB. The read is strongly consistent, since a key is often validated right after it was made. */
export function createKeyStore(client: StoreClient, table: string): KeyStore {
  return {
    async read(claim, signal) {
      const keys = [accessKey(claim.account), recordKey(claim)];
      const command = new BatchGetItemCommand({
        RequestItems: { [table]: { Keys: keys.map((key) => marshall(key)), ConsistentRead: true } },
      });
      const { Responses = {}, UnprocessedKeys = {} } = await orUnavailable(
        client.send(command, { abortSignal: signal }),
        signal,
      );
      // Throttled, in part: what is missing must not look like a key that does not exist.
      if (Object.keys(UnprocessedKeys).length > 0) throw new StoreUnavailable('the store left out a part of a key');
      const items = (Responses[table] ?? []).map((item) => unmarshall(item));
      const find = (key: Record<string, string>) =>
        items.find((item) => item[accountsTable.sortKey] === key[accountsTable.sortKey]);
      const item = find(accessKey(claim.account));
      const record = find(recordKey(claim));
      return { access: item && readAccess(item), label: (record && readKeyRecord(record).label) ?? '' };
    },
  };
}
