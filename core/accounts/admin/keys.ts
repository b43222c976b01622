import { randomBytes } from 'node:crypto';
import { dateOf, instant } from '../../calendar.ts';
import { type Guard, guardedUpdate, type Item, isConflict, type Update } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import { expiryOf, issueApiKey, type KeyClaim, keyIdOfToken, secretFingerprint, storedKey } from '../api-key.ts';
import { keyRecord, recordKey } from '../key-record.ts';
import { activate, type Replaced, requireFreeKey } from './active-keys.ts';
import {
  AdminError,
  checkAccountId,
  checkKeyId,
  checkLabel,
  checkToken,
  type Instant,
  maxLabelLength,
  readExpiry,
} from './admin-error.ts';
import { type AdminStore, getAccess, retryConflicts } from './admin-store.ts';
import { audited } from './audit.ts';
import { findRecord, type KeyView, listKeys } from './key-views.ts';

/** A key to create. `expires` is the second from which it is refused; without it the key does not expire. */
export type KeyInput = {
  account: string;
  label: string;
  expires?: Instant | undefined;
  token?: string | undefined;
};

/**
 * Creates a key, which works when this returns. `key` is the only copy: show it once and do not store it. With an
 * idempotency token a repeated call creates no second key, but can't return the first one either: it is stored nowhere.
 * @throws AdminError `invalid`, `not_found`, `too_many_keys`, `already_created`, `conflict`
 */
export async function createKey(
  store: AdminStore,
  checksumSecret: string,
  { account, label, expires, token }: KeyInput,
): Promise<{ key: string; keyId: string }> {
  checkAccountId(account);
  checkLabel(label);
  const expiresSeconds = expires === undefined ? null : readExpiry(expires, store.nowSeconds());
  return issueKey(store, checksumSecret, { account, label, expiresSeconds, token });
}

/** What to replace: `ends` is the second from which the old key is refused, a day from now unless given. */
export type RotationInput = {
  account: string;
  keyId: string;
  /** Of the new key; the old one's with another number unless given. */
  label?: string | undefined;
  ends?: Instant | undefined;
  token?: string | undefined;
};

/** The old key after a rotation, besides the new one; `ends` is an ISO 8601 instant. */
export type RotatedKey = { key: string; keyId: string; replaced: { keyId: string; ends: string } };

/**
 * Replaces a key in one step: the new key works when this returns, and the old one until `ends`, or until it would have
 * expired anyway. Both take effect together or neither. It also works when all places for keys are taken, for one key
 * at a time. The new key does not expire.
 * @throws AdminError `invalid`, `not_found`, `too_many_keys`, `already_created`, `conflict`
 */
export async function rotateKey(
  store: AdminStore,
  checksumSecret: string,
  { account, keyId, label, ends = new Date((store.nowSeconds() + 86_400) * 1000), token }: RotationInput,
): Promise<RotatedKey> {
  checkAccountId(account);
  checkKeyId(keyId);
  if (label !== undefined) checkLabel(label);
  const endsSeconds = readExpiry(ends, store.nowSeconds());
  const old = await findRecord(store, account, keyId);
  const nextLabel = label ?? labelAfter(old?.label ?? 'key');
  const replaces = { keyId, endsSeconds };
  const made = await issueKey(store, checksumSecret, {
    account,
    label: nextLabel,
    expiresSeconds: null,
    token,
    replaces,
  });
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

/**
 * Gives a key another label, whatever its state; requests with it are not touched.
 * @throws AdminError `invalid`, `not_found`
 */
export async function renameKey(
  store: AdminStore,
  { account, keyId, label }: { account: string; keyId: string; label: string },
): Promise<KeyView> {
  checkAccountId(account);
  checkKeyId(keyId);
  checkLabel(label);
  const missing = new AdminError('not_found', `Account "${account}" has no key "${keyId}".`, { subject: 'key' });
  await getAccess(store, account);
  if (!(await findRecord(store, account, keyId))) throw missing;
  await audited(store, { partition: account, action: 'key rename', detail: { keyId } }, () =>
    store.update(labelled(store.table, { account, keyId }, label)).catch((error: unknown) => {
      // Its record expired, or the account was deleted.
      throw isConflict(error) ? missing : error;
    }),
  );
  const found = (await listKeys(store, account)).find((key) => key.keyId === keyId);
  if (!found) throw missing;
  return found;
}

function labelled(table: string, key: { account: string; keyId: string }, label: string): Update {
  return {
    TableName: table,
    Key: recordKey(key),
    UpdateExpression: 'SET #label = :label',
    ConditionExpression: 'attribute_exists(#account)',
    ExpressionAttributeNames: { '#label': keyRecord.label, '#account': accountsTable.partitionKey },
    ExpressionAttributeValues: { ':label': label },
  };
}

type Issue = {
  account: string;
  label: string;
  expiresSeconds: number | null;
  token: string | undefined;
  replaces?: Replaced;
};

async function issueKey(
  store: AdminStore,
  checksumSecret: string,
  { account, label, expiresSeconds, token, replaces }: Issue,
): Promise<{ key: string; keyId: string }> {
  if (token !== undefined) checkToken(token);
  const tokenKeyId = token === undefined ? undefined : keyIdOfToken(account, token);
  if (tokenKeyId !== undefined && (await findRecord(store, account, tokenKeyId))) throw alreadyCreated(tokenKeyId);
  await requireFreeKey(store, account, { replaced: replaces?.keyId });
  await countCreation(store, account);
  const { key, claim } = issueApiKey(account, checksumSecret, tokenKeyId);
  const { keyId } = claim;
  const expiry = { ...(expiresSeconds !== null && { expires: instant(expiresSeconds) }) };
  const change = replaces
    ? {
        action: 'key rotate' as const,
        detail: { keyId, replaces: replaces.keyId, ends: instant(replaces.endsSeconds) },
      }
    : { action: 'key create' as const, detail: { keyId, ...expiry } };
  await audited(store, { partition: account, ...change }, async () => {
    // The record is written first: an active key always has one, so it can be found and revoked.
    await createRecord(store, claim, {
      [keyRecord.label]: label,
      [keyRecord.secret]: secretFingerprint(checksumSecret),
      [keyRecord.createdBy]: store.actor,
      ...(replaces && { [keyRecord.replaces]: replaces.keyId }),
    });
    await activate(store, { ...claim, hash: storedKey(claim.hash, expiresSeconds) }, replaces);
  });
  return { key, keyId };
}

/** Of two calls with the same token, one creates the record; the other throws `already_created`. */
async function createRecord(store: AdminStore, claim: KeyClaim, attributes: Item): Promise<void> {
  const attempt = randomBytes(8).toString('hex');
  const record = { ...attributes, [keyRecord.created]: store.nowSeconds(), [keyRecord.attempt]: attempt };
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

/** The most keys that are created for an account in a UTC day: what was created stays on record. */
export const maxKeysPerDay = 50;

const creationCount = { sortKey: 'created-keys', date: 'date', count: 'count' } as const;

/** The item with the number of keys that were created for an account on the last day on which there were any. */
export function creationCountKey(account: string): Record<string, string> {
  return { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: creationCount.sortKey };
}

/** Counts a key that is about to be created for an account. @throws AdminError `too_many_keys` with the reason `day` */
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
    const set = { [creationCount.date]: date, [creationCount.count]: isToday ? seen[creationCount.count] + 1 : 1 };
    const unchanged: Guard[] = seen
      ? [creationCount.date, creationCount.count].map((attribute) => ({ attribute, is: '=', value: seen[attribute] }))
      : [{ attribute: creationCount.date, is: 'absent' }];
    await store.update(guardedUpdate(store.table, Key, { set, remove: [] }, unchanged));
  });
}
