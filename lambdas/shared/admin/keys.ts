import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { issueApiKey, type KeyClaim } from '../domain/api-key.ts';
import { keyRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import { type Access, getAccess } from './access.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { audited } from './audit.ts';
import { checkAccountId, checkKeyId, checkLabel } from './check.ts';
import { admitKey, deleteRecord, markRevoked, putRecord, recordKey, refuseKey } from './key-commands.ts';
import { type KeyRecord, type KeyView, readKeyRecord, viewKeys } from './key-view.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { updateAll } from './update-all.ts';

/** Active keys of one account: as many as the access item holds within 1 KB, whatever its id, plan and limits. */
export const maxActiveKeys = 16;

/**
 * Makes a key, which is admitted when this returns. `key` is the only copy: show it once, keep it nowhere. To rotate:
 * create, hand over, and revoke the old one when the new one is in use; no request is refused in between.
 * Throws `invalid`, `not_found`, `too_many_keys`.
 */
export async function createKey(
  store: AdminStore,
  checksumSecret: string,
  { account, label }: { account: string; label: string },
): Promise<{ key: string; keyId: string }> {
  checkAccountId(account);
  checkLabel(label);
  await checkRoom(store, account);
  const { key, claim } = issueApiKey(account, checksumSecret);
  await audited(store, { partition: account, action: 'key create', detail: { keyId: claim.keyId } }, async () => {
    // The record comes first: a key that is admitted always has one, so that it can be found and revoked.
    await store.client.send(putRecord(store.table, claim, label, store.nowSeconds()));
    await admit(store, claim);
  });
  return { key, keyId: claim.keyId };
}

async function admit(store: AdminStore, claim: KeyClaim): Promise<void> {
  try {
    await retryConflicts(async () => {
      const access = await checkRoom(store, claim.account, claim.keyId);
      await updateAll(store, admitKey(store.table, claim, access, maxActiveKeys));
    });
  } catch (error) {
    // A refusal wrote nothing. After any other failure the key may be admitted, so its record stays and shows it.
    if (error instanceof AdminError) await store.client.send(deleteRecord(store.table, claim));
    throw error;
  }
}

async function checkRoom(store: AdminStore, account: string, admitted?: string): Promise<Access> {
  const access = await getAccess(store, account);
  const others = Object.keys(access.keys).filter((keyId) => keyId !== admitted); // an earlier try may have admitted it already
  if (others.length < maxActiveKeys) return access;
  throw new AdminError(
    'too_many_keys',
    `Account "${account}" has ${maxActiveKeys} active keys, the most it can have; revoke one first.`,
  );
}

/**
 * Revokes a key for good: every request that starts after this returned is refused. Revoking it again is harmless, and
 * finishes one that died halfway. Throws `invalid`, `not_found`.
 */
export async function revokeKey(
  store: AdminStore,
  { account, keyId }: { account: string; keyId: string },
): Promise<KeyView> {
  checkAccountId(account);
  checkKeyId(keyId);
  let access: Access | null = await getAccess(store, account);
  if (!Object.hasOwn(access.keys, keyId) && !(await findRecord(store, account, keyId))) {
    throw new AdminError('not_found', `Account "${account}" has no key "${keyId}"; "key list" shows its keys.`);
  }
  await audited(store, { partition: account, action: 'key revoke', detail: { keyId } }, async () => {
    await retryConflicts(async () => {
      const current: Access = access ?? (await getAccess(store, account));
      access = null; // should a write meet a conflict, the next attempt reads afresh
      await refuse(store, current, keyId);
    });
    await store.client.send(markRevoked(store.table, { account, keyId }, store.nowSeconds()));
  });
  const record = await findRecord(store, account, keyId);
  return viewKeys({ keys: {} }, record ? [record] : [])[0] as KeyView;
}

/**
 * Shard 0 comes last: what it says counts until then, for requests and for whoever looks. Plain writes get through while
 * the account is charged.
 */
async function refuse({ client, table }: AdminStore, access: Access, keyId: string): Promise<void> {
  const others = Array.from({ length: (access.shards ?? 1) - 1 }, (_, i) => refuseKey(table, keyId, access, i + 1));
  await Promise.all(others.map((command) => client.send(command)));
  await client.send(refuseKey(table, keyId, access, 0));
}

/** The keys of an account, oldest first, revoked ones too; never a secret or a hash. Throws `invalid`, `not_found`. */
export async function listKeys(store: AdminStore, account: string): Promise<KeyView[]> {
  checkAccountId(account);
  const access = await getAccess(store, account);
  return viewKeys(access, await keyRecordsOf(store, account));
}

/** The record of every key that the account ever had. Read it after the access item: a key's record is written first. */
export async function keyRecordsOf({ client, table }: AdminStore, account: string): Promise<KeyRecord[]> {
  const records: KeyRecord[] = [];
  const pages = paginateQuery(
    { client },
    {
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: '#account = :account AND begins_with(#item, :key)',
      ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
      ExpressionAttributeValues: { ':account': account, ':key': keyRecord.sortKey('') },
    },
  );
  for await (const { Items = [] } of pages) records.push(...Items.map(readKeyRecord));
  return records;
}

async function findRecord({ client, table }: AdminStore, account: string, keyId: string): Promise<KeyRecord | null> {
  const get = new GetCommand({ TableName: table, Key: recordKey({ account, keyId }), ConsistentRead: true });
  const { Item } = await client.send(get);
  return Item ? readKeyRecord(Item) : null;
}
