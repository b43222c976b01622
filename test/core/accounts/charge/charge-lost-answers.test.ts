import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attemptSlots } from '../../../../core/accounts/account-item.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../../core/accounts/charge/charge.ts';
import { createStoreClient, leaveLostCharges, StoreUnavailable } from '../../../../core/dynamodb.ts';
import { localDynamoDb } from '../../../../local/engine/client.ts';
import { type CountingProxy, startCountingProxy } from '../../../support/counting-proxy.ts';
import { sendPlainly } from '../../../support/plain-client.ts';
import { type AdminBench, checksumSecret, startAdmin } from '../admin/admin-bench.ts';

let bench: AdminBench;
let proxy: CountingProxy;
type Store = ReturnType<typeof createAccessStore>;
/** Their answers pass the proxy. The first waits until a connection is lost, the other repeats what is overdue. */
let patient: Store;
let prompt: Store;
const closing: (() => void)[] = [];

beforeAll(async () => {
  bench = await startAdmin();
  proxy = await startCountingProxy(bench.endpoint);
  const client = localDynamoDb(proxy.endpoint);
  sendPlainly(client, proxy.endpoint);
  leaveLostCharges(client);
  closing.push(() => client.destroy());
  patient = createAccessStore(client, bench.table, 15_000);
  prompt = createAccessStore(client, bench.table);
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

/** Charges over the connection that loses answers; the status of the response. */
async function statusOf(key: string, units = 1, store = patient, ms = 20_000): Promise<200 | 401 | 429 | 503> {
  const claim = readApiKey(key, checksumSecret) as KeyClaim;
  try {
    await charge(store, claim, () => bench.clock.now / 1000, AbortSignal.timeout(ms), units);
    return 200;
  } catch (error) {
    if (error instanceof StoreUnavailable) return 503;
    return (error as { reason: { code: string } }).reason.code === 'quota-exceeded' ? 429 : 401;
  }
}

const lookUp = async (key: string, units = 1) => (await statusOf(key, units)) === 200;

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

  it('counts 30 of them at most twice each, whose items list fewer', async () => {
    const { served, counted } = await together('more-at-once', 30);
    expect(served).toBe(30);
    // Listed are the last of the first writes, unless a second one of the others came in before theirs.
    expect(counted).toBeGreaterThanOrEqual(30 + (30 - ring));
    expect(counted).toBeLessThanOrEqual(60);
  });

  it('costs what docs/api.md says, whatever is lost, whoever comes in between and however little is left', async () => {
    const key = await account('any');
    const answer = fc.record({ lost: fc.boolean(), rivals: fc.nat({ max: 2 * ring }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 5 }),
        fc.constantFrom(1, 1, 7),
        fc.boolean(),
        fc.nat({ max: 3 * ring }),
        async (answers, units, rolls, left) => {
          if (rolls) bench.clock.now += 60_000;
          const before = (await used('any')) ?? 0;
          await bench.admin.accounts.set({ id: 'any', limits: { day: before + left } });
          let others = 0;
          let calls = 0;
          proxy.loses = async () => {
            const { lost, rivals } = answers[calls++] ?? { lost: false, rivals: 0 };
            for (let i = 0; i < rivals; i++) if ((await bench.request(key)) === 'charged') others++;
            return lost;
          };
          const status = await statusOf(key, units);
          const counted = (((await used('any')) ?? 0) - before - others) / units;
          const hidden = answers.some(({ lost, rivals }) => lost && rivals >= ring); // what the first write counted
          const costs = { 200: [1], 401: [0], 429: [0], 503: [0, 1] }[status];
          expect(hidden && (status === 200 || status === 503) ? [...costs, 2] : costs).toContain(counted);
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it.each([1, 4])(
    'is a 503 on %i shards if the repeated write finds no quota, as the first may still be done',
    async (shards) => {
      const id = `exhausted-${shards}`;
      const key = await account(id, shards);
      await lookUp(key);
      let calls = 0;
      proxy.holds = async () => {
        if (++calls > 1) return;
        await bench.admin.accounts.set({ id, limits: { day: 1 } });
        throw new Error('the connection is lost before the engine has the call');
      };
      expect(await statusOf(key)).toBe(503);
      expect(await statusOf(key)).toBe(429);
      expect(await used(id)).toBe(1);
      proxy.holds = () => undefined;
    },
  );
});

describe('a charge whose answers do not come', () => {
  /** Sends so many lookups a second, and holds the first answers to each for a second. */
  async function atRate(id: string, perSecond: number, answers: number, shards = 1) {
    const key = await account(id, shards);
    await statusOf(key, 1, prompt); // tells the store of the shards
    const before = (await used(id)) ?? 0;
    const lost = new Map<string, number>();
    proxy.loses = (operation, body) => {
      const attempt = /":attempt":\{"B":"([^"]+)"/.exec(body)?.[1];
      if (operation !== 'UpdateItem' || !attempt) return false;
      const sent = (lost.get(attempt) ?? 0) + 1;
      lost.set(attempt, sent);
      return sent <= answers && pause(1_000, true);
    };
    const statuses = await Promise.all(
      Array.from({ length: 2 * perSecond }, async (_, i) => {
        await pause((i * 1000) / perSecond);
        return await statusOf(key, 1, prompt, 3_600);
      }),
    );
    return { statuses, counted: ((await used(id)) ?? 0) - before };
  }

  it.each([
    [1, 12, 1],
    [1, 40, 1],
    [2, 20, 1],
    [1, 80, 3],
  ])('%i times is served and counted once at %i a second on %i shards', async (answers, perSecond, shards) => {
    // A busy machine may repeat an attempt too late, so the best of three runs counts. Where every attempt is repeated
    // a second later, none of them is exact.
    const excess: number[] = [];
    while (excess.length < 3 && excess.at(-1) !== 0) {
      const id = `rate-${answers}-${perSecond}-${excess.length}`;
      const { statuses, counted } = await atRate(id, perSecond, answers, shards);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
      excess.push(counted - 2 * perSecond);
    }
    expect(excess.at(-1)).toBe(0);
  });

  it('counts once when its first write arrives after the repeated one was forgotten', async () => {
    const key = await account('late');
    await lookUp(key);
    const held = Promise.withResolvers<void>();
    let first = true;
    proxy.holds = async (operation) => {
      if (operation !== 'UpdateItem' || !first) return;
      first = false;
      await held.promise;
    };
    expect(await statusOf(key, 1, prompt)).toBe(200);
    await pause(300);
    for (let i = 0; i < 2 * ring; i++) expect(await bench.request(key)).toBe('charged');
    const before = await used('late');
    held.resolve();
    await pause(200);
    expect(await used('late')).toBe(before);
    proxy.holds = () => undefined;
  });
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
        'the store did not answer a charge',
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
