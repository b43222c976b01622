import { createHmac, hash, randomInt, timingSafeEqual } from 'node:crypto';

/**
 * An API key reads `bagadres_<account>_<key id><secret><checksum>`: the prefix lets secret scanners
 * find a leak, the account says which item to charge, and the checksum, keyed with a secret of the
 * deployment, keeps made-up keys away from the database. The checksum authenticates no one: the
 * stored hash does. (Decision 0102.)
 */
const apiKeyPrefix = 'bagadres';

/**
 * Account ids: 1 to 32 letters, digits, `.`, `_` and `-`, the first a letter or digit; letter case
 * counts.
 */
export const accountIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;

const keyIdLength = 8;
const secretLength = 27; // 160 bits
const checksumLength = 8; // 47 bits: a made-up key passes once in 2 * 10^14
export const hashBytes = 16;

const keyPattern = new RegExp(
  `^${apiKeyPrefix}_([A-Za-z0-9][A-Za-z0-9._-]{0,31})_` +
    `([0-9A-Za-z]{${keyIdLength}})([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

/**
 * A whole key, or the larger part of one, within a text. An account is no longer than its id may
 * be, so that a prefix repeated through a long text costs no more than its length.
 */
const keyLike = new RegExp(`${apiKeyPrefix}_[A-Za-z0-9._-]{1,32}_[0-9A-Za-z]{20}`, 'i');

const beginsLikeKey = new RegExp(`^\\s*${apiKeyPrefix}_`, 'i');

/** Whether `text` has the form of an API key, of any deployment. */
export function isApiKey(text: string): boolean {
  return keyPattern.test(text);
}

/** Whether a text that is stored or shown contains what looks like an API key. */
export function containsApiKey(text: string): boolean {
  return keyLike.test(text);
}

/**
 * Whether a parameter holds an API key or a part of one: no parameter has another reason to begin
 * like that.
 */
export function hasKeyPrefix(text: string): boolean {
  return beginsLikeKey.test(text) || containsApiKey(text);
}

/**
 * Removes API keys and their parts from a text for logs and errors, because people paste keys
 * anywhere.
 */
export function redactKeys(text: string): string {
  return text.replaceAll(anyPartOfKey, `${apiKeyPrefix}_...`);
}

const anyPartOfKey = new RegExp(`${apiKeyPrefix}_[\\w.-]*`, 'gi');

/**
 * Which checksum secret a key was issued with, without revealing it: 32 bits of a hash of a random
 * secret. Stored with the key, so that a rotation knows which keys still have to be replaced,
 * whoever issued them.
 */
export function secretFingerprint(checksumSecret: string): string {
  return hash('sha256', `fingerprint ${checksumSecret}`).slice(0, 8);
}

/** The parts of a key that may be stored: its account, its id and its hash. Never the secret. */
export type KeyClaim = { account: string; keyId: string; hash: Uint8Array };

/**
 * A new key for `account`, to be shown once, and the claim to store. Its id is random or follows
 * from a token.
 */
export function issueApiKey(
  account: string,
  checksumSecret: string,
  keyId = randomBase62(keyIdLength),
): { key: string; claim: KeyClaim } {
  const body = `${apiKeyPrefix}_${account}_${keyId}${randomBase62(secretLength)}`;
  const key = body + checksum(body, checksumSecret);
  return { key, claim: { account, keyId, hash: hashOf(key) } };
}

/** The claim of a well-formed key whose checksum one of `checksumSecrets` makes, else `null`. */
export function readApiKey(
  header: string | undefined,
  checksumSecrets: readonly string[],
): KeyClaim | null {
  const match = keyPattern.exec(header ?? '');
  if (!header || !match) return null;
  const body = header.slice(0, -checksumLength);
  const given = Buffer.from(header.slice(-checksumLength));
  for (const secret of checksumSecrets) {
    if (sameBytes(Buffer.from(checksum(body, secret)), given)) {
      return { account: match[1] as string, keyId: match[2] as string, hash: hashOf(header) };
    }
  }
  return null;
}

const keyBeginning = new RegExp(
  `^${apiKeyPrefix}_([A-Za-z0-9][A-Za-z0-9._-]{0,31})_([0-9A-Za-z]{${keyIdLength}})[0-9A-Za-z]*$`,
);

/**
 * The key in a pasted text, or what there is of it, up to its id at least. Its claim is not
 * checked.
 */
export function findApiKey(text: string): { key: string; claim: KeyClaim } | null {
  const [found = ''] = new RegExp(`${apiKeyPrefix}_[\\w.-]*`).exec(text) ?? [];
  // An ellipsis where somebody cut it off, or the end of a sentence.
  const key = found.replace(/[.-]+$/, '');
  const [, account, keyId] = keyBeginning.exec(key) ?? [];
  return account && keyId ? { key, claim: { account, keyId, hash: hashOf(key) } } : null;
}

const expiryBytes = 4;

/**
 * A key in the access item: its hash and, if it expires, the second since 1970 at which it becomes
 * refused, in 4 bytes. Stored in this order, one comparison of bytes in a condition checks both.
 */
export function storedKey(hash: Uint8Array, expires: number | null): Uint8Array {
  if (expires === null) return hash;
  const bytes = Buffer.alloc(expiryBytes);
  bytes.writeUInt32BE(expires);
  return Buffer.concat([hash, bytes]);
}

/** Whether a stored key matches `claim` and has not expired at `nowSeconds`. */
export function isValidKey(stored: Uint8Array, { hash }: KeyClaim, nowSeconds: number): boolean {
  if (!sameBytes(stored.subarray(0, hashBytes), hash)) return false;
  const expires = expiryOf(stored);
  return expires === null || nowSeconds < expires;
}

/** The second at which a stored key expires; `null` if it never does. */
export function expiryOf(stored: Uint8Array): number | null {
  if (stored.length === hashBytes) return null;
  return Buffer.from(stored).readUInt32BE(hashBytes);
}

/**
 * The stored forms of a key that expires after `nowSeconds`, as bounds: the lowest and the highest.
 */
export function expiringKeyBounds(
  hash: Uint8Array,
  nowSeconds: number,
): { low: Uint8Array; high: Uint8Array } {
  return { low: storedKey(hash, Math.floor(nowSeconds) + 1), high: storedKey(hash, maxExpiry) };
}

/** The latest second that fits the stored form: in 2106. */
export const maxExpiry = 2 ** 32 - 1;

/** Compares two hashes in a time that does not depend on where they differ. */
function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The first 128 bits of SHA-256: the secret is random, so no salt and no slow hash, and the item
 * stays small.
 */
function hashOf(key: string): Uint8Array {
  return hash('sha256', key, 'buffer').subarray(0, hashBytes);
}

/**
 * Computed for every request, so it uses only six bytes: exact as a number, and more than the
 * digits can hold.
 */
function checksum(body: string, secret: string): string {
  return base62(
    createHmac('sha256', secret).update(body).digest().readUIntBE(0, 6),
    checksumLength,
  );
}

function base62(number: number, length: number): string {
  let rest = number;
  let text = '';
  for (let i = 0; i < length; i++) {
    text += alphabet[rest % 62];
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** The id of the key that a call with this idempotency token creates. It is no secret. */
export function keyIdOfToken(account: string, token: string): string {
  return base62(hash('sha256', `${account} ${token}`, 'buffer').readUIntBE(0, 6), keyIdLength);
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(62)]).join('');
}
