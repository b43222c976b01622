import { instant } from '../../calendar.ts';
import type { Item } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import { expiryOf } from '../api-key.ts';
import { type KeyRecord, keyRecord, readKeyRecord, recordKey } from '../key-record.ts';
import { checkAccountId } from './admin-error.ts';
import { type AdminStore, getAccess } from './admin-store.ts';

/** A key as an operator or a portal sees it. A key whose creation or revocation was interrupted counts as revoked. */
export type KeyView = {
  keyId: string;
  label: string | null;
  state: 'active' | 'expired' | 'revoked';
  created: string | null;
  /** When it expires; absent for a key that does not expire or was revoked. */
  expires: string | null;
  revoked: string | null;
  /** The last UTC day on which a lookup was charged with it, `2026-11-21`; `null` if none was recorded. */
  lastUsed: string | null;
  /** Who created it, as the audit names them; `null` for a key of version 1.0 or older. */
  createdBy: string | null;
  /** The key that replaces it, if it is being replaced or was; until `expires` both work. */
  replacedBy: string | null;
};

/** A key's record with what is shown besides. */
type ShownKey = KeyRecord & Pick<KeyView, 'lastUsed' | 'createdBy'> & { replaces: string | null };

function readShownKey(record: Item): ShownKey {
  return {
    ...readKeyRecord(record),
    lastUsed: record[keyRecord.lastUsed] ?? null,
    createdBy: record[keyRecord.createdBy] ?? null,
    replaces: record[keyRecord.replaces] ?? null,
  };
}

/** A key of which nothing but its hash is known. */
const unrecordedKey = { label: null, created: null, revoked: null, lastUsed: null, createdBy: null, replaces: null };

/**
 * The keys of an account at `nowSeconds`, oldest first. The access item, not the records, decides which are active; a
 * key without a record, which only a manual change of the table can make, is shown too, so that it can be revoked.
 */
export function viewKeys({ keys }: Pick<Access, 'keys'>, records: ShownKey[], nowSeconds: number): KeyView[] {
  const recorded = new Set(records.map(({ keyId }) => keyId));
  const unrecorded = Object.keys(keys).filter((keyId) => !recorded.has(keyId));
  const replacedBy = new Map(records.map(({ keyId, replaces }) => [replaces, keyId]));
  return [...records, ...unrecorded.map((keyId) => ({ ...unrecordedKey, keyId }))]
    .toSorted((a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.keyId < b.keyId ? -1 : 1))
    .map((record) => ({
      ...viewKey(record, Object.hasOwn(keys, record.keyId) ? keys[record.keyId] : undefined, nowSeconds),
      replacedBy: replacedBy.get(record.keyId) ?? null,
    }));
}

function viewKey(
  { keyId, label, created, revoked, lastUsed, createdBy }: ShownKey,
  stored: Uint8Array | undefined,
  nowSeconds: number,
): Omit<KeyView, 'replacedBy'> {
  const expires = stored ? expiryOf(stored) : null;
  const activeState = expires !== null && expires <= nowSeconds ? 'expired' : 'active';
  return {
    keyId,
    label,
    state: stored ? activeState : 'revoked',
    created: created === null ? null : instant(created),
    expires: expires === null ? null : instant(expires),
    revoked: stored || revoked === null ? null : instant(revoked),
    lastUsed,
    createdBy,
  };
}

/**
 * The keys of an account, oldest first, revoked ones too; never a secret or a hash.
 * @throws AdminError `invalid`, `not_found`
 */
export async function listKeys(store: AdminStore, account: string): Promise<KeyView[]> {
  checkAccountId(account);
  const access = await getAccess(store, account);
  return viewKeys(access, await keyRecordsOf(store, account), store.nowSeconds());
}

/** The record of every key that an account had. Read it after the access item: a key's record is written first. */
export async function keyRecordsOf(store: AdminStore, account: string): Promise<ShownKey[]> {
  const records = await store.query({
    TableName: store.table,
    KeyConditionExpression: '#account = :account AND begins_with(#item, :key)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':account': account, ':key': keyRecord.sortKey('') },
  });
  return records.map(readShownKey);
}

/** The record of a key, or `null`. */
export async function findRecord(store: AdminStore, account: string, keyId: string): Promise<ShownKey | null> {
  const record = await store.get(recordKey({ account, keyId }));
  return record ? readShownKey(record) : null;
}
