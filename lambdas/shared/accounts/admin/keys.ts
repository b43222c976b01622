import { DeleteCommand, GetCommand, PutCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../tables.ts';
import { accessItem, keyRecord } from '../account-item.ts';
import { issueApiKey, type KeyClaim } from '../api-key.ts';
import { type Access, accessKey, getAccess } from './access.ts';
import { audited } from './audit.ts';
import { checkAccountId, checkKeyId, checkLabel } from './limits.ts';
import { AdminError, type AdminStore, instant, retryConflicts, updateAll } from './updates.ts';

type KeyName = Pick<KeyClaim, 'account' | 'keyId'>;

/** The key of a key's record. */
export function recordKey({ account, keyId }: KeyName): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: keyRecord.sortKey(keyId) };
}

/** Notes a key that is about to be admitted; never over an earlier key. */
export function putRecord(table: string, key: KeyName, label: string, nowSeconds: number): PutCommand {
  return new PutCommand({
    TableName: table,
    Item: { ...recordKey(key), [keyRecord.label]: label, [keyRecord.created]: nowSeconds },
    ConditionExpression: 'attribute_not_exists(#account)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey },
  });
}

/** Forgets a key that was not admitted. */
export function deleteRecord(table: string, key: KeyName): DeleteCommand {
  return new DeleteCommand({ TableName: table, Key: recordKey(key) });
}

/**
 * The updates, to be made together, that admit a key from now on if the account has as many shards as `access` says and
 * room for it. A second send, after a lost answer, is harmless.
 */
export function admitKey(table: string, { keyId, hash }: KeyClaim, access: Access, maxKeys: number) {
  const single = admitOn(table, access, 0, keyId, hash);
  const first = {
    ...single,
    ConditionExpression: `${single.ConditionExpression} AND (attribute_exists(#keys.#keyId) OR size(#keys) < :max)`,
    ExpressionAttributeValues: { ...single.ExpressionAttributeValues, ':max': maxKeys },
  };
  const others = Array.from({ length: (access.shards ?? 1) - 1 }, (_, i) => admitOn(table, access, i + 1, keyId, hash));
  return [first, ...others];
}

function admitOn(table: string, access: Access, shard: number, keyId: string, hash: Uint8Array) {
  const { condition, values } = shardsAreStill(access);
  return {
    TableName: table,
    Key: accessKey(access.account, shard),
    UpdateExpression: 'SET #keys.#keyId = :hash',
    ConditionExpression: `attribute_exists(#account) AND ${condition}`,
    ExpressionAttributeNames: { ...shardNames, '#keyId': keyId },
    ExpressionAttributeValues: { ':hash': hash, ...values },
  };
}

/** Refuses a key on one shard from now on, if the account has as many as `access` says. */
export function refuseKey(table: string, keyId: string, access: Access, shard: number): UpdateCommand {
  const { condition, values } = shardsAreStill(access);
  return new UpdateCommand({
    TableName: table,
    Key: accessKey(access.account, shard),
    UpdateExpression: 'REMOVE #keys.#keyId',
    ConditionExpression: `attribute_exists(#account) AND ${condition}`,
    ExpressionAttributeNames: { ...shardNames, '#keyId': keyId },
    ...(access.shards !== null && { ExpressionAttributeValues: values }),
  });
}

const shardNames = { '#account': accountsTable.partitionKey, '#keys': accessItem.keys, '#shards': accessItem.shards };

/** A shard that is made in between takes its keys from shard 0: it would have too many of them, or too few. */
function shardsAreStill({ shards }: Access): { condition: string; values: Record<string, number> } {
  if (shards === null) return { condition: 'attribute_not_exists(#shards)', values: {} };
  return { condition: '#shards = :shards', values: { ':shards': shards } };
}

/** Notes when a key was revoked; the first time counts. */
export function markRevoked(table: string, key: KeyName, nowSeconds: number): UpdateCommand {
  return new UpdateCommand({
    TableName: table,
    Key: recordKey(key),
    UpdateExpression: 'SET #revoked = if_not_exists(#revoked, :now)',
    ExpressionAttributeNames: { '#revoked': keyRecord.revoked },
    ExpressionAttributeValues: { ':now': nowSeconds },
  });
}

/** What is kept of a key beside its hash; instants in seconds. */
export type KeyRecord = { keyId: string; label: string | null; created: number | null; revoked: number | null };

/** A key as an operator or a portal sees it. A key that was never handed out, or half revoked, counts as revoked. */
export type KeyView = {
  keyId: string;
  label: string | null;
  state: 'active' | 'revoked';
  created: string | null;
  revoked: string | null;
};

/** Reads the record of a key. */
export function readKeyRecord(record: Record<string, unknown>): KeyRecord {
  return {
    keyId: String(record[accountsTable.sortKey]).slice(keyRecord.sortKey('').length),
    label: (record[keyRecord.label] as string | undefined) ?? null,
    created: (record[keyRecord.created] as number | undefined) ?? null,
    revoked: (record[keyRecord.revoked] as number | undefined) ?? null,
  };
}

/**
 * The keys of an account, oldest first. Active are those that the access item admits, whatever the records say; one
 * without a record, which only a hand in the table can make, is shown too, so that it can be revoked.
 */
export function viewKeys({ keys }: Pick<Access, 'keys'>, records: KeyRecord[]): KeyView[] {
  const recorded = new Set(records.map(({ keyId }) => keyId));
  const unrecorded = Object.keys(keys).filter((keyId) => !recorded.has(keyId));
  return [...records, ...unrecorded.map((keyId) => ({ keyId, label: null, created: null, revoked: null }))]
    .toSorted((a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.keyId < b.keyId ? -1 : 1))
    .map((record) => viewKey(record, Object.hasOwn(keys, record.keyId)));
}

function viewKey({ keyId, label, created, revoked }: KeyRecord, active: boolean): KeyView {
  return {
    keyId,
    label,
    state: active ? 'active' : 'revoked',
    created: created === null ? null : instant(created),
    revoked: active || revoked === null ? null : instant(revoked),
  };
}

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
