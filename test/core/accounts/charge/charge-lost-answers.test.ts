import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attemptSlots } from '../../../../core/accounts/account-item.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../../core/accounts/charge/charge.ts';
import { createStoreClient, leaveLostCharges } from '../../../../core/dynamodb.ts';
import { localDynamoDb } from '../../../../local/engine/client.ts';
import { type CountingProxy, startCountingProxy } from '../../../support/counting-proxy.ts';
import { sendPlainly } from '../../../support/plain-client.ts';
import { type AdminBench, checksumSecret, startAdmin } from '../admin/admin-bench.ts';

let bench: AdminBench;
let proxy: CountingProxy;
/** A store whose answers pass the proxy, and one whose answers are never lost. */
let store: ReturnType<typeof createAccessStore>;
const closing: (() => void)[] = [];

beforeAll(async () => {
  bench = await startAdmin();
  proxy = await startCountingProxy(bench.endpoint);
  const client = localDynamoDb(proxy.endpoint);
  sendPlainly(client, proxy.endpoint);
  leaveLostCharges(client);
  closing.push(() => client.destroy());
  store = createAccessStore(client, bench.table);
  await bench.admin.plans.put({ code: 'p', limits: { minute: 1_000_000, day: 1_000_000 } });
});
afterAll(async () => {
  for (const close of closing) close();
  await proxy.stop();
  await bench.stop();
});
beforeEach(() => {
  proxy.loses = () => false;
});

async function account(id: string, shards = 1): Promise<string> {
  await bench.admin.accounts.create({ id, plan: 'p' });
  if (shards > 1) await bench.admin.accounts.set({ id, shards });
  return (await bench.admin.keys.create({ account: id, label: 'k' })).key;
}

const used = async (id: string) => (await bench.admin.accounts.show(id)).windows.day?.used;

/** Charges over the connection that loses answers; whether it was served. */
async function lookUp(key: string, units = 1): Promise<boolean> {
  const claim = readApiKey(key, checksumSecret) as KeyClaim;
  try {
    await charge(store, claim, () => bench.clock.now / 1000, AbortSignal.timeout(20_000), units);
    return true;
  } catch {
    return false;
  }
}

/** Loses the first answers to each request, after so many other charges of the account came in between. */
function loseFirst(answers: number, key: string, { rivals = 0, of = '' } = {}): void {
  const lost = new Map<string, number>();
  proxy.loses = async (operation, body) => {
    const id = /":attempt":\{"B":"([^"]+)"/.exec(body)?.[1];
    if (operation !== 'UpdateItem' || !id || !body.includes(of)) return false;
    const before = lost.get(id) ?? 0;
    if (before >= answers) return false;
    lost.set(id, before + 1);
    for (let i = 0; i < rivals; i++) expect(await bench.request(key)).toBe('charged');
    return true;
  };
}

const ring = attemptSlots.length;

describe('a charge whose answers are lost after the write was done', () => {
  it.each([
    [1, 1],
    [2, 1],
    [1, 4],
    [2, 4],
  ])('of %i answers on %i shards is served and counted once', async (answers, shards) => {
    const id = `lost-${answers}-${shards}`;
    const key = await account(id, shards);
    loseFirst(answers, key);
    for (let i = 0; i < 20; i++) expect(await lookUp(key)).toBe(true);
    expect(await used(id)).toBe(20);
  });

  it.each([1, 2])('of a batch counts all of its units once when %i answers are lost', async (answers) => {
    const id = `batch-${answers}`;
    const key = await account(id);
    await lookUp(key, 40);
    loseFirst(answers, key);
    for (let i = 0; i < 3; i++) expect(await lookUp(key, 40)).toBe(true);
    expect(await used(id)).toBe(160);
  });

  it('counts once when the write began another day', async () => {
    const key = await account('rolls');
    await lookUp(key);
    bench.clock.now += 86_400_000;
    loseFirst(2, key, { of: '#dayStart = :dayStart' });
    expect(await lookUp(key)).toBe(true);
    const { days } = await bench.admin.accounts.usage('rolls', { from: '2026-08-01' });
    expect(days.map(({ lookups }) => lookups)).toEqual([1, 1]);
    bench.clock.now -= 86_400_000;
  });

  it.each([
    [1, ring - 1, true, 1],
    [1, ring, true, 2],
    [2, Math.floor((ring - 1) / 2), true, 1],
    [2, ring - 1, false, 1],
    [2, ring, false, 2],
  ])(
    'of %i answers with %i other charges after each is served: %s, and counted %i times',
    async (answers, rivals, served, counted) => {
      const id = `rivals-${answers}-${rivals}`;
      const key = await account(id);
      let others = 0;
      loseFirst(answers, key, { rivals });
      const { loses } = proxy;
      proxy.loses = async (...call) => {
        const lost = await loses(...call);
        if (lost) others += rivals;
        return lost;
      };
      expect(await lookUp(key)).toBe(served);
      expect(await used(id)).toBe(counted + others);
    },
  );

  /** Sends so many requests at once, and loses the first answer to each when all of these are written. */
  async function together(id: string, requests: number): Promise<{ served: number; counted: number }> {
    const key = await account(id);
    let written = 0;
    const all = Promise.withResolvers<void>();
    proxy.loses = async (operation) => {
      if (operation !== 'UpdateItem' || written === requests) return false;
      if (++written === requests) all.resolve();
      await all.promise;
      return true;
    };
    const served = await Promise.all(Array.from({ length: requests }, () => lookUp(key)));
    return { served: served.filter(Boolean).length, counted: (await used(id)) ?? 0 };
  }

  it(`counts ${ring} requests once each that run at the same time and all lose their first answer`, async () => {
    expect(await together('at-once', ring)).toEqual({ served: ring, counted: ring });
  });

  it('counts 20 of them at most twice each, whose items list fewer', async () => {
    const { served, counted } = await together('more-at-once', 20);
    expect(served).toBe(20);
    // Listed are the last of the first writes, unless a second one of the others came in before theirs.
    expect(counted).toBeGreaterThanOrEqual(20 + (20 - ring));
    expect(counted).toBeLessThanOrEqual(40);
  });

  it('counts a request at most twice, whatever is lost and whoever comes in between, and serves none uncounted', async () => {
    const key = await account('any');
    const answer = fc.record({ lost: fc.boolean(), rivals: fc.nat({ max: 2 * ring }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 5 }),
        fc.constantFrom(1, 1, 7),
        fc.boolean(),
        async (answers, units, rolls) => {
          if (rolls) bench.clock.now += 60_000;
          const before = (await used('any')) ?? 0;
          let others = 0;
          let calls = 0;
          proxy.loses = async () => {
            const { lost, rivals } = answers[calls++] ?? { lost: false, rivals: 0 };
            for (let i = 0; i < rivals; i++) await bench.request(key);
            others += rivals;
            return lost;
          };
          const served = await lookUp(key, units);
          const counted = ((await used('any')) ?? 0) - before - others;
          expect([units, 2 * units, ...(served ? [] : [0])]).toContain(counted);
          const hidden = answers.some(({ lost, rivals }) => lost && rivals >= ring); // what the first write counted
          if (!hidden) expect(counted).toBeLessThanOrEqual(units);
        },
      ),
      { numRuns: 20 },
    );
  }, 60_000);
});

describe('the client of the Lambdas', () => {
  it('sends a charge whose answer was lost once, and any other call up to three times', async () => {
    const calls: string[] = [];
    proxy.loses = (operation) => calls.push(operation) > 0;
    const names = { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint, AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local' };
    const environment = { ...names, AWS_SECRET_ACCESS_KEY: 'local' };
    const before = { ...process.env };
    Object.assign(process.env, environment);
    try {
      const client = createStoreClient();
      closing.push(() => client.destroy());
      const lambda = createAccessStore(client, bench.table);
      const claim = readApiKey(await account('client'), checksumSecret) as KeyClaim;
      await expect(charge(lambda, claim, () => bench.clock.now / 1000, AbortSignal.timeout(20_000))).rejects.toThrow(
        'the store did not respond',
      );
      expect(calls).toEqual(['UpdateItem', 'UpdateItem', 'GetItem', 'GetItem', 'GetItem']);
    } finally {
      for (const name of Object.keys(environment)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  });
});
