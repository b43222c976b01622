import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  mostLookups,
  rowsFor,
  runSmoke,
  type SmokeOptions,
} from '../../operator/checks/run-smoke.ts';
import { runWith } from '../operator/command-line.ts';
import { newAccount } from '../support/address-service.ts';
import { startHttpService } from '../support/http-service.ts';
import { inSweep } from '../support/in-sweep.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';
import { startSpoilingProxy } from './spoiling-proxy.ts';
import { spoils } from './spoils.ts';

const service = startForTests(startHttpService);
const proxy = startForTests(() => startSpoilingProxy(service.baseUrl));
let options: SmokeOptions;
let account: string;

beforeAll(async () => {
  // A window of a minute may end within a run.
  const { id, key } = await newAccount(service, { day: 100_000, month: null });
  account = id;
  options = { key, address: { postcode: '1381AA', huisnummer: 9, toevoeging: 'a' } };
});

describe('the smoke test', () => {
  it('passes the real service, and makes as many lookups as it says at most', async () => {
    proxy.spoil({});
    const before = await used();
    const { results, answers } = await runSmoke(proxy.url, options);
    expect(results.filter(({ state }) => state !== 'passed')).toEqual([]);
    expect(await used()).toBe(before + mostLookups);
    expect(answers.length).toBeGreaterThan(80);
  });

  const leftovers: [what: string, limits: Record<string, number>][] = [
    ['little left', { day: 15 }],
    ['nothing left', { day: 0 }],
  ];
  it.each(sweep(leftovers, 1))(
    'makes no lookup that may exhaust the quota: an account with %s',
    async (_, limits) => {
      proxy.spoil({});
      const { key } = await newAccount(service, limits);
      const { results } = await runSmoke(proxy.url, { ...options, key });
      expect(results.filter(({ state }) => state === 'failed')).toEqual([]);
      expect(results.flatMap(({ state, reason }) => (state === 'skipped' ? [reason] : []))).toEqual(
        Array.from({ length: 5 }, () => `the account has only ${limits.day} units left`),
      );
    },
  );

  inSweep('passes a deployment whose API Gateway renames WWW-Authenticate', async () => {
    proxy.spoil({
      answer: (returning) => {
        const { 'www-authenticate': challenge, ...rest } = returning.headers;
        if (challenge) {
          returning.headers = { ...rest, 'x-amzn-remapped-www-authenticate': challenge };
        }
      },
    });
    const { results } = await runSmoke(proxy.url, options, rowsOf(/any other key/));
    expect(results.filter(({ state }) => state !== 'passed')).toEqual([]);
  });

  inSweep('passes for an account without limits, which has no RateLimit fields', async () => {
    proxy.spoil({});
    const { key } = await newAccount(service, { day: null });
    const { results } = await runSmoke(proxy.url, { ...options, key }, rowsOf(/counts one unit/));
    expect(results[0]).toMatchObject({
      title: expect.stringMatching(/counts one unit/),
      state: 'passed',
    });
  });
});

describe('the smoke test fails a service that', () => {
  it.each(sweep(spoils, 2))('%s', async (_, spoil, guarantee) => {
    proxy.spoil(spoil);
    // Those of every response come after some were given.
    const first = /limits of a key|any other key/;
    const rows = rowsOf(new RegExp(`${first.source}|${guarantee.source}`));
    const { results } = await runSmoke(proxy.url, options, rows);
    const found = results.filter(({ title }) => guarantee.test(title));
    expect(found).toEqual([
      { title: expect.anything(), state: 'failed', reason: expect.stringMatching(/./) },
    ]);
  });
});

describe('a response that never arrives', () => {
  it('fails its row, and the others continue', async () => {
    proxy.spoil({
      request: ({ url }) =>
        void (url.pathname === '/v1' && Object.assign(url, { protocol: 'http:', port: '1' })),
    });
    const rows = rowsOf(/limits of a key|any other (?:key|path|method)/);
    const { results } = await runSmoke(proxy.url, options, rows);
    const failed = results.filter(({ state }) => state === 'failed');
    expect(failed).toEqual([
      expect.objectContaining({ reason: expect.stringMatching(/^no answer to GET \/v1:/) }),
    ]);
  });
});

describe('bag-adres smoke', () => {
  it('prints a table and exits with 0', async () => {
    const { exit, out, err } = await smoke('--url', service.baseUrl, '--key', options.key);
    expect([exit, err]).toEqual([0, expect.stringMatching(/with at most \d+ lookups/)]);
    expect(out).toMatch(/passed +refuses any other key/);
    expect(out).toMatch(
      /\d+ passed, 0 failed, 0 skipped; \d+ requests; 11 counted against the quota\.$/,
    );
    expect(out).not.toContain(options.key);
  });

  inSweep('exits with 1 and the reason when a guarantee is broken, also in JSON', async () => {
    proxy.spoil({
      answer: ({ headers }) => void Object.assign(headers, { 'access-control-allow-origin': '*' }),
    });
    const { exit, out, err } = await smoke('--url', proxy.url, '--key', options.key, '--json');
    expect([exit, err]).toEqual([
      1,
      expect.stringContaining('{"error":{"code":"broken","message":"1 of'),
    ]);
    const { passed, results } = JSON.parse(out);
    expect(passed).toBe(false);
    expect(results.filter(({ state }: { state: string }) => state === 'failed')).toEqual([
      expect.objectContaining({
        title: expect.stringContaining('CORS'),
        reason: expect.stringContaining('access-control'),
      }),
    ]);
  });

  it('says that the API refuses the key', async () => {
    const { exit, err } = await smoke('--url', `${service.baseUrl}/`, '--key', `${options.key}x`);
    expect([exit, err]).toEqual([1, expect.stringMatching(/refuses this key\. Check/)]);
  });

  const mistakes: [what: string, args: string[], code: number, message: RegExp][] = [
    [
      'nothing answers',
      ['--url', 'http://127.0.0.1:1', '--key', 'x'],
      1,
      /http:\/\/127\.0\.0\.1:1: no answer to GET/,
    ],
    ['no address', ['--key', 'x'], 2, /--url/],
    ['no web address', ['--url', 'x', '--key', 'x'], 2, /http:\/\//],
    ['no key', ['--url', 'http://127.0.0.1:1'], 2, /BAG_ADRES_KEY/],
    ['no possible key', ['--url', 'http://127.0.0.1:1', '--key', 'a\nb'], 2, /in full/],
    ['half an address', ['--url', 'http://127.0.0.1:1', '--address', '1012RJ'], 2, /1012RJ 147/],
  ];
  it.each(sweep(mistakes, 2))('reports that there is %s', async (_, args, code, message) => {
    expect(await smoke(...args)).toEqual({
      exit: code,
      out: '',
      err: expect.stringMatching(message),
    });
  });
});

function rowsOf(guarantee: RegExp) {
  return rowsFor(options).filter(({ title }) => guarantee.test(title));
}

/** The lookups that the service has counted: of all days, since a window may pass during a test. */
async function used(): Promise<number> {
  const { days } = await service.admin.accounts.usage(account);
  return days.reduce((sum, { lookups }) => sum + lookups, 0);
}

const smoke = (...args: string[]) => runWith(['smoke', ...args]);
