import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Sha256 } from '../../core/dynamodb.ts';

async function digestOf(sha256: Sha256, chunks: Uint8Array[]): Promise<string> {
  for (const chunk of chunks) sha256.update(chunk);
  return Buffer.from(await sha256.digest()).toString('hex');
}

describe('the hash under a signature', () => {
  const chunks = fc.array(fc.uint8Array());

  it('is SHA-256 without a secret, also on the second use', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, async (data) => {
        const expected = createHash('sha256').update(Buffer.concat(data)).digest('hex');
        const sha256 = new Sha256();
        expect(await digestOf(sha256, data)).toBe(expected);
        sha256.reset();
        expect(await digestOf(sha256, data)).toBe(expected);
      }),
    );
  });

  it('is the HMAC for every type of secret, also on the second use', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(chunks, fc.oneof(fc.string(), bytes), async (data, secret) => {
        const expected = createHmac('sha256', secret).update(Buffer.concat(data)).digest('hex');
        const forms =
          typeof secret === 'string'
            ? [secret]
            : [secret, Buffer.from([0, ...secret]).subarray(1), new Uint8Array(secret).buffer];
        for (const form of forms) {
          const sha256 = new Sha256(form);
          expect(await digestOf(sha256, data)).toBe(expected);
          sha256.reset();
          expect(await digestOf(sha256, data)).toBe(expected);
        }
      }),
    );
  });
});
