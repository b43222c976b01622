import { describe, expect, it, jest } from '@jest/globals';
import {
  containsApiKey,
  expiringKeyBounds,
  expiryOf,
  isApiKey,
  issueApiKey,
  isValidKey,
  keyIdOfToken,
  maxExpiry,
  readApiKey,
  redactKeys,
  secretFingerprint,
  storedKey,
} from '../../../core/accounts/api-key.ts';

const secret = 'the secret of this deployment';

describe('an API key', () => {
  it.each(['demo', 'A', '0', 'a.b-c_d', 'under_score_', 'x'.repeat(32)])(
    'contains its account %s and its id',
    (account) => {
      const { key, claim } = issueApiKey(account, secret);
      expect(key).toMatch(/^bagadres_/);
      expect(readApiKey(key, [secret])).toEqual(claim);
      expect(claim.account).toBe(account);
    },
  );

  it('is never the same twice', () => {
    const keys = Array.from({ length: 500 }, () => issueApiKey('demo', secret).key);
    expect(new Set(keys).size).toBe(500);
  });

  it('comes from a cryptographic source, not from Math.random', () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    try {
      const keys = Array.from({ length: 20 }, () => issueApiKey('demo', secret).key);
      expect(new Set(keys.map((key) => key.slice(-35, -8))).size).toBe(20);
      expect(random).not.toHaveBeenCalled();
    } finally {
      random.mockRestore();
    }
  });

  it('that an earlier version issued still works, with the hash that was stored of it', () => {
    const key = ['bagadres', 'demo', 'AbCdEfGh0123456789ABCDEFGHIJKLMNOPQCMw6X4B8'].join('_');
    const claim = readApiKey(key, [secret]);
    expect(claim).toMatchObject({ account: 'demo', keyId: 'AbCdEfGh' });
    expect(Buffer.from(claim?.hash ?? []).toString('hex')).toBe('43ac2c36dad248785f87eb217c4b36d5');
  });

  it('is refused when any one character differs', () => {
    const { key } = issueApiKey('demo', secret);
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(readApiKey(key.slice(0, at) + other + key.slice(at + 1), [secret])).toBeNull();
    }
  });

  it('is refused by a deployment with another secret', () => {
    expect(readApiKey(issueApiKey('demo', 'another').key, [secret])).toBeNull();
  });

  it.each([
    undefined,
    '',
    ' ',
    'bagadres__',
    'bagadres_demo_',
    'Bearer x',
    'é',
    '\0',
    'x'.repeat(100_000),
  ])('is refused when malformed: %j', (header) => {
    expect(readApiKey(header, [secret])).toBeNull();
  });

  it('is refused with text before or after it, or twice in one header', () => {
    const { key } = issueApiKey('demo', secret);
    for (const header of [
      ` ${key}`,
      `${key} `,
      `${key}\n`,
      `${key},${key}`,
      `${key},`,
      key.toUpperCase(),
    ]) {
      expect(readApiKey(header, [secret])).toBeNull();
    }
  });

  it('leaves no trace of its secret in the claim', () => {
    const { key, claim } = issueApiKey('demo', secret);
    const hash = Buffer.from(claim.hash).toString('latin1');
    expect(JSON.stringify({ ...claim, hash })).not.toContain(
      key.slice(key.lastIndexOf('_') + 9, -8),
    );
    expect(claim.hash).toHaveLength(16);
  });
});

describe('the stored form of a key', () => {
  const { claim } = issueApiKey('demo', secret);
  const other = issueApiKey('demo', secret).claim;
  const noon = Date.UTC(2026, 7, 15, 12) / 1000;

  it.each([
    ['never', null, noon],
    ['in 2106', maxExpiry, noon],
    ['a second later', noon + 1, noon],
    ['within the second', noon + 1, noon + 0.999],
  ])('of one that expires %s is valid for this key alone', (_, expires, now) => {
    const stored = storedKey(claim.hash, expires);
    expect(stored).toHaveLength(expires === null ? 16 : 20);
    expect(expiryOf(stored)).toBe(expires);
    expect(isValidKey(stored, claim, now)).toBe(true);
    expect(isValidKey(stored, other, now)).toBe(false);
  });

  it.each([0, 0.5, 1, 86_400])(
    'is not valid any more %f seconds after the second in which it expires',
    (seconds) => {
      expect(isValidKey(storedKey(claim.hash, noon), claim, noon + seconds)).toBe(false);
    },
  );

  it('is between the bounds for an instant exactly when it is valid at that instant', () => {
    for (const hash of [claim.hash, other.hash]) {
      for (const now of [noon, noon + 0.001, noon + 0.999]) {
        const { low, high } = expiringKeyBounds(claim.hash, now);
        for (const expires of [0, noon - 1, noon, noon + 1, noon + 2, 2 ** 31, maxExpiry]) {
          const stored = storedKey(hash, expires);
          const isBetween = Buffer.compare(low, stored) <= 0 && Buffer.compare(stored, high) <= 0;
          expect({ expires, now, isBetween }).toEqual({
            expires,
            now,
            isBetween: isValidKey(stored, claim, now),
          });
        }
      }
    }
  });
});

describe('the id of a key that an idempotency token creates', () => {
  it('is that of the token and the account, and has the form of every key id', () => {
    const id = keyIdOfToken('demo', 'token');
    expect(id).toMatch(/^[0-9A-Za-z]{8}$/);
    expect(keyIdOfToken('demo', 'token')).toBe(id);
    // As an earlier version made it: a call may be repeated after an upgrade.
    expect(keyIdOfToken('demo', '3b241101-e2bb-4255-8caf-4136c566a962')).toBe('Z6CDCTFm');
    expect(new Set([id, keyIdOfToken('demo', 'token2'), keyIdOfToken('demo2', 'token')]).size).toBe(
      3,
    );
    expect(readApiKey(issueApiKey('demo', secret, id).key, [secret])).toMatchObject({
      account: 'demo',
      keyId: id,
    });
  });
});

describe('the fingerprint of a checksum secret', () => {
  it('distinguishes the secrets of a deployment: 5,000 have none in common', () => {
    const secrets = Array.from({ length: 5_000 }, (_, i) => `secret ${i}`);
    expect(new Set(secrets.map(secretFingerprint)).size).toBe(secrets.length);
    expect(secretFingerprint('secret 1')).toBe(secretFingerprint('secret 1'));
  });
});

describe('the form of a key', () => {
  const accounts = ['demo', 'a.b-c_d', 'x'.repeat(32)];

  it('is recognised as a whole, whichever deployment issued the key', () => {
    for (const account of accounts) {
      const { key } = issueApiKey(account, 'another secret');
      expect(isApiKey(key)).toBe(true);
      for (const other of ['', 'bagadres', ` ${key}`, `${key}\n`, key.slice(0, -1), `${key}x`]) {
        expect(isApiKey(other)).toBe(false);
      }
    }
  });

  it('has a valid account id, even if its checksum is right', () => {
    for (const account of ['x'.repeat(33), '', '.a', '_a', '-a', 'a b', 'é']) {
      const { key } = issueApiKey(account, secret);
      expect([isApiKey(key), readApiKey(key, [secret])]).toEqual([false, null]);
    }
  });

  it('has letters and digits alone after its account', () => {
    const { key } = issueApiKey('demo', secret);
    for (const at of [-43, -36, -35, -9, -8, -1]) {
      for (const other of '.-+/@`{[^ ') {
        expect(isApiKey(key.slice(0, at) + other + (at === -1 ? '' : key.slice(at + 1)))).toBe(
          false,
        );
      }
    }
  });

  it.each(['our key', 'bagadres', 'bagadres_test', 'bagadres_prod_webshop', '🔑'])(
    'is not found in %j',
    (text) => {
      expect(containsApiKey(text)).toBe(false);
    },
  );

  it('has an account no longer than an id: a search has to stop before the end of a long text', () => {
    const of = (account: string) => `x bagadres_${account}_${'0'.repeat(20)}`;
    expect(containsApiKey(of('a'.repeat(32)))).toBe(true);
    expect(containsApiKey(of('_'.repeat(33)))).toBe(false);
  });

  it('is found and redacted anywhere in a text, complete or truncated', () => {
    for (const account of accounts) {
      const { key } = issueApiKey(account, secret);
      for (const pasted of [key, key.toUpperCase(), key.slice(0, -9)]) {
        for (const text of [
          pasted,
          `shop: ${pasted}`,
          `"${pasted}\n" is not a header value`,
          `a=${pasted}&b=${pasted}`,
        ]) {
          expect(containsApiKey(text)).toBe(true);
          const redacted = redactKeys(text);
          expect(redacted).toContain('bagadres_...');
          expect(redacted.toLowerCase()).not.toContain(key.slice(-35, -20).toLowerCase());
        }
      }
    }
    expect(redactKeys('the webshop of bag-adres')).toBe('the webshop of bag-adres');
  });
});
