import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lookUp } from '../../../lambdas/canary/look-up.ts';
import { issueApiKey } from '../../../lambdas/shared/accounts/api-key.ts';

const { key } = issueApiKey('canary', 'any secret');

describe('the canary', () => {
  let server: Server;
  let answer: { status: number; body: string };
  let keys: unknown[];
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/address`;

  beforeAll(async () => {
    keys = [];
    server = createServer((request, response) => {
      keys.push(request.headers['x-api-key']);
      response.writeHead(answer.status).end(answer.body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    server.close();
  });

  it('is content with an address, asked for with its key', async () => {
    answer = { status: 200, body: '{"status":"ok"}' };
    expect(await lookUp(url(), key)).toEqual({ ok: true });
    expect(keys).toEqual([key]);
  });

  it.each([
    [{ status: 200, body: '{"status":"not_found"}' }, 'the address is not_found'],
    [{ status: 429, body: '{"type":"/problems/quota-exceeded"}' }, 'status 429, /problems/quota-exceeded'],
    [{ status: 401, body: '{"type":"/problems/unauthorized"}' }, 'status 401, /problems/unauthorized'],
    [{ status: 502, body: '<html>' }, 'SyntaxError'],
  ])('says what went wrong on %j, and never the key', async (wrong, reason) => {
    answer = wrong;
    const sighting = await lookUp(url(), key);
    expect(sighting).toEqual({ ok: false, reason: expect.stringContaining(reason) });
    expect(JSON.stringify(sighting)).not.toContain('bagadres_canary');
  });

  it.each(['', 'not a key', `${key}\n`, `${key}\u2603`, key.slice(0, -1)])(
    'sends nothing when its secret is not a key, and does not quote it: %#',
    async (secret) => {
      const before = keys.length;
      const result = await lookUp(url(), secret);
      expect(result).toEqual({ ok: false, reason: expect.stringContaining('does not hold an API key') });
      expect(JSON.stringify(result)).not.toContain(key.slice(-35));
      expect(keys).toHaveLength(before);
    },
  );

  it('says so when nobody answers', async () => {
    expect(await lookUp('http://127.0.0.1:1/', key)).toEqual({
      ok: false,
      reason: expect.stringContaining('fetch failed'),
    });
  });
});
