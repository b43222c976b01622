import { BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type Item, orUnavailable, type StoreClient, StoreUnavailable } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import type { Access } from './account.ts';
import { accessKey, itemKey, readAccess } from './account-item.ts';
import type { KeyClaim } from './api-key.ts';

/**
 * An item for each API key an account ever had, with its details for people. No lookup depends on
 * it.
 */
export const keyRecord = {
  sortKey: (keyId: string) => `key#${keyId}`,
  label: 'label',
  created: 'created',
  revoked: 'revoked',
  /**
   * The last UTC date with lookups charged to it, `2026-11-21`, of the days that left the access
   * item (decision 0205).
   */
  lastUsed: 'last_used',
  /** Random: identifies the call that created the record, for when a response was lost. */
  attempt: 'attempt',
  /**
   * The fingerprint of the checksum secret that it was issued with; absent from records of versions
   * up to 1.0.
   */
  secret: 'secret',
  /** Who created it, as the audit names them. */
  createdBy: 'created_by',
  /** The id of the key that it replaces. */
  replaces: 'replaces',
  /** The id of the key that was the first to replace it; it may have been revoked since. */
  replacedBy: 'replaced_by',
} as const;

/** The primary key of the record of an API key. */
export const recordKey = ({ account, keyId }: { account: string; keyId: string }) =>
  itemKey(account, keyRecord.sortKey(keyId));

/** The stored details of an API key besides its hash; instants in seconds since 1970. */
export type KeyRecord = {
  keyId: string;
  label: string | null;
  created: number | null;
  revoked: number | null;
  /** The fingerprint of the checksum secret that it was issued with, if known. */
  secret?: string | undefined;
};

/** Reads the record of an API key. */
export function readKeyRecord(record: Item): KeyRecord {
  return {
    keyId: String(record[accountsTable.sortKey]).slice(keyRecord.sortKey('').length),
    label: record[keyRecord.label] ?? null,
    created: record[keyRecord.created] ?? null,
    revoked: record[keyRecord.revoked] ?? null,
    ...(record[keyRecord.secret] !== undefined && { secret: record[keyRecord.secret] }),
  };
}

/** The item of the record of an API key, as `readKeyRecord` reads it. */
export function keyRecordItem(
  account: string,
  { keyId, label, created, revoked, secret }: KeyRecord,
): Item {
  return {
    ...recordKey({ account, keyId }),
    ...(label !== null && { [keyRecord.label]: label }),
    ...(created !== null && { [keyRecord.created]: created }),
    ...(revoked !== null && { [keyRecord.revoked]: revoked }),
    ...(secret !== undefined && { [keyRecord.secret]: secret }),
  };
}

export type KeyStore = {
  /**
   * The access item of a key's account and its label, by one strongly consistent call. @throws
   * StoreUnavailable
   */
  read(
    claim: KeyClaim,
    signal: AbortSignal,
  ): Promise<{ access: Access | undefined; label: string }>;
};

/**
 * Keys in DynamoDB. The read is strongly consistent, since a key is often validated right after it
 * was made.
 */
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
      // Partly throttled: an item that was not returned must not look like a key that does not
      // exist.
      if (Object.keys(UnprocessedKeys).length > 0) {
        throw new StoreUnavailable('the store left out a part of a key');
      }
      const items = (Responses[table] ?? []).map((item) => unmarshall(item));
      const find = (key: Record<string, string>) =>
        items.find((item) => item[accountsTable.sortKey] === key[accountsTable.sortKey]);
      const item = find(accessKey(claim.account));
      const record = find(recordKey(claim));
      return {
        access: item && readAccess(item),
        label: (record && readKeyRecord(record).label) ?? '',
      };
    },
  };
}
