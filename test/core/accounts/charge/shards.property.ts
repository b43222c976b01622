import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Access } from '../../../../core/accounts/account.ts';
import { decideShards, markedExhausted, type ShareMove, sameShares } from '../../../../core/accounts/charge/shards.ts';
import { type QuotaState, reportWindows, type WindowCount } from '../../../../core/accounts/quota.ts';
import { forEachWindow, type WindowName, windowEnd, windowNames, windowStart } from '../../../../core/calendar.ts';
import { accessOf } from '../../../support/access.ts';
import { isFullSweep } from '../../../support/sweep.ts';

const noon = Date.UTC(2026, 7, 15, 12) / 1000;

type Counts = Partial<Record<WindowName, WindowCount>>;

function shardOf(quota: Counts, shard: number, shards: number): Access {
  return accessOf({ quota, shard, shards, sharded: true });
}

const window = (names: number) =>
  fc.record({
    /** By shard: its share, what it has used, and how many windows ago it was last charged (-1: by a fast clock). */
    shares: fc.array(
      fc.record({ share: fc.nat({ max: 9 }), used: fc.nat({ max: 9 }), age: fc.integer({ min: -1, max: 1 }) }),
      {
        minLength: names,
        maxLength: names,
      },
    ),
    finite: fc.boolean(),
  });

function startOf(name: WindowName, age: number): number {
  const current = windowStart(name, noon);
  if (age === 0) return current;
  return age < 0 ? windowEnd(name, current) : windowStart(name, current - 1);
}

/** Shards of one account; `skewed` lets them stand in different windows. */
function account(skewed: boolean): fc.Arbitrary<Access[]> {
  return fc.integer({ min: 1, max: 6 }).chain((count) => {
    const windows = forEachWindow(() => window(count));
    return fc.record(windows, { requiredKeys: [] }).map((made) =>
      Array.from({ length: count }, (_, i) => {
        const quota: Counts = {};
        for (const name of windowNames) {
          const one = made[name];
          const mine = one?.shares[i];
          if (!one || !mine) continue;
          const start = startOf(name, skewed ? mine.age : 0);
          if (!one.finite) quota[name] = { start, used: mine.used, limit: null };
          else {
            const total = one.shares.reduce((sum, { share }) => sum + share, 0);
            quota[name] = { start, used: Math.min(mine.used, mine.share), limit: mine.share, total };
          }
        }
        return shardOf(quota, i, count);
      }),
    );
  });
}

const names = (shards: Access[]) => windowNames.filter((name) => shards[0]?.quota[name]);

/** What the account has left in the window that is current at `at`, written the long way. */
function leftOf(shards: Access[], name: WindowName, at: number): number {
  return shards.reduce((sum, { quota }) => {
    const { start, used, limit } = quota[name] as WindowCount;
    if (limit === null) return Infinity;
    return sum + (start < windowStart(name, at) ? limit : limit - used);
  }, 0);
}

const furthest = (shards: Access[], now: number) =>
  Math.max(now, ...shards.flatMap(({ quota }) => Object.values(quota).map(({ start }) => start)));

/** Charges `shard` by the clock `at`, as the conditional write does; whether it had so many units left. */
function charge(shard: Access, at: number, units: number): boolean {
  const next: QuotaState = {};
  for (const name of windowNames) {
    const seen = shard.quota[name];
    if (!seen) continue;
    const start = Math.max(seen.start, windowStart(name, at));
    const used = start > seen.start ? 0 : seen.used;
    if (seen.limit !== null && used + units > seen.limit) return false;
    next[name] = { ...seen, start, used: used + units };
  }
  shard.quota = next;
  return true;
}

function applyMove({ target, at, donors }: ShareMove): void {
  for (const { shard, takes } of donors) {
    for (const [name, take] of Object.entries(takes) as [WindowName, number][]) {
      const from = shard.quota[name] as WindowCount;
      const to = target.quota[name] as WindowCount;
      const start = windowStart(name, at);
      shard.quota = { ...shard.quota, [name]: { ...from, limit: Number(from.limit) - take } };
      const rolled = to.start < start ? { start, used: 0 } : {};
      target.quota = { ...target.quota, [name]: { ...to, ...rolled, limit: Number(to.limit) + take } };
    }
  }
}

type Request = { first: number; now: number; takes?: (shard: Access) => boolean; pick: number; units?: number };

/** Serves a request that begins at the shard `first`; how many decisions it took, or -1 if too little is left. */
function serve(shards: Access[], { first, now, takes = () => true, pick, units = 1 }: Request): number {
  if (takes(shards[first] as Access) && charge(shards[first] as Access, now, units)) return 0;
  for (let decisions = 1; decisions <= 4; decisions++) {
    const decision = decideShards(shards, takes, { now, tried: first, pick, units });
    if (decision.kind === 'exceeded') return -1;
    if (decision.kind === 'reread') throw new Error('these shards belong together');
    if (decision.kind === 'move') applyMove(decision.move);
    const { target, at } = decision.kind === 'move' ? decision.move : { target: decision.shard, at: decision.at };
    if (charge(target, at, units)) return decisions;
  }
  throw new Error('found no quota, though no other caller took any');
}

const choice = fc.record({ tried: fc.nat({ max: 5 }), pick: fc.double({ min: 0, max: 0.999, noNaN: true }) });

describe('the decision over shards', () => {
  it('returns exceeded if and only if a window has no quota left on any shard, and names those windows', () => {
    fc.assert(
      fc.property(account(true), choice, (shards, { tried, pick }) => {
        const decision = decideShards(shards, () => true, { now: noon, tried, pick });
        const at = furthest(shards, noon);
        const empty = names(shards).filter((name) => leftOf(shards, name, at) === 0);
        expect(decision.kind === 'exceeded' ? decision.violated : []).toEqual(empty);
      }),
    );
  });

  it('admits exactly the remaining quota, whichever shards the requests start at and whichever can be charged', () => {
    fc.assert(
      fc.property(account(false), fc.infiniteStream(choice), fc.nat({ max: 5 }), (shards, choices, closed) => {
        fc.pre(names(shards).some((name) => shards[0]?.quota[name]?.limit !== null));
        const takes = ({ shard }: Access) => shards.length === 1 || shard !== closed;
        const left = Math.min(...names(shards).map((name) => leftOf(shards, name, noon)));
        for (let served = 0; ; served++) {
          const [{ tried, pick }] = [...choices.take(1)] as [{ tried: number; pick: number }];
          const decisions = serve(shards, { first: tried % shards.length, now: noon, takes, pick });
          if (decisions < 0) return expect(served).toBe(left);
          expect(decisions).toBeLessThanOrEqual(2);
          expect(served).toBeLessThan(left);
        }
      }),
    );
  });

  it('keeps every window within the limit with any clocks, and the shares add up to the limit at every step', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.record({ minute: fc.nat({ max: 12 }), hour: fc.nat({ max: 30 }) }),
        fc.array(fc.tuple(choice, fc.integer({ min: -70, max: 70 })), { maxLength: 120 }),
        (count, totals, requests) => {
          const shards = Array.from({ length: count }, (_, i) => {
            const quota: Counts = {};
            for (const name of ['minute', 'hour'] as const) {
              const share = Math.floor(totals[name] / count) + (i < totals[name] % count ? 1 : 0);
              quota[name] = { start: 0, used: 0, limit: share, total: totals[name] };
            }
            return shardOf(quota, i, count);
          });
          const served = new Map<string, number>();
          for (const [{ tried, pick }, skew] of requests) {
            const before = shards.map(({ quota }) => quota);
            if (serve(shards, { first: tried % count, now: noon + skew, pick }) < 0) continue;
            const charged = shards.find(
              ({ quota }, i) =>
                JSON.stringify(quota) !== JSON.stringify(before[i]) && used(quota) > 0 && grew(before[i], quota),
            ) as Access;
            for (const name of ['minute', 'hour'] as const) {
              const window = `${name} ${charged.quota[name]?.start}`;
              served.set(window, (served.get(window) ?? 0) + 1);
              expect(served.get(window)).toBeLessThanOrEqual(totals[name]);
              expect(shards.reduce((sum, { quota }) => sum + Number(quota[name]?.limit), 0)).toBe(totals[name]);
              for (const { quota } of shards) expect(Number(quota[name]?.limit)).toBeGreaterThanOrEqual(0);
            }
          }
        },
      ),
      { numRuns: isFullSweep ? 300 : 40 },
    );
  });

  it('moves shares only forward, never into an earlier window', () => {
    fc.assert(
      fc.property(account(true), choice, (shards, { tried, pick }) => {
        const decision = decideShards(shards, () => true, { now: noon, tried, pick });
        fc.pre(decision.kind === 'move');
        if (decision.kind !== 'move') return;
        for (const { shard, takes } of decision.move.donors) {
          for (const [name, take] of Object.entries(takes) as [WindowName, number][]) {
            const { start, used, limit } = shard.quota[name] as WindowCount;
            const current = windowStart(name, decision.move.at);
            expect(current).toBeGreaterThanOrEqual(start);
            expect(take).toBeLessThanOrEqual(Number(limit) - (start === current ? used : 0));
            expect(shard).not.toBe(decision.move.target);
          }
        }
      }),
      // One draw in a hundred moves shares.
      { maxSkipsPerRun: 1_000 },
    );
  });

  it('reads again when shards are from before and from after an operator changed a limit', () => {
    const now = { now: noon, tried: 0, pick: 0 };
    const minute = { start: noon, used: 0, limit: 0 };
    const torn = [
      shardOf({ minute: { ...minute, total: 5 } }, 0, 2),
      shardOf({ minute: { ...minute, total: 6 } }, 1, 2),
    ];
    expect(decideShards(torn, () => true, now).kind).toBe('reread');
    const joined = [shardOf({ minute: { ...minute, total: 5 } }, 0, 2), shardOf({}, 1, 2)];
    expect(decideShards(joined, () => true, now).kind).toBe('reread');
  });
});

function used(quota: QuotaState): number {
  return Object.values(quota).reduce((sum, { used }) => sum + used, 0);
}

/** Whether a charge made `after` of `before`: a move alone only ever sets a count to 0. */
function grew(before: QuotaState | undefined, after: QuotaState): boolean {
  return windowNames.every((name) => {
    const [a, b] = [before?.[name], after[name]];
    return !b || (a?.start === b.start ? b.used === a.used + 1 : b.used === 1);
  });
}

describe('the decision over shards for several units', () => {
  it('serves all of them on one shard as long as the account has so many left, else none, and keeps the shares', () => {
    fc.assert(
      fc.property(
        account(false),
        fc.array(fc.tuple(choice, fc.integer({ min: 1, max: 12 })), { minLength: 1 }),
        (shards, requests) => {
          fc.pre(names(shards).some((name) => shards[0]?.quota[name]?.limit !== null));
          const total = (name: WindowName) => shards.reduce((sum, { quota }) => sum + Number(quota[name]?.limit), 0);
          const totals = names(shards).map(total);
          for (const [{ tried, pick }, units] of requests) {
            const left = Math.min(...names(shards).map((name) => leftOf(shards, name, noon)));
            const decisions = serve(shards, { first: tried % shards.length, now: noon, pick, units });
            expect(decisions >= 0).toBe(units <= left);
            expect(decisions).toBeLessThanOrEqual(2);
            const after = Math.min(...names(shards).map((name) => leftOf(shards, name, noon)));
            expect(after).toBe(decisions < 0 ? left : left - units);
            expect(names(shards).map(total)).toEqual(totals);
          }
        },
      ),
    );
  });
});

describe('two reads of the shards', () => {
  it('prove an account exhausted only if no share moved and no window rolled between them', () => {
    const shards = () =>
      [0, 1].map((i) => shardOf({ minute: { start: noon, used: 3, limit: 3, total: 6 } }, i, 2)) as [Access, Access];
    expect(sameShares(shards(), shards())).toBe(true);
    const [first, second] = shards();
    const minute = first.quota.minute as WindowCount;
    expect(sameShares(shards(), [{ ...first, quota: { minute: { ...minute, used: 4 } } }, second])).toBe(true);
    expect(sameShares(shards(), [{ ...first, moves: 1 }, second])).toBe(false);
    expect(sameShares(shards(), [first, { ...second, version: 2 }])).toBe(false);
    expect(sameShares(shards(), [{ ...first, quota: { minute: { ...minute, start: noon + 60 } } }, second])).toBe(
      false,
    );
    expect(sameShares(shards(), [first])).toBe(false);
  });
});

describe('a shard with a window marked as exhausted', () => {
  const day = windowStart('day', noon);
  const state: QuotaState = {
    minute: { start: noon, used: 2, limit: 2, total: 8 },
    day: { start: day, used: 5, limit: 5, total: 20, exhaustedAt: day },
    month: { start: windowStart('month', noon), used: 9, limit: null },
  };

  it('refuses for that window alone, with r=0, until the window ends', () => {
    const refusal = markedExhausted(state, noon + 0.5);
    expect(refusal).toMatchObject({ violated: ['day'], retryAfterSeconds: 12 * 3600 });
    const [minute, exhausted] = reportWindows(refusal?.quota ?? {}, noon);
    expect(exhausted).toMatchObject({ name: 'day', limit: 20, remaining: 0 });
    expect(minute).toMatchObject({ name: 'minute', limit: 8, remaining: 8 });
    expect(markedExhausted(state, windowEnd('day', day) - 0.5)?.violated).toEqual(['day']);
    expect(markedExhausted(state, windowEnd('day', day))).toBeUndefined();
  });

  it('does not refuse when no window is marked, even if the shard itself has no quota left', () => {
    expect(markedExhausted({ minute: state.minute as WindowCount }, noon)).toBeUndefined();
    expect(markedExhausted({ minute: { start: noon, used: 0, limit: 0, total: 1 } }, noon)).toBeUndefined();
  });

  it('reports the windows that are not exhausted as they are, also one that a faster clock began', () => {
    const ahead = { start: noon + 60, used: 1, limit: 2, total: 8 };
    const refusal = markedExhausted({ ...state, minute: ahead }, noon);
    expect(refusal?.quota.minute).toEqual({ start: noon + 60, used: 0, limit: 8 });
  });

  it('refuses for a mark that a faster clock made, until that window ends', () => {
    const minute = { start: noon, used: 2, limit: 2, total: 8 };
    expect(markedExhausted({ minute: { ...minute, exhaustedAt: noon + 60 } }, noon)).toMatchObject({
      violated: ['minute'],
      retryAfterSeconds: 120,
    });
  });
});

describe('the quota that a caller sees of an account with several shards', () => {
  it.each([
    [{ limit: 5, used: 3, total: 20 }, 2],
    [{ limit: 4, used: 3, total: 40 }, 1],
    [{ limit: 3, used: 1, total: 10 }, 2],
    [{ limit: 3, used: 3, total: 10 }, 0],
    [{ limit: 3, used: 7, total: 10 }, 0],
    [{ limit: 0, used: 0, total: 10 }, 0],
    [{ limit: 10, used: 9, total: 10 }, 1],
    [{ limit: 10, used: 3 }, 7],
  ])('is, for a shard with %j, a remainder of %i', (count, remaining) => {
    expect(reportWindows({ day: { start: noon, ...count } }, noon)).toMatchObject([{ remaining }]);
  });

  it('is the limit of the account, and the remainder of the shard, which is 0 only when that has none', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.nat({ max: 1e6 }), fc.nat({ max: 1e6 }), (share, used, others) => {
        const quota = { day: { start: noon, used: Math.min(used, share), limit: share, total: share + others } };
        const [report] = reportWindows(quota, noon);
        expect(report?.limit).toBe(share + others);
        expect(report?.remaining).toBeLessThanOrEqual(share + others);
        expect(report?.remaining === 0).toBe(used >= share);
      }),
    );
  });
});
