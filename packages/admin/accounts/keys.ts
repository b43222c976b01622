import { randomBytes } from 'node:crypto';
import { type Access, keyCode, quotaOf } from '../../../core/accounts/account.ts';
import { accessItem, accessKey, itemKey, itemsQuery } from '../../../core/accounts/account-item.ts';
import {
  expiryOf,
  hashBytes,
  issueApiKey,
  type KeyClaim,
  keyIdOfToken,
  secretFingerprint,
  storedKey,
} from '../../../core/accounts/api-key.ts';
import {
  type KeyRecord,
  keyRecord,
  readKeyRecord,
  recordKey,
} from '../../../core/accounts/key-record.ts';
import { currentQuota } from '../../../core/accounts/quota.ts';
import { lastUseIn, sumByDate, unrecorded } from '../../../core/accounts/usage-record.ts';
import { dateOf, instant, keyDay } from '../../../core/calendar.ts';
import {
  aliasOf,
  type Guard,
  guardExpression,
  guardedUpdate,
  type Item,
  isStill,
  type Update,
  wasMade,
} from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, type Instant, maxLabelLength, readExpiry } from './admin-error.ts';
import { type AdminStore, exists, getAccess, retryConflicts } from './admin-store.ts';
import { audited } from './audit-log.ts';
import { secretForKey } from './signing-secret.ts';

/**
 * A key to create. `expires` is the second when it stops working; without it the key does not
 * expire. `limitPerDay` is the most lookups that it can make in a UTC day, beside the limits of the
 * account.
 */
export type KeyInput = {
  account: string;
  label: string;
  expires?: Instant | undefined;
  limitPerDay?: number | null | undefined;
  token?: string | undefined;
};

/**
 * Creates a key, which works when this returns. `key` is the only copy: show it once and do not
 * store it. With an idempotency token a repeated call creates no second key, but can't return the
 * first one either: it is stored nowhere.
 * @throws AdminError `invalid`, `not_found`, `too_many_keys`, `already_created`, `conflict`
 */
export async function createKey(
  store: AdminStore,
  input: KeyInput,
): Promise<{ key: string; keyId: string }> {
  const expiresSeconds =
    input.expires === undefined ? null : readExpiry(input.expires, store.nowSeconds());
  return issueKey(store, { ...input, expiresSeconds });
}

/**
 * The key to replace. `ends` is the second when the old key stops working, by default a day from
 * now.
 */
export type RotationInput = {
  account: string;
  keyId: string;
  /** The label of the new key; by default the old one's with another number. */
  label?: string | undefined;
  ends?: Instant | undefined;
  token?: string | undefined;
};

/** The old key after a rotation, besides the new one; `ends` is an ISO 8601 instant. */
export type RotatedKey = { key: string; keyId: string; replaced: { keyId: string; ends: string } };

/**
 * Replaces a key in one step: the new key works when this returns, and the old one until `ends`, or
 * until it would have expired anyway. Both take effect together or neither. It also works when all
 * places for keys are taken, for one key at a time. The new key does not expire.
 * It has the limit of the old one and has used none of it.
 * If a key is replaced by several calls, whatever their tokens, the first succeeds, and the others
 * are refused until the new key is revoked (decision 0191).
 * @throws AdminError `invalid`, `not_found`, `too_many_keys`, `already_created`,
 * `already_replaced`, `conflict`
 */
export async function rotateKey(store: AdminStore, input: RotationInput): Promise<RotatedKey> {
  const { account, keyId, ends = new Date((store.nowSeconds() + 86_400) * 1000), token } = input;
  const endsSeconds = readExpiry(ends, store.nowSeconds());
  const label =
    input.label ?? labelAfter((await findRecord(store, account, keyId))?.label ?? 'key');
  const replaces = { keyId, endsSeconds };
  const made = await issueKey(store, { account, label, expiresSeconds: null, token, replaces });
  const stored = (await getAccess(store, account)).keys[keyId];
  const actual = stored ? (expiryOf(stored) ?? endsSeconds) : endsSeconds;
  return { ...made, replaced: { keyId, ends: instant(actual) } };
}

/** `webshop`, `webshop 2`, `webshop 3`: two keys of one name can't be told apart. */
export function labelAfter(label: string): string {
  const [, name = label, number = '1'] = /^(.*\S) (\d{1,3})$/.exec(label) ?? [];
  const suffix = ` ${Number(number) + 1}`;
  return [...name].slice(0, maxLabelLength - suffix.length).join('') + suffix;
}

/** Gives a key another label, whatever its state. @throws AdminError `invalid`, `not_found` */
export async function renameKey(
  store: AdminStore,
  input: { account: string; keyId: string; label: string },
): Promise<KeyView> {
  const { account, keyId, label } = input;
  const missing = new AdminError('not_found', `Account "${account}" has no key "${keyId}".`, {
    subject: 'key',
  });
  await getAccess(store, account);
  if (!(await findRecord(store, account, keyId))) throw missing;
  const change = guardedUpdate(store.table, recordKey({ account, keyId }), { set: { label } }, [
    isThere,
  ]);
  await audited(
    store,
    { partition: account, action: 'key rename', detail: { keyId } },
    async () => {
      // Its record expired, or the account was deleted.
      if (!(await wasMade(store.update(change)))) throw missing;
    },
  );
  return (
    (await listKeys(store, account)).find((key) => key.keyId === keyId) ?? Promise.reject(missing)
  );
}

/**
 * A key with the most lookups that it can make in a UTC day; `null` takes the limit away. With the
 * limit that was `seen`, a change that came after it is not overwritten, but a `conflict`.
 */
export type KeyLimitInput = {
  account: string;
  keyId: string;
  limitPerDay: number | null;
  seen?: Pick<KeyView, 'limitPerDay'> | undefined;
};

/**
 * Limits a key, whose next request is the first that the limit can refuse. The lookups of today
 * count.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function limitKey(store: AdminStore, input: KeyLimitInput): Promise<KeyView> {
  const { account, keyId, limitPerDay, seen } = input;
  const change = async (): Promise<Update> => {
    const access = await getAccess(store, account);
    if (!Object.hasOwn(access.keys, keyId)) throw noActiveKey(account, keyId);
    const stored = access.keyLimits[keyCode(keyId)] ?? null;
    if (seen && seen.limitPerDay !== stored) {
      const message = `The limit of key "${keyId}" was changed in the meantime. Check it, then repeat the change.`;
      throw new AdminError('conflict', message);
    }
    const { set, remove, guards } = limitChange(access, { [keyCode(keyId)]: limitPerDay });
    const isActive: Guard = { attribute: inKeys(keyId), is: 'there' };
    return guardedUpdate(store.table, accessKey(account), { set, remove }, [isActive, ...guards]);
  };
  await change();
  const detail = { keyId, limits: { day: limitPerDay } };
  await audited(store, { partition: account, action: 'key set', detail }, () =>
    retryConflicts(async () => store.update(await change())),
  );
  const key = (await listKeys(store, account)).find((candidate) => candidate.keyId === keyId);
  return key ?? Promise.reject(noActiveKey(account, keyId));
}

function noActiveKey(account: string, keyId: string): AdminError {
  const message = `Account "${account}" has no active key "${keyId}"; create a key instead.`;
  return new AdminError('not_found', message, { subject: 'key' });
}

/**
 * The change of the limits of keys, by code, in an access item that nobody else changes them in
 * meanwhile. Requests do not.
 */
function limitChange(
  { keyLimits }: Pick<Access, 'keyLimits'>,
  changes: Readonly<Record<string, number | null>>,
): { set: Item; remove: string[]; guards: Guard[] } {
  const limits = Object.entries({ ...keyLimits, ...changes }).filter(([, limit]) => limit !== null);
  const stored = Object.keys(keyLimits).length > 0 ? keyLimits : undefined;
  return {
    set: limits.length > 0 ? { [accessItem.keyLimits]: Object.fromEntries(limits) } : {},
    remove: limits.length > 0 ? [] : [accessItem.keyLimits],
    guards: [isStill(accessItem.keyLimits, stored)],
  };
}

const isThere: Guard = { attribute: accountsTable.partitionKey, is: 'there' };

type Issue = Omit<KeyInput, 'expires'> & { expiresSeconds: number | null; replaces?: Replaced };

async function issueKey(store: AdminStore, issue: Issue): Promise<{ key: string; keyId: string }> {
  const { account, label, expiresSeconds, limitPerDay = null, token, replaces } = issue;
  const tokenKeyId = token === undefined ? undefined : keyIdOfToken(account, token);
  if (tokenKeyId !== undefined && (await findRecord(store, account, tokenKeyId))) {
    throw alreadyCreated(tokenKeyId);
  }
  const access = await requireFreeKey(store, account, { replaced: replaces?.keyId });
  if (replaces) await replacementOf(store, account, replaces.keyId);
  await countCreation(store, account);
  const { secret, settled } = await secretForKey(store);
  const { key, claim } = issueDistinct(access, secret, tokenKeyId);
  const { keyId } = claim;
  const action = replaces ? 'key rotate' : 'key create';
  const detail = {
    keyId,
    ...(replaces && { replaces: replaces.keyId, ends: instant(replaces.endsSeconds) }),
    ...(expiresSeconds !== null && { expires: instant(expiresSeconds) }),
    ...(limitPerDay !== null && { limits: { day: limitPerDay } }),
  };
  await audited(store, { partition: account, action, detail }, async () => {
    // The record is written first: an active key always has one, so it can be found and revoked.
    await createRecord(store, claim, {
      [keyRecord.label]: label,
      [keyRecord.secret]: secretFingerprint(secret),
      [keyRecord.createdBy]: store.actor,
      ...(replaces && { [keyRecord.replaces]: replaces.keyId }),
    });
    const activated = { ...claim, hash: storedKey(claim.hash, expiresSeconds), limitPerDay };
    await undoneIfRefused(store, claim, async () => {
      if (replaces) await claimReplacement(store, claim, replaces.keyId);
      await activate(store, activated, replaces);
    });
  });
  await settled();
  return { key, keyId };
}

/**
 * A key whose counts and limit are its own: no other key of the account, and none that was used
 * today, has its code. A token makes one key only, whose code is in use once in a million tokens.
 */
function issueDistinct(
  { account, keys, keyLimits, keyUnits }: Access,
  secret: string,
  tokenKeyId: string | undefined,
): { key: string; claim: KeyClaim } {
  const taken = [...Object.keys(keys).map(keyCode), ...Object.keys({ ...keyLimits, ...keyUnits })];
  for (;;) {
    const issued = issueApiKey(account, secret, tokenKeyId);
    if (!taken.includes(keyCode(issued.claim.keyId))) return issued;
    if (tokenKeyId !== undefined) {
      throw new AdminError(
        'conflict',
        `This token makes a key that begins like another key of account "${account}". Use another token.`,
      );
    }
  }
}

/**
 * Creates the record once: the second of two calls with the same token throws `already_created`.
 */
async function createRecord(store: AdminStore, claim: KeyClaim, attributes: Item): Promise<void> {
  const attempt = randomBytes(8).toString('hex');
  const record = {
    ...attributes,
    [keyRecord.created]: store.nowSeconds(),
    [keyRecord.attempt]: attempt,
  };
  const isNew = guardExpression([{ attribute: accountsTable.partitionKey, is: 'absent' }]);
  if (await wasMade(store.put({ ...recordKey(claim), ...record }, isNew))) return;
  // Or the response to an earlier attempt was lost, and the SDK has sent the write again.
  const stored = await store.get(recordKey(claim));
  if (stored?.[keyRecord.attempt] !== attempt) throw alreadyCreated(claim.keyId);
}

/**
 * The former replacement of a key, as its record names it, which was revoked or refused; a refusal
 * leaves no record. @throws AdminError `already_replaced` if it is neither
 */
async function replacementOf(
  store: AdminStore,
  account: string,
  keyId: string,
): Promise<string | undefined> {
  const old = await store.get(recordKey({ account, keyId }));
  const replacement: string | undefined = old?.[keyRecord.replacedBy];
  if (replacement === undefined) return undefined;
  const made = await findRecord(store, account, replacement);
  if (!made || made.revoked !== null) return replacement;
  throw new AdminError(
    'already_replaced',
    `Key ${keyId} is already replaced by key ${replacement}. If that one was lost, revoke it, then replace ${keyId} again.`,
    { keyId: replacement },
  );
}

/**
 * Makes a key, whose record exists, the only replacement of another key. If several calls have read
 * the record of the old key, only the first can change it; and its new key has a record by then, so
 * nobody takes that replacement for a refused one.
 * @throws AdminError `already_replaced`
 */
async function claimReplacement(
  store: AdminStore,
  { account, keyId: own }: KeyClaim,
  keyId: string,
): Promise<void> {
  const Key = recordKey({ account, keyId });
  await retryConflicts(async () => {
    // A key without a record, which only a manual change of the table can make, can't be claimed.
    const old = await store.get(Key);
    if (!old || old[keyRecord.replacedBy] === own) return;
    const former = await replacementOf(store, account, keyId);
    const guards = [isThere, isStill(keyRecord.replacedBy, former)];
    await store.update(
      guardedUpdate(store.table, Key, { set: { [keyRecord.replacedBy]: own } }, guards),
    );
  });
}

/** A refusal activated nothing, so it removes the record; any other failure may have. */
async function undoneIfRefused(
  store: AdminStore,
  claim: KeyClaim,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // After any other failure the key may be active, so its record stays and shows it.
    if (error instanceof AdminError) await store.delete(recordKey(claim));
    throw error;
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

/** The most keys that can be created for an account in a UTC day, because their records stay. */
export const maxKeysPerDay = 50;

const creationCount = { sortKey: 'created-keys', date: 'date', count: 'count' } as const;

/** The item that counts an account's new keys on the last day that had any. */
export const creationCountKey = (account: string) => itemKey(account, creationCount.sortKey);

/**
 * Counts a key that is about to be created for an account. @throws AdminError `too_many_keys` with
 * the reason `day`
 */
async function countCreation(store: AdminStore, account: string): Promise<void> {
  const date = dateOf(store.nowSeconds());
  const Key = creationCountKey(account);
  await retryConflicts(async () => {
    const seen = await store.get(Key);
    const isToday = seen?.[creationCount.date] === date;
    if (isToday && seen?.[creationCount.count] >= maxKeysPerDay) {
      throw new AdminError(
        'too_many_keys',
        `Account "${account}" was given ${maxKeysPerDay} keys today, which is the maximum; create more tomorrow (UTC).`,
        { reason: 'day' },
      );
    }
    const set = {
      [creationCount.date]: date,
      [creationCount.count]: isToday ? seen[creationCount.count] + 1 : 1,
    };
    const unchanged = [creationCount.date, creationCount.count].map((name) =>
      isStill(name, seen?.[name]),
    );
    await store.update(guardedUpdate(store.table, Key, { set }, unchanged));
  });
}

/**
 * A key as an operator or a portal sees it. A key whose creation or revocation was interrupted
 * counts as revoked.
 */
export type KeyView = {
  keyId: string;
  label: string | null;
  state: 'active' | 'expired' | 'revoked';
  created: string | null;
  /** When it expires; absent for a key that does not expire or was revoked. */
  expires: string | null;
  revoked: string | null;
  /**
   * The last UTC day with a lookup charged to this key, `2026-11-21`; `null` if there was none.
   */
  lastUsed: string | null;
  /** Who created it, as the audit names them; `null` if that was not recorded. */
  createdBy: string | null;
  /**
   * The key that replaces it, if it is being replaced or was, unless that key was revoked; until
   * `expires` both work.
   */
  replacedBy: string | null;
  /** The most lookups that it can make in a UTC day; `null` without a limit. */
  limitPerDay: number | null;
  /** The lookups that were charged to it today (UTC). */
  usedToday: number;
};

/** A key's record with the other values that are shown. */
export type ShownKey = KeyRecord &
  Pick<KeyView, 'lastUsed' | 'createdBy'> & { replaces: string | null };

function readShownKey(record: Item): ShownKey {
  return {
    ...readKeyRecord(record),
    lastUsed: record[keyRecord.lastUsed] ?? null,
    createdBy: record[keyRecord.createdBy] ?? null,
    replaces: record[keyRecord.replaces] ?? null,
  };
}

/** A key known only by its hash. */
const unrecordedKey = {
  label: null,
  created: null,
  revoked: null,
  lastUsed: null,
  createdBy: null,
  replaces: null,
};

/**
 * The keys of an account at `nowSeconds`, oldest first. The access item, not the records, decides
 * which are active; a key without a record, which only a manual change of the table can make, is
 * shown too, so that it can be revoked.
 */
export function viewKeys(
  access: Pick<Access, 'keys' | 'quota' | 'keyLimits' | 'keyUnits' | 'usage'>,
  records: ShownKey[],
  nowSeconds: number,
): KeyView[] {
  const { keys } = access;
  const counts = unrecorded(access.usage);
  const recorded = new Set(records.map(({ keyId }) => keyId));
  const withoutRecord = Object.keys(keys).filter((keyId) => !recorded.has(keyId));
  const replacedBy = new Map(
    records
      .filter(({ revoked }) => revoked === null)
      .map(({ keyId, replaces }) => [replaces, keyId]),
  );
  return [...records, ...withoutRecord.map((keyId) => ({ ...unrecordedKey, keyId }))]
    .toSorted((a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.keyId < b.keyId ? -1 : 1))
    .map(({ keyId, label, created, revoked, lastUsed, createdBy }) => {
      const stored = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
      const expires = stored ? expiryOf(stored) : null;
      const activeState = expires !== null && expires <= nowSeconds ? 'expired' : 'active';
      const { [keyDay]: day } = currentQuota(quotaOf(access, keyId), nowSeconds);
      return {
        keyId,
        label,
        state: stored ? activeState : 'revoked',
        created: created === null ? null : instant(created),
        expires: expires === null ? null : instant(expires),
        revoked: stored || revoked === null ? null : instant(revoked),
        // The record of a revoked key has it: its code may be another key's by now.
        lastUsed: (revoked === null && lastUseIn(counts, keyId)) || lastUsed,
        createdBy,
        replacedBy: replacedBy.get(keyId) ?? null,
        limitPerDay: (stored && day?.limit) ?? null,
        usedToday: day?.used ?? 0,
      };
    });
}

/**
 * The keys of an account, oldest first, revoked ones too, without hashes. @throws AdminError
 * `invalid`, `not_found`
 */
export async function listKeys(store: AdminStore, account: string): Promise<KeyView[]> {
  const access = await getAccess(store, account);
  return viewKeys(access, await keyRecordsOf(store, account), store.nowSeconds());
}

/**
 * The record of every key that an account had. Read it after the access item: a key's record is
 * written first.
 */
export async function keyRecordsOf(store: AdminStore, account: string): Promise<ShownKey[]> {
  return (await store.query(itemsQuery(store.table, account, keyRecord.sortKey('')))).map(
    readShownKey,
  );
}

export async function findRecord(
  store: AdminStore,
  account: string,
  keyId: string,
): Promise<ShownKey | null> {
  const record = await store.get(recordKey({ account, keyId }));
  return record ? readShownKey(record) : null;
}

/**
 * The most keys of one account: as many as fit in 1 KB of access item with any id, plan and limits.
 */
export const maxActiveKeys = 12;

/** A replaced key, and the second when it stops working. */
export type Replaced = { keyId: string; endsSeconds: number };

/** Activates a key whose record exists; the key that it replaces ends later. */
export async function activate(
  store: AdminStore,
  claim: KeyClaim & { limitPerDay: number | null },
  replaces: Replaced | undefined,
): Promise<void> {
  await retryConflicts(async () => {
    const options = { activated: claim.keyId, replaced: replaces?.keyId };
    const access = await requireFreeKey(store, claim.account, options);
    await store.update(activation(store.table, claim, access, replaces));
  });
}

/** Expired keys are removed only after this long, in case the clock of this process is ahead. */
const removedAfterSeconds = 60;

/** While a key is replaced, both it and the new one have a place. */
const placesFor = (replaced: string | undefined) =>
  maxActiveKeys + (replaced === undefined ? 0 : 1);

/**
 * The access item, if it has a place for a key, freed of expired ones; `activated` may be there
 * already.
 */
export async function requireFreeKey(
  store: AdminStore,
  account: string,
  { activated, replaced }: { activated?: string | undefined; replaced?: string | undefined },
): Promise<Access> {
  const access = await getAccess(store, account);
  const now = store.nowSeconds();
  const expiryIn = (keyId: string) => expiryOf(access.keys[keyId] as Uint8Array) ?? Infinity;
  const isThere = replaced !== undefined && Object.hasOwn(access.keys, replaced);
  if (replaced !== undefined && !(isThere && expiryIn(replaced) > now)) {
    throw noActiveKey(account, replaced);
  }
  const expired = Object.keys(access.keys).filter(
    (keyId) => expiryIn(keyId) <= now - removedAfterSeconds,
  );
  if (expired.length > 0 && Object.keys(access.keys).length >= maxActiveKeys) {
    for (const keyId of expired) await revokeKey(store, { account, keyId });
    return requireFreeKey(store, account, { activated, replaced });
  }
  const others = Object.keys(access.keys).filter((keyId) => keyId !== activated);
  if (others.length < placesFor(replaced)) return access;
  throw new AdminError(
    'too_many_keys',
    `Account "${account}" has ${others.length} active keys, which is the maximum; revoke one first${replaced === undefined ? '' : ', or wait until the replaced key has ended'}.`,
  );
}

/**
 * The update that makes a key work, if the account has a place for it; a key that it replaces ends
 * later, and gives it its limit. Sending it again, after a lost answer, is harmless.
 */
function activation(
  table: string,
  { keyId, hash, limitPerDay }: KeyClaim & { limitPerDay: number | null },
  access: Access,
  replaces: Replaced | undefined,
): Update {
  const set: Item = { [inKeys(keyId)]: hash };
  const guards: Guard[] = [];
  const old = replaces && access.keys[replaces.keyId];
  if (replaces && old) {
    const ends = Math.min(expiryOf(old) ?? Infinity, replaces.endsSeconds);
    set[inKeys(replaces.keyId)] = storedKey(old.subarray(0, hashBytes), ends);
    guards.push({ attribute: inKeys(replaces.keyId), is: 'there' });
  }
  const limit = replaces ? access.keyLimits[keyCode(replaces.keyId)] : limitPerDay;
  const limited = limitChange(access, { [keyCode(keyId)]: limit ?? null });
  if (replaces || limitPerDay !== null) {
    Object.assign(set, limited.set);
    guards.push(...limited.guards);
  }
  const update = guardedUpdate(table, accessKey(access.account), { set }, [exists, ...guards]);
  const hasPlace = `(attribute_exists(${aliasOf(inKeys(keyId))}) OR size(${aliasOf(accessItem.keys)}) < :max)`;
  return {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND ${hasPlace}`,
    ExpressionAttributeValues: {
      ...update.ExpressionAttributeValues,
      ':max': placesFor(replaces?.keyId),
    },
  };
}

const inKeys = (keyId: string) => `${accessItem.keys}.${keyId}`;

/** How long the record of a revoked key is kept; until then its label is shown beside its id. */
const revokedSeconds = 400 * 86_400;

/**
 * Revokes a key for good: requests after this has returned are refused. @throws AdminError
 * `invalid`, `not_found`
 */
export async function revokeKey(
  store: AdminStore,
  key: { account: string; keyId: string },
): Promise<KeyView> {
  const { account, keyId } = key;
  const access = await getAccess(store, account);
  if (!Object.hasOwn(access.keys, keyId) && !(await findRecord(store, account, keyId))) {
    throw new AdminError('not_found', `Account "${account}" has no key "${keyId}".`, {
      subject: 'key',
    });
  }
  await audited(
    store,
    { partition: account, action: 'key revoke', detail: { keyId } },
    async () => {
      // It succeeds while the account is charged: a charge changes neither keys nor their limits.
      const before = await retryConflicts(async () => {
        const current = await getAccess(store, account);
        const limited = limitChange(current, { [keyCode(keyId)]: null });
        const changes = { set: limited.set, remove: [inKeys(keyId), ...limited.remove] };
        const guards = [exists, ...limited.guards];
        await store.update(guardedUpdate(store.table, accessKey(account), changes, guards));
        return current.usage;
      });
      // Nothing is charged to the key any more. Its days may have been recorded between the reads.
      const { usage: after } = await getAccess(store, account);
      const used = lastUseIn(sumByDate([before, after].map(unrecorded)), keyId);
      const now = store.nowSeconds();
      const keep = { [keyRecord.revoked]: now, [accountsTable.expires]: now + revokedSeconds };
      const set = used === undefined ? {} : { [keyRecord.lastUsed]: used };
      await store.update(guardedUpdate(store.table, recordKey(key), { keep, set }));
    },
  );
  const record = await findRecord(store, account, keyId);
  const revoked = { ...access, keys: {} };
  return viewKeys(revoked, record ? [record] : [], store.nowSeconds())[0] as KeyView;
}
