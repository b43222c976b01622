import { setTimeout as pause } from 'node:timers/promises';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { type AccessStore, charge } from '../../../../core/accounts/charge/charge.ts';
import { leaveLostCharges, StoreUnavailable } from '../../../../core/dynamodb.ts';
import { localDynamoDb } from '../../../../local/engine/client.ts';
import { checksumSecret, startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { startCountingProxy } from '../../../support/counting-proxy.ts';
import { sendPlainly } from '../../../support/plain-client.ts';

/** The status of a lookup that was charged so, and how many times its units were counted. */
export type Outcome = { status: 200 | 401 | 429 | 503; counted: number };

/**
 * How many times a lookup may have been counted, as docs/api.md says: `isBusy` where so many others may have been
 * counted between its writes that its item no longer lists it.
 */
export function documentedCosts(status: Outcome['status'], isBusy: boolean): number[] {
  const costs = { 200: [1], 401: [0], 429: [0], 503: [0, 1] }[status];
  return isBusy && (status === 200 || status === 503) ? [...costs, 2] : costs;
}

/** Lookups at a steady rate of one account, of which the first answers to each are lost. */
export type LossyRate = {
  perSecond: number;
  lost: number;
  shards: number;
  seconds: number;
  /** How many units the account has left; enough by default. */
  left?: number;
};

/** How long a lookup may take, as in the Lambdas. */
const deadline = 3_600;
/** After how long the connection of a lost answer is closed. */
const closedAfter = 1_000;

/**
 * An admin's bench with charges over a proxy that may lose their answers. The store `patient` repeats a write when its
 * connection is lost, `prompt` also when it is overdue.
 */
export async function startLossyCharges() {
  const bench = await startAdmin();
  const proxy = await startCountingProxy(bench.endpoint);
  const clientWith = (maxSockets?: number) => {
    const client = localDynamoDb(proxy.endpoint);
    sendPlainly(client, proxy.endpoint, maxSockets);
    leaveLostCharges(client);
    return client;
  };
  const client = clientWith();
  const clientOfMany = clientWith(Number.POSITIVE_INFINITY);
  const patient = createAccessStore(client, bench.table, 15_000);
  const prompt = createAccessStore(client, bench.table);
  await bench.admin.plans.put({ code: 'p', limits: { minute: 1_000_000, day: 1_000_000 } });

  /** A new account; returns its key. */
  async function account(id: string, shards = 1): Promise<string> {
    await bench.admin.accounts.create({ id, plan: 'p' });
    if (shards > 1) await bench.admin.accounts.set({ id, shards });
    return (await bench.admin.keys.create({ account: id, label: 'k' })).key;
  }

  const used = async (id: string) => (await bench.admin.accounts.show(id)).windows.day?.used ?? 0;

  async function statusOf(
    key: string,
    units = 1,
    store: AccessStore = patient,
    ms = 20_000,
  ): Promise<Outcome['status']> {
    const claim = readApiKey(key, checksumSecret) as KeyClaim;
    try {
      await charge(store, claim, () => bench.clock.now / 1000, AbortSignal.timeout(ms), units);
      return 200;
    } catch (error) {
      if (error instanceof StoreUnavailable) return 503;
      return (error as { reason: { code: string } }).reason.code === 'quota-exceeded' ? 429 : 401;
    }
  }

  /**
   * Charges `id`, a new account, at this rate: all by one process, or each by an instance of its own that has served
   * the account before, as in Lambda. `slowest` is the longest in milliseconds that the engine took to answer or that a
   * lookup began late: how much the machine was disturbed.
   */
  async function atRate(id: string, rate: LossyRate, inLambda = false) {
    const { perSecond, lost, shards, seconds, left } = rate;
    const key = await account(id, shards);
    const stores = Array.from({ length: seconds * perSecond }, () =>
      inLambda ? createAccessStore(clientOfMany, bench.table) : prompt,
    );
    for (const store of new Set(stores)) await statusOf(key, 1, store); // tells it of the shards
    const before = await used(id);
    if (left !== undefined) await bench.admin.accounts.set({ id, limits: { day: before + left } });
    const sent = new Map<string, number>();
    const counted = new Map<string, number>();
    let slowest = 0;
    proxy.loses = (operation, body, { status, milliseconds }) => {
      slowest = Math.max(slowest, milliseconds);
      const attempt = attemptIn(operation, body);
      if (!attempt) return false;
      if (status === 200) add(counted, attempt);
      return add(sent, attempt) <= lost && pause(closedAfter, true);
    };
    const lookUp = async (store: AccessStore) => {
      const attempts = new Set<string>();
      const charge: AccessStore['charge'] = (attempt, signal) => {
        attempts.add(Buffer.from(attempt.id).toString('base64'));
        return store.charge(attempt, signal);
      };
      return { status: await statusOf(key, 1, { ...store, charge }, deadline), attempts: [...attempts] };
    };
    const begun = performance.now();
    const lookups = await Promise.all(
      stores.map(async (store, i) => {
        const at = (i * 1000) / perSecond;
        await pause(at);
        slowest = Math.max(slowest, performance.now() - begun - at);
        return await lookUp(store);
      }),
    );
    proxy.loses = () => false;
    const outcomes = lookups.map(
      ({ status, attempts }): Outcome => ({
        status,
        counted: attempts.reduce((sum, attempt) => sum + (counted.get(attempt) ?? 0), 0),
      }),
    );
    return { outcomes, counted: (await used(id)) - before, slowest };
  }

  return {
    bench,
    proxy,
    patient,
    prompt,
    account,
    used,
    statusOf,
    atRate,
    async stop() {
      client.destroy();
      clientOfMany.destroy();
      await proxy.stop();
      await bench.stop();
    },
  };
}

export type LossyCharges = Awaited<ReturnType<typeof startLossyCharges>>;

/** The id of the request that a call charges, in base64. */
export function attemptIn(operation: string, body: string): string | undefined {
  return operation === 'UpdateItem' ? /":attempt":\{"B":"([^"]+)"/.exec(body)?.[1] : undefined;
}

function add(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}
