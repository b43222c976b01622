import { randomBytes } from 'node:crypto';
import { instant } from '../../calendar.ts';
import { type Item, isConflict, type Update } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { Access } from '../account.ts';
import { accessItem, accessKey } from '../account-item.ts';
import { expiryOf, issueApiKey, type KeyClaim, keyIdOfToken, secretFingerprint, storedKey } from '../api-key.ts';
import { type KeyRecord, keyRecord, readKeyRecord, recordKey } from '../key-record.ts';
import { AdminError, checkAccountId, checkExpiry, checkKeyId, checkLabel, checkToken } from './admin-error.ts';
import { type AdminStore, getAccess, retryConflicts } from './admin-store.ts';
import { audited } from './audit.ts';

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
};

/** A key's record with the day of its last use. */
type UsedKey = KeyRecord & { lastUsed: string | null };

function readUsedKey(record: Item): UsedKey {
  return { ...readKeyRecord(record), lastUsed: record[keyRecord.lastUsed] ?? null };
}

/**
 * The keys of an account at `nowSeconds`, oldest first. The access item, not the records, decides which are active; a
 * key without a record, which only a manual change of the table can make, is shown too, so that it can be revoked.
 */
export function viewKeys({ keys }: Pick<Access, 'keys'>, records: UsedKey[], nowSeconds: number): KeyView[] {
  const recorded = new Set(records.map(({ keyId }) => keyId));
  const unrecorded = Object.keys(keys).filter((keyId) => !recorded.has(keyId));
  return [
    ...records,
    ...unrecorded.map((keyId) => ({ keyId, label: null, created: null, revoked: null, lastUsed: null })),
  ]
    .toSorted((a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.keyId < b.keyId ? -1 : 1))
    .map((record) => viewKey(record, Object.hasOwn(keys, record.keyId) ? keys[record.keyId] : undefined, nowSeconds));
}

function viewKey(
  { keyId, label, created, revoked, lastUsed }: UsedKey,
  stored: Uint8Array | undefined,
  nowSeconds: number,
): KeyView {
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
  };
}

/** The most keys of one account: as many as fit in 1 KB of access item with any id, plan and limits. */
export const maxActiveKeys = 12;

/** A key to create. `expires` is the second from which it is refused; without it the key does not expire. */
export type KeyInput = {
  account: string;
  label: string;
  expires?: Date | undefined;
  token?: string | undefined;
};

/**
 * Creates a key, which works when this returns. `key` is the only copy: show it once and do not store it. To rotate:
 * create a new key, deploy it, then revoke the old one; no request is refused in between. With an idempotency token a
 * repeated call creates no second key, but can't return the first one either: it is stored nowhere. Throws `invalid`,
 * `not_found`, `too_many_keys`, `already_created`, `conflict`.
 */
export async function createKey(
  store: AdminStore,
  checksumSecret: string,
  { account, label, expires, token }: KeyInput,
): Promise<{ key: string; keyId: string }> {
  checkAccountId(account);
  checkLabel(label);
  if (expires !== undefined) checkExpiry(expires, store.nowSeconds());
  if (token !== undefined) checkToken(token);
  const expiresSeconds = expires === undefined ? null : expires.getTime() / 1000;
  const tokenKeyId = token === undefined ? undefined : keyIdOfToken(account, token);
  if (tokenKeyId !== undefined && (await findRecord(store, account, tokenKeyId))) throw alreadyCreated(tokenKeyId);
  await requireFreeKey(store, account);
  const { key, claim } = issueApiKey(account, checksumSecret, tokenKeyId);
  const detail = { keyId: claim.keyId, ...(expires && { expires: instant(expires.getTime() / 1000) }) };
  await audited(store, { partition: account, action: 'key create', detail }, async () => {
    // The record is written first: an active key always has one, so it can be found and revoked.
    await createRecord(store, claim, { label, secret: secretFingerprint(checksumSecret) });
    await activate(store, { ...claim, hash: storedKey(claim.hash, expiresSeconds) });
  });
  return { key, keyId: claim.keyId };
}

/** Of two calls with the same token, one creates the record; the other throws `already_created`. */
async function createRecord(
  store: AdminStore,
  claim: KeyClaim,
  { label, secret }: { label: string; secret: string },
): Promise<void> {
  const attempt = randomBytes(8).toString('hex');
  const record = {
    [keyRecord.label]: label,
    [keyRecord.created]: store.nowSeconds(),
    [keyRecord.secret]: secret,
    [keyRecord.attempt]: attempt,
  };
  try {
    await store.put(
      { ...recordKey(claim), ...record },
      {
        ConditionExpression: 'attribute_not_exists(#account)',
        ExpressionAttributeNames: { '#account': accountsTable.partitionKey },
      },
    );
  } catch (error) {
    if (!isConflict(error)) throw error;
    // Or the response to an earlier attempt was lost, and the SDK has sent the write again.
    const stored = await store.get(recordKey(claim));
    if (stored?.[keyRecord.attempt] !== attempt) throw alreadyCreated(claim.keyId);
  }
}

function alreadyCreated(keyId: string): AdminError {
  return new AdminError(
    'already_created',
    `Key ${keyId} was already created with this idempotency token, and can't be shown again. If it was lost, revoke it ` +
      'and create another one with a new token.',
    { keyId },
  );
}

async function activate(store: AdminStore, claim: KeyClaim): Promise<void> {
  try {
    await retryConflicts(async () => {
      const access = await requireFreeKey(store, claim.account, claim.keyId);
      await store.writeAll(activations(store.table, claim, access).map((Update) => ({ Update })));
    });
  } catch (error) {
    // A refusal wrote nothing. After any other failure the key may be active, so its record stays and shows it.
    if (error instanceof AdminError) await store.delete(recordKey(claim));
    throw error;
  }
}

/** Expired keys are removed only after this long, in case the clock of this process is ahead. */
const removedAfterSeconds = 60;

/**
 * Returns the access item if the account can have one more key; `activated` may be active already, by an earlier
 * attempt. Removes expired keys first if the account is full.
 */
async function requireFreeKey(store: AdminStore, account: string, activated?: string): Promise<Access> {
  const access = await getAccess(store, account);
  const latest = store.nowSeconds() - removedAfterSeconds;
  const expired = Object.entries(access.keys).filter(([, stored]) => (expiryOf(stored) ?? Infinity) <= latest);
  if (expired.length > 0 && Object.keys(access.keys).length >= maxActiveKeys) {
    for (const [keyId] of expired) await revokeKey(store, { account, keyId });
    return requireFreeKey(store, account, activated);
  }
  const others = Object.keys(access.keys).filter((keyId) => keyId !== activated);
  if (others.length < maxActiveKeys) return access;
  throw new AdminError(
    'too_many_keys',
    `Account "${account}" has ${maxActiveKeys} active keys, which is the maximum; revoke one first.`,
  );
}

/**
 * The updates, to be made together, that make a key work on every shard, if the account has as many shards as `access`
 * says and fewer keys than the maximum. Sending them again, after a lost answer, is harmless.
 */
function activations(table: string, { keyId, hash }: KeyClaim, access: Access): Update[] {
  const onShard = (shard: number): Update =>
    keyUpdate(table, access, shard, keyId, 'SET #keys.#keyId = :hash', { ':hash': hash });
  const first = onShard(0);
  return [
    {
      ...first,
      ConditionExpression: `${first.ConditionExpression} AND (attribute_exists(#keys.#keyId) OR size(#keys) < :max)`,
      ExpressionAttributeValues: { ...first.ExpressionAttributeValues, ':max': maxActiveKeys },
    },
    ...Array.from({ length: access.shards - 1 }, (_, i) => onShard(i + 1)),
  ];
}

/**
 * Changes the keys of one shard if the account has as many shards as `access` says: a shard that is created at the same
 * time copies the keys of shard 0, and would have one too many or too few.
 */
function keyUpdate(
  table: string,
  { account, sharded, shards }: Access,
  shard: number,
  keyId: string,
  UpdateExpression: string,
  values: Update['ExpressionAttributeValues'] = {},
): Update {
  const shardsAreUnchanged = sharded ? '#shards = :shards' : 'attribute_not_exists(#shards)';
  return {
    TableName: table,
    Key: accessKey(account, shard),
    UpdateExpression,
    ConditionExpression: `attribute_exists(#account) AND ${shardsAreUnchanged}`,
    ExpressionAttributeNames: {
      '#account': accountsTable.partitionKey,
      '#keys': accessItem.keys,
      '#keyId': keyId,
      '#shards': accessItem.shards,
    },
    ExpressionAttributeValues: { ...values, ...(sharded && { ':shards': shards }) },
  };
}

/**
 * Permanently revokes a key: every request that starts after this has returned is refused. It is idempotent, and
 * completes an interrupted call. Throws `invalid`, `not_found`.
 */
export async function revokeKey(
  store: AdminStore,
  { account, keyId }: { account: string; keyId: string },
): Promise<KeyView> {
  checkAccountId(account);
  checkKeyId(keyId);
  let access: Access | null = await getAccess(store, account);
  if (!Object.hasOwn(access.keys, keyId) && !(await findRecord(store, account, keyId))) {
    throw new AdminError('not_found', `Account "${account}" has no key "${keyId}".`, { subject: 'key' });
  }
  await audited(store, { partition: account, action: 'key revoke', detail: { keyId } }, async () => {
    await retryConflicts(async () => {
      const current: Access = access ?? (await getAccess(store, account));
      access = null; // if a write meets a conflict, the next attempt reads afresh
      await deactivate(store, current, keyId);
    });
    await store.update(markRevoked(store.table, { account, keyId }, store.nowSeconds()));
  });
  const record = await findRecord(store, account, keyId);
  return viewKeys({ keys: {} }, record ? [record] : [], store.nowSeconds())[0] as KeyView;
}

/** Shard 0 comes last: its keys are the valid ones until then. Plain writes succeed while the account is charged. */
async function deactivate(store: AdminStore, access: Access, keyId: string): Promise<void> {
  const onShard = (shard: number) => store.update(keyUpdate(store.table, access, shard, keyId, 'REMOVE #keys.#keyId'));
  await Promise.all(Array.from({ length: access.shards - 1 }, (_, i) => onShard(i + 1)));
  await onShard(0);
}

/** Records when a key was first revoked. */
function markRevoked(table: string, key: { account: string; keyId: string }, nowSeconds: number): Update {
  return {
    TableName: table,
    Key: recordKey(key),
    UpdateExpression: 'SET #revoked = if_not_exists(#revoked, :now)',
    ExpressionAttributeNames: { '#revoked': keyRecord.revoked },
    ExpressionAttributeValues: { ':now': nowSeconds },
  };
}

/** The keys of an account, oldest first, revoked ones too; never a secret or a hash. Throws `invalid`, `not_found`. */
export async function listKeys(store: AdminStore, account: string): Promise<KeyView[]> {
  checkAccountId(account);
  const access = await getAccess(store, account);
  return viewKeys(access, await keyRecordsOf(store, account), store.nowSeconds());
}

/** The record of every key that the account ever had. Read it after the access item: a key's record is written first. */
export async function keyRecordsOf(store: AdminStore, account: string): Promise<UsedKey[]> {
  const records = await store.query({
    TableName: store.table,
    KeyConditionExpression: '#account = :account AND begins_with(#item, :key)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':account': account, ':key': keyRecord.sortKey('') },
  });
  return records.map(readUsedKey);
}

async function findRecord(store: AdminStore, account: string, keyId: string): Promise<UsedKey | null> {
  const record = await store.get(recordKey({ account, keyId }));
  return record ? readUsedKey(record) : null;
}
