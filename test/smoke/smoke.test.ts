import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checks, runSmoke } from '../../operator/checks/run-smoke.ts';
import type { SmokeOptions } from '../../operator/checks/smoke-check.ts';
import { mostLookups } from '../../operator/checks/smoke-lookups.ts';
import { newAccount } from '../support/address-service.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { inSweep } from '../support/in-sweep.ts';
import { sweep } from '../support/sweep.ts';
import { startSpoilingProxy } from './spoiling-proxy.ts';
import { spoils } from './spoils.ts';

let service: HttpService;
let proxy: Awaited<ReturnType<typeof startSpoilingProxy>>;
let options: SmokeOptions;
let account: string;

beforeAll(async () => {
  service = await startHttpService();
  proxy = await startSpoilingProxy(service.baseUrl);
  const { id, key } = await newAccount(service, { minute: 5000, day: 100_000, month: null });
  account = id;
  options = {
    key,
    address: { postcode: '1012RJ', huisnummer: 147, toevoeging: '' },
    isGuess: false,
    ambiguous: { postcode: '9999ZZ', huisnummer: 1, toevoeging: '' },
    lettered: { postcode: '1381AA', huisnummer: 9, toevoeging: 'a' },
  };
});
afterAll(async () => {
  await proxy.stop();
  await service.stop();
});

describe('the smoke test', () => {
  it('passes the real service, and counts its lookups', async () => {
    proxy.spoil({});
    const before = await used();
    const { results, lookups, requests } = await runSmoke(proxy.url, options);
    expect(results.filter(({ state }) => state !== 'passed')).toEqual([]);
    expect(await used()).toBe(before + lookups);
    expect(lookups).toBeLessThanOrEqual(mostLookups);
    expect(requests).toBeGreaterThan(100);
  });

  inSweep('skips addresses that were not given or that the dataset lacks', async () => {
    proxy.spoil({});
    const guess = { postcode: '1012RJ', huisnummer: 99_998, toevoeging: '' };
    const { results } = await runSmoke(proxy.url, { key: options.key, address: guess, isGuess: true });
    expect(results.flatMap(({ state, reason }) => (state === 'passed' ? [] : [[state, reason]]))).toEqual([
      ['skipped', expect.stringContaining('--address')],
      ['skipped', expect.stringContaining('--ambiguous')],
      ['skipped', expect.stringContaining('--lettered')],
    ]);
  });

  const leftovers: [what: string, limits: Record<string, number>, charged: number, reason: RegExp][] = [
    ['little left', { day: 15 }, 1, /only 14 units left/],
    ['nothing left', { day: 0 }, 0, /no quota left|only 0 units left/],
  ];
  it.each(sweep(leftovers, 1))(
    'skips lookups that would exhaust the quota: an account with %s',
    async (_, limits, charged, reason) => {
      proxy.spoil({});
      const { key } = await newAccount(service, limits);
      const { results, lookups } = await runSmoke(proxy.url, { ...options, key });
      expect(results.filter(({ state }) => state === 'failed')).toEqual([]);
      expect(results.filter(({ state }) => state === 'skipped').map((result) => result.reason)).toEqual(
        Array.from({ length: 8 }, () => expect.stringMatching(reason)),
      );
      expect(lookups).toBe(charged);
    },
  );

  it('passes a deployment whose API Gateway renames WWW-Authenticate', async () => {
    proxy.spoil({
      answer: (returning) => {
        const { 'www-authenticate': challenge, ...rest } = returning.headers;
        if (challenge) returning.headers = { ...rest, 'x-amzn-remapped-www-authenticate': challenge };
      },
    });
    const chosen = checks.filter(({ title }) => /how to authenticate/.test(title));
    const { results } = await runSmoke(proxy.url, options, chosen);
    expect(results.map(({ state }) => state)).toEqual(['passed']);
  });

  it('passes for an account without limits, which has no RateLimit fields', async () => {
    proxy.spoil({});
    const { key } = await newAccount(service, { day: null });
    const chosen = checks.filter(({ section }) => section === 'validation' || section === 'quota');
    const { results } = await runSmoke(proxy.url, { ...options, key }, chosen);
    expect(results.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed']);
  });
});

describe('the smoke test fails a service that', () => {
  it.each(sweep(spoils, 4))('%s', async (_, spoil, guarantee) => {
    proxy.spoil(spoil);
    const chosen = checks.filter(({ title }) => guarantee.test(title));
    expect(chosen).toHaveLength(1);
    // What looks at every answer comes after some were given, and the arithmetic wants the limits.
    const first = checks.filter(
      ({ section, title }) => /validation/.test(section) || /how to authenticate/.test(title),
    );
    const { results } = await runSmoke(proxy.url, options, [...new Set([...first, ...chosen])]);
    const failed = results.filter(({ state }) => state === 'failed');
    expect(failed.map(({ title }) => title)).toContain(chosen[0]?.title);
    for (const { reason } of failed) expect(reason).toBeTruthy();
  });

  it('counts a lookup twice, also when a window ends in the last comparison', async () => {
    let lookups = 0;
    proxy.spoil({
      async answer(returning, passing, again) {
        if (returning.status !== 200 || passing.url.pathname !== '/v1/address') return;
        await again();
        const secondsLeft = 86_400 - (Math.floor(Date.parse(returning.headers.date ?? '') / 1000) % 86_400);
        if (++lookups === 6) returning.headers.ratelimit = `"day";r=99000;t=${secondsLeft}`;
      },
    });
    const chosen = checks.filter(({ section, title }) => /validation/.test(section) || /counts one unit/.test(title));
    const { results } = await runSmoke(proxy.url, options, chosen);
    expect(lookups).toBe(6);
    expect(results.at(-1)).toMatchObject({ state: 'failed', reason: expect.stringContaining('counted 2 units') });
  });
});

describe('a response that never arrives', () => {
  it('fails its check, and the other checks continue', async () => {
    proxy.spoil({
      request: ({ url }) => void (url.pathname === '/v1/' && Object.assign(url, { protocol: 'http:', port: '1' })),
    });
    const { results } = await runSmoke(proxy.url, options);
    const failed = results.filter(({ state }) => state === 'failed');
    expect(failed).toEqual([expect.objectContaining({ reason: expect.stringMatching(/^no answer to GET \/v1\/\?/) })]);
  });
});

describe('npm run smoke', () => {
  it('prints a table of checks and exits with 0', async () => {
    const { exit, out, err } = await smoke('--url', service.baseUrl, '--key', options.key);
    expect([exit, err]).toEqual([0, expect.stringMatching(/with at most \d+ lookups/)]);
    expect(out).toMatch(/passed +authentication +refuses a missing, malformed/);
    expect(out).toMatch(/\d+ passed, 0 failed, 2 skipped; \d+ requests; \d+ counted against the quota\.\n$/);
    expect(out).not.toContain(options.key);
  });

  inSweep('exits with 1 and the reason when a guarantee is broken, also in JSON', async () => {
    proxy.spoil({ answer: ({ headers }) => void Object.assign(headers, { 'access-control-allow-origin': '*' }) });
    const { exit, out } = await smoke('--url', proxy.url, '--key', options.key, '--json');
    expect(exit).toBe(1);
    const { passed, results } = JSON.parse(out);
    expect(passed).toBe(false);
    expect(results.filter(({ state }: { state: string }) => state === 'failed')).toEqual([
      expect.objectContaining({
        title: expect.stringContaining('CORS'),
        reason: expect.stringContaining('access-control'),
      }),
    ]);
  });

  it('reports a key that the API refuses, once', async () => {
    const { exit, out, err } = await smoke('--url', `${service.baseUrl}/`, '--key', `${options.key}x`);
    expect([exit, out, err.split('\n')[1]]).toEqual([1, '', expect.stringMatching(/refuses this key\. Check/)]);
  });

  const mistakes: [what: string, args: string[], code: number, message: RegExp][] = [
    ['nothing answers', ['--url', 'http://127.0.0.1:1', '--key', 'x'], 1, /No answer from http:\/\/127\.0\.0\.1:1: /],
    ['no address', ['--key', 'x'], 2, /--url/],
    ['no web address', ['--url', 'x', '--key', 'x'], 2, /http:\/\//],
    ['no key', ['--url', 'http://127.0.0.1:1'], 2, /BAG_ADRES_KEY/],
    ['no possible key', ['--url', 'http://127.0.0.1:1', '--key', 'a\nb'], 2, /copied in full/],
    ['half an address', ['--url', 'http://127.0.0.1:1', '--address', '1012RJ'], 2, /1012RJ 147/],
  ];
  it.each(sweep(mistakes, 2))('reports that there is %s', async (_, args, code, message) => {
    expect(await smoke(...args)).toEqual({ exit: code, out: '', err: expect.stringMatching(message) });
  });
});

/** The lookups that the service has counted: of all days, since a window may pass during a test. */
async function used(): Promise<number> {
  const { days } = await service.admin.accounts.usage(account);
  return days.reduce((sum, { lookups }) => sum + lookups, 0);
}

function smoke(...args: string[]): Promise<{ exit: number; out: string; err: string }> {
  const program = fileURLToPath(new URL('../../bin/smoke.ts', import.meta.url));
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env }, (failure, out, err) => {
      resolve({ exit: failure ? Number(failure.code) : 0, out, err });
    });
  });
}
