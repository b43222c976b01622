import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { longestEcho, maxFaults } from '../../../core/address-form.ts';
import { expectContract } from '../../support/contract.ts';
import type { TestRequest } from '../../support/gateway-event.ts';
import { hostileKinds, requestsWith } from '../../support/hostile-requests.ts';
import { stubbedRoute } from '../../support/stubbed-route.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

const lines: string[] = [];
const { key, send } = stubbedRoute({
  write: (line) => lines.push(line),
  namespace: 'BagAdres',
  everyOutcome: true,
});

async function answerTo({ url, request }: { url: string; request: TestRequest }) {
  lines.length = 0;
  const headers: Record<string, string> = { 'x-api-key': key, ...request.headers };
  const {
    statusCode: status = 0,
    headers: sent,
    body = '',
  } = await send(url, { ...request, headers });
  expectContract(request.method ?? 'GET', url.split('?', 1)[0] ?? '', {
    status,
    headers: sent,
    body,
  });
  return { status, body };
}

/** Every text that a request has, as the service reads it. */
function textsIn({ url, request }: { url: string; request: TestRequest }): string[] {
  const { body = '' } = request;
  const texts = [...new URLSearchParams(url.split('?').slice(1).join('?'))].flat();
  const left: unknown[] = [JSON.parse(String(body) || '0')];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') texts.push(one);
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, value] of Object.entries(one)) left.push(name, value);
  }
  return texts;
}

/** The first text of a request that an answer repeats with more characters than it may. */
function longEcho(answer: string, texts: readonly string[]): string | undefined {
  const length = longestEcho + 1;
  const parts = new Set<string>();
  const left: unknown[] = [JSON.parse(answer)];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'object' && one !== null) left.push(...Object.values(one));
    if (typeof one !== 'string') continue;
    for (let at = 0; at + length <= one.length; at++) parts.add(one.slice(at, at + length));
  }
  for (const text of texts) {
    for (let at = 0; at + length <= text.length; at++) {
      const part = text.slice(at, at + length);
      if (parts.has(part)) return part;
    }
  }
  return undefined;
}

describe('a hostile request of any kind', () => {
  it.each(sweep(hostileKinds, 80).map((kind) => [kind.name, kind] as const))(
    'is answered as documented, with few faults that repeat little of it: %s',
    async (_, kind) => {
      for (const bytes of [kind.mostBytes, kind.fewBytes]) {
        const hostile = kind.make(bytes);
        const { status, body } = await answerTo(hostile);
        expect([200, 401, 415, 422]).toContain(status);
        const { errors = [] } = JSON.parse(body) as { errors?: unknown[] };
        expect(errors.length).toBeLessThanOrEqual(maxFaults);
        if (status !== 200) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(64 * 1024);
        if (status === 422) expect(longEcho(body, textsIn(hostile))).toBeUndefined();
        expect(lines).toHaveLength(1);
        expect(lines.join('').length).toBeLessThan(1_000);
      }
    },
  );

  it('is never answered with the secret of a key, wherever that is', async () => {
    const { key: other } = issueApiKey('webshop', 'another secret');
    const secret = other.slice(other.lastIndexOf('_') + 1);
    const padding = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom('', ' ', 'x'.repeat(20), 'y'.repeat(39), 'z'.repeat(300), 'bagadres_', '[]'),
    );
    const positions = requestsWith('').length;
    await fc.assert(
      fc.asyncProperty(fc.nat(positions - 1), padding, padding, async (at, before, after) => {
        const hostile = requestsWith(before.toWellFormed() + other + after.toWellFormed())[at];
        if (!hostile) throw new Error('each position has a request');
        const { body } = await answerTo(hostile);
        expect(body).not.toContain(secret.slice(0, 9));
        expect(lines.join('')).not.toContain(secret.slice(0, 9));
      }),
      { numRuns: isFullSweep ? 2000 : 150 },
    );
  });
});
