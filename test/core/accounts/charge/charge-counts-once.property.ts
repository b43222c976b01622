import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Caller, keyCode, Refusal } from '../../../../core/accounts/account.ts';
import { accessItem, windowItem } from '../../../../core/accounts/account-item.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import {
  type AccessStore,
  ChargeUnknown,
  charge,
} from '../../../../core/accounts/charge/charge.ts';
import {
  dateOf,
  daySeconds,
  keyDay,
  type QuotaName,
  quotaNames,
  windowOf,
  windowStart,
} from '../../../../core/calendar.ts';
import { StoreUnavailable } from '../../../../core/dynamodb.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import {
  type Lookup,
  losses,
  refusals,
  startUnreliableAdmin,
  type Write,
} from './unreliable-store.ts';

const bench = startForTests(startUnreliableAdmin);

const plans = {
  all: { minute: 3, day: 5, month: 8 },
  day: { day: 4 },
  minute: { minute: 2 },
  unlimited: { hour: 4, month: null },
} as const;
type Code = keyof typeof plans;
const codes = Object.keys(plans) as Code[];

const calls = ['suspend', 'activate', 'revoke'] as const;

/** What happens next. `at` picks one of those that it can happen to. */
type Step =
  | { kind: 'begin'; units: number; ahead: number; key: number }
  | { kind: 'arrive' | 'answer' | 'time up'; at: number }
  | { kind: 'lose'; at: number; how: (typeof losses)[number] }
  | { kind: 'refuse'; at: number; how: (typeof refusals)[number] }
  | { kind: 'wait'; seconds: number }
  | { kind: 'plan'; code: Code }
  | { kind: 'limit'; limit: number | null | 'plan' }
  | { kind: 'key limit'; key: number; limit: number | null }
  | { kind: 'rotate'; key: number }
  | { kind: 'administer'; call: (typeof calls)[number] };

const kind = <K extends Step['kind']>(name: K) => fc.constant(name);
const at = fc.nat({ max: 6 });
/** One of the two keys, or of those that replace them. */
const aKey = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kind('begin'),
      units: fc.constantFrom(1, 1, 1, 2, 3, 5),
      /** How far the clock of its instance is ahead, in seconds. */
      ahead: fc.constantFrom(0, 0, 0, 0, -90, 2 * daySeconds),
      key: aKey,
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: kind('arrive'), at }) },
  { weight: 6, arbitrary: fc.record({ kind: kind('answer'), at }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('lose'), at, how: fc.constantFrom(...losses) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: kind('refuse'), at, how: fc.constantFrom(...refusals) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('time up'), at }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind('wait'),
      seconds: fc.constantFrom(20, 50, 3600, daySeconds, 3 * daySeconds, 35 * daySeconds),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('plan'), code: fc.constantFrom(...codes) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('limit'),
      limit: fc.constantFrom<number | null | 'plan'>(0, 1, 9, null, 'plan'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kind('key limit'),
      key: aKey,
      limit: fc.constantFrom<number | null>(0, 1, 3, 4, null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('rotate'), key: aKey }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('administer'), call: fc.constantFrom(...calls) }),
  },
);

type Count = { start: number; used: number };
type Item = Record<string, unknown>;

const ofKey = (item: Item, map: string, keyId: string): number | undefined =>
  (item[map] as Record<string, number> | undefined)?.[keyCode(keyId)];

function countIn(item: Item, name: QuotaName, keyId: string): Count {
  const { start, used } = windowItem[windowOf[name]];
  const count = name === keyDay ? ofKey(item, accessItem.byKey, keyId) : item[used];
  return { start: Number(item[start] ?? 0), used: Number(count ?? 0) };
}

function limitIn(item: Item, name: QuotaName, keyId: string): number {
  const limit =
    name === keyDay ? ofKey(item, accessItem.keyLimits, keyId) : item[windowItem[name].limit];
  return Number(limit ?? Infinity);
}

type Ended = {
  status: 200 | 401 | 403 | 429 | 503;
  caller?: Caller;
  violated?: QuotaName[];
  isUnknown?: boolean;
};

async function ended(charged: Promise<Caller>): Promise<Ended> {
  try {
    return { status: 200, caller: await charged };
  } catch (error) {
    if (error instanceof StoreUnavailable) {
      return { status: 503, isUnknown: error instanceof ChargeUnknown };
    }
    if (!(error instanceof Refusal)) throw error;
    const { reason } = error;
    if (reason.code === 'quota-exceeded') return { status: 429, violated: reason.violated };
    return { status: reason.code === 'unauthorized' ? 401 : 403 };
  }
}

/** A lookup that has begun at a time in seconds, by a clock that is so much ahead. */
type Begun = {
  lookup: Lookup;
  keyId: string;
  from: number;
  ahead: number;
  time: AbortController;
  result: Promise<Ended>;
};

/**
 * In `npm test` a sample, which notices most changes; enough for each of them when the tests are
 * tested. The most takes twenty minutes of CPU.
 */
const histories = { hours: 20_000, full: 3_000, mutants: 240 };
const numRuns = histories[process.env.SWEEP as keyof typeof histories] ?? 10;

const firstDay = '2026-08-01';

describe('any history of a store that delays, loses, reorders and refuses writes', () => {
  it('counts each lookup once at most, exactly once if it was served, and never above a limit', async () => {
    const { admin, clock, store, item, saved, table } = bench;
    const id = 'any';
    for (const code of codes) await admin.plans.put({ code, limits: plans[code] });
    await admin.accounts.create({ id, plan: 'all' });
    const keys = [
      await admin.keys.create({ account: id, label: 'a' }),
      await admin.keys.create({ account: id, label: 'b' }),
    ];
    const claimOf = ({ key }: { key: string }) => readApiKey(key, [testChecksumSecret]) as KeyClaim;
    const claims: KeyClaim[] = [];
    const picked = (key: number) => claims[key % claims.length] as KeyClaim;
    const restore = await saved(id);
    const start = clock.now;
    const now = () => Math.floor(clock.now / 1000);
    const statuses = new Map<number, number>();
    const refusedBy = new Set<QuotaName>();

    /** Begins a lookup, moves a write or an answer, or lets time pass. */
    async function happen(
      made: Step,
      begun: Begun[],
      access: AccessStore,
      arrive: (write: Write) => Promise<void>,
    ) {
      const pick = <T>(list: T[]): T | undefined =>
        'at' in made ? list[made.at % Math.max(1, list.length)] : undefined;
      switch (made.kind) {
        case 'begin': {
          const { units, ahead, key } = made;
          const time = new AbortController();
          const clockOf = () => clock.now / 1000 + ahead;
          const claim = picked(key);
          const { lookup, result } = store.begin(units, () =>
            charge(access, claim, clockOf, time.signal, units),
          );
          const { keyId } = claim;
          return void begun.push({
            lookup,
            keyId,
            from: now(),
            ahead,
            time,
            result: ended(result),
          });
        }
        case 'arrive': {
          const write = pick(store.onTheWay());
          return write && (await arrive(write));
        }
        case 'answer': {
          const write = pick(store.waiting());
          if (write && !write.outcome) await arrive(write);
          return write?.answer();
        }
        case 'lose':
          return pick(store.waiting())?.lose(made.how);
        case 'refuse':
          return await pick(store.waiting().filter(({ outcome }) => !outcome))?.refuse(made.how);
        case 'time up':
          return pick(begun.filter(({ lookup }) => !lookup.ended))?.time.abort();
        case 'wait':
          clock.now += made.seconds * 1000;
      }
    }

    async function administer(made: Step): Promise<void> {
      if (made.kind === 'plan') await admin.accounts.set({ id, plan: made.code });
      if (made.kind === 'limit') {
        const { plan } = await admin.accounts.show(id);
        const [window = ''] = Object.keys(plans[plan as Code]);
        await admin.accounts.set({ id, limits: { [window]: made.limit } });
      }
      if (made.kind === 'key limit' || made.kind === 'rotate') return administerKey(made);
      if (made.kind !== 'administer') return;
      if (made.call === 'suspend') await admin.accounts.suspend(id);
      if (made.call === 'activate') await admin.accounts.activate(id);
      if (made.call === 'revoke') {
        await admin.keys.revoke({ account: id, keyId: keys[1]?.keyId ?? '' });
      }
    }

    /** Changes the limit of a key, or replaces it with another one that has its limit. */
    async function administerKey(made: Step & { kind: 'key limit' | 'rotate' }): Promise<void> {
      const key = { account: id, keyId: picked(made.key).keyId };
      const refused = (error: { code?: string }) => {
        expect(['not_found', 'too_many_keys', 'already_replaced']).toContain(error.code);
        return undefined;
      };
      if (made.kind === 'key limit') {
        await admin.keys.set({ ...key, limitPerDay: made.limit }).catch(refused);
        return;
      }
      const replacing = await admin.keys.rotate(key).catch(refused);
      if (!replacing) return;
      claims.push(claimOf(replacing));
      const after = (await item(id)) ?? {};
      const limitOf = (keyId: string) => limitIn(after, keyDay, keyId);
      expect(limitOf(replacing.keyId)).toBe(limitOf(key.keyId));
      expect(countIn(after, keyDay, replacing.keyId).used).toBe(0);
    }

    /** Administration does nothing to the counts of days and months. */
    function expectKept(before: Item, after: Item): void {
      for (const { keyId } of claims) {
        for (const name of ['day', keyDay, 'month'] as const) {
          expect(countIn(after, name, keyId)).toEqual(countIn(before, name, keyId));
        }
      }
    }

    async function run(steps: Step[]): Promise<void> {
      store.forget();
      clock.now = start;
      await restore();
      claims.splice(0, claims.length, ...keys.map(claimOf));
      const access = createAccessStore(store.client, table, 0);
      const begun: Begun[] = [];
      const read = async (): Promise<Item> => (await item(id)) ?? {};
      let before = await read();
      let counted = 0;
      /** Writes that were sent beside one that may have been applied. */
      let besides = 0;
      store.onWrite(({ lookup }) => {
        if (lookup.writes.some(({ refused }) => !refused)) besides++;
      });
      let others = store.others();
      const arrive = async (write: Write): Promise<void> => {
        // A lookup has moved days that ended into records.
        if (others !== store.others()) before = await read();
        others = store.others();
        const { applied, item: after } = await write.arrive();
        if (!applied) return;
        const { lookup } = write;
        const { keyId, from, ahead } = begun.find((one) => one.lookup === lookup) as Begun;
        counted += lookup.units;
        for (const name of quotaNames) {
          const was = countIn(before, name, keyId);
          const is = countIn(after, name, keyId);
          const limit = limitIn(after, name, keyId);
          if (limit === Infinity && (name === 'minute' || name === 'hour')) continue;
          expect(is.used).toBeLessThanOrEqual(limit);
          const isNew = is.start !== was.start;
          if (isNew) {
            expect(is.start).toBeGreaterThan(was.start);
            expect(is.start).toBeGreaterThanOrEqual(windowStart(windowOf[name], from + ahead));
            expect(is.start).toBeLessThanOrEqual(windowStart(windowOf[name], now() + ahead));
          }
          expect(is.used).toBe((isNew ? 0 : was.used) + lookup.units);
        }
        before = after;
      };

      for (const made of steps) {
        await happen(made, begun, access, arrive);
        if (['plan', 'limit', 'key limit', 'rotate', 'administer'].includes(made.kind)) {
          await administer(made);
          const after = await read();
          expectKept(before, after);
          before = after;
        }
        await store.settle();
      }
      for (let rounds = 0; begun.some(({ lookup }) => !lookup.ended); rounds++) {
        expect(rounds).toBeLessThan(100);
        for (const write of store.waiting()) {
          if (!write.outcome) await arrive(write);
          if (!write.told) write.answer();
          await store.settle(); // an answer can make its lookup move days, before the next write arrives
        }
        await store.settle();
      }
      expect(besides).toBe(0);
      for (const { lookup, keyId, from, ahead, result } of begun) {
        const { status, caller, violated = [], isUnknown = false } = await result;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const applied = lookup.writes.flatMap(({ outcome }) =>
          outcome?.applied ? [outcome.item] : [],
        );
        const most = status === 200 || isUnknown ? 1 : 0;
        expect([status, applied.length <= most]).toEqual([status, true]);
        if (status === 200) {
          expect(applied).toHaveLength(1);
          const shown = Object.keys(caller?.quota ?? {}) as QuotaName[];
          expect(shown).toEqual(expect.arrayContaining(['day', keyDay, 'month']));
          for (const name of shown) {
            expect(caller?.quota[name]).toMatchObject(countIn(applied[0] ?? {}, name, keyId));
          }
        }
        const refusing = lookup.writes.at(-1)?.outcome?.item ?? {};
        for (const name of violated) {
          const { start, used } = countIn(refusing, name, keyId);
          const current = start >= windowStart(windowOf[name], from + ahead) ? used : 0;
          expect(current + lookup.units).toBeGreaterThan(limitIn(refusing, name, keyId));
          refusedBy.add(name);
        }
      }
      // Late enough that no lookup was counted after today, by any clock.
      clock.now += 60 * daySeconds * 1000;
      const { days } = await admin.accounts.usage(id, { from: firstDay, to: dateOf(now()) });
      expect(days.reduce((sum, { lookups }) => sum + lookups, 0)).toBe(counted);
    }

    const steps = fc.array(step, { minLength: 5, maxLength: 30 });
    await fc.assert(fc.asyncProperty(steps, run), { numRuns });
    // Fewer histories may miss one.
    if (numRuns < 200) return;
    expect([...statuses.keys()].toSorted()).toEqual([200, 401, 403, 429, 503]);
    expect(refusedBy).toContain(keyDay);
  }, 7_200_000);
});
