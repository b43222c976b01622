import { createHmac, hash, randomInt, timingSafeEqual } from 'node:crypto';

/**
 * An API key reads `bagadres_<account>_<key id><secret><checksum>`: the prefix lets secret scanners find a leak, the
 * account says which item to charge, and the checksum, keyed with a secret of the deployment, keeps made-up keys away
 * from the database. The checksum admits nobody: the stored hash does. (Decision 0102.)
 */
export const apiKeyPrefix = 'bagadres';

/** Account ids: 1 to 32 letters, digits, `.`, `_` and `-`, the first a letter or digit; letter case counts. */
export const accountIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;

const keyIdLength = 8;
const secretLength = 27; // 160 bits
const checksumLength = 8; // 47 bits: a made-up key passes once in 2 * 10^14
const hashBytes = 16;

const keyPattern = new RegExp(
  `^${apiKeyPrefix}_([A-Za-z0-9][A-Za-z0-9._-]{0,31})_` +
    `([0-9A-Za-z]{${keyIdLength}})([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

/** A whole key, or the larger part of one, within a text. */
const keyLike = new RegExp(`${apiKeyPrefix}_[A-Za-z0-9._-]+_[0-9A-Za-z]{20,}`, 'i');

/** Whether `text` has the form of an API key, of any deployment. */
export function isApiKey(text: string): boolean {
  return keyPattern.test(text);
}

/** Whether a text that is stored or shown contains what looks like an API key. */
export function containsApiKey(text: string): boolean {
  return keyLike.test(text);
}

/** The text without API keys and parts of keys, for logs, errors and reports: people paste keys where they don't belong. */
export function redactKeys(text: string): string {
  return text.replaceAll(new RegExp(`${apiKeyPrefix}_[\\w.-]*`, 'gi'), `${apiKeyPrefix}_...`);
}

/** What the database may know of a key: which account, which key, and the hash to compare. Never the secret. */
export type KeyClaim = { account: string; keyId: string; hash: Uint8Array };

/** A new key for `account`, and the claim to store. The key is shown once and kept nowhere. */
export function issueApiKey(account: string, checksumSecret: string): { key: string; claim: KeyClaim } {
  const keyId = randomBase62(keyIdLength);
  const body = `${apiKeyPrefix}_${account}_${keyId}${randomBase62(secretLength)}`;
  const key = body + checksum(body, checksumSecret);
  return { key, claim: { account, keyId, hash: hashOf(key) } };
}

/** The claim of a well-formed key that this deployment has issued, else `null`: nothing else reaches the database. */
export function readApiKey(header: string | undefined, checksumSecret: string): KeyClaim | null {
  const match = keyPattern.exec(header ?? '');
  if (!header || !match) return null;
  const body = header.slice(0, -checksumLength);
  if (!sameBytes(Buffer.from(checksum(body, checksumSecret)), Buffer.from(header.slice(-checksumLength)))) return null;
  return { account: match[1] as string, keyId: match[2] as string, hash: hashOf(header) };
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The first 128 bits of SHA-256: the secret is random, so no salt and no slow hash, and the item stays small. */
function hashOf(key: string): Uint8Array {
  return hash('sha256', key, 'buffer').subarray(0, hashBytes);
}

/** Of every request, so it keeps to six bytes: as a number they are exact, and more than the digits hold. */
function checksum(body: string, secret: string): string {
  let number = createHmac('sha256', secret).update(body).digest().readUIntBE(0, 6);
  let text = '';
  for (let i = 0; i < checksumLength; i++) {
    text += alphabet[number % 62];
    number = Math.floor(number / 62);
  }
  return text;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(62)]).join('');
}
