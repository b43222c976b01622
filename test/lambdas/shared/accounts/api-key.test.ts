import { describe, expect, it } from '@jest/globals';
import { issueApiKey, readApiKey } from '../../../../lambdas/shared/accounts/api-key.ts';

const secret = 'the secret of this deployment';

describe('an API key', () => {
  it.each(['demo', 'A', '0', 'a.b-c_d', 'under_score_', 'x'.repeat(32)])(
    'names its account %s and its id',
    (account) => {
      const { key, claim } = issueApiKey(account, secret);
      expect(key).toMatch(/^bagadres_/);
      expect(readApiKey(key, secret)).toEqual(claim);
      expect(claim.account).toBe(account);
    },
  );

  it('is never the same twice', () => {
    const keys = Array.from({ length: 500 }, () => issueApiKey('demo', secret).key);
    expect(new Set(keys).size).toBe(500);
  });

  it('is refused when any one character of it is another', () => {
    const { key } = issueApiKey('demo', secret);
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(readApiKey(key.slice(0, at) + other + key.slice(at + 1), secret)).toBeNull();
    }
  });

  it('is refused by a deployment with another secret', () => {
    expect(readApiKey(issueApiKey('demo', 'another').key, secret)).toBeNull();
  });

  it.each([undefined, '', ' ', 'bagadres__', 'bagadres_demo_', 'Bearer x', 'é', '\0', 'x'.repeat(100_000)])(
    'is refused when malformed: %j',
    (header) => {
      expect(readApiKey(header, secret)).toBeNull();
    },
  );

  it('is refused with something before or after it, and twice in one header', () => {
    const { key } = issueApiKey('demo', secret);
    for (const header of [` ${key}`, `${key} `, `${key}\n`, `${key},${key}`, `${key},`, key.toUpperCase()]) {
      expect(readApiKey(header, secret)).toBeNull();
    }
  });

  it('leaves no trace of its secret in the claim', () => {
    const { key, claim } = issueApiKey('demo', secret);
    const hash = Buffer.from(claim.hash).toString('latin1');
    expect(JSON.stringify({ ...claim, hash })).not.toContain(key.slice(key.lastIndexOf('_') + 9, -8));
    expect(claim.hash).toHaveLength(16);
  });
});
