import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Access } from '../../../../core/accounts/account.ts';
import { windowItem } from '../../../../core/accounts/account-item.ts';
import type { WindowName } from '../../../../core/calendar.ts';
import { apportion, mergeWindows, shareWindows } from '../../../../packages/admin/accounts/window-changes.ts';
import { accessOf } from '../../../support/access.ts';

const noon = Date.UTC(2026, 7, 15, 12) / 1000;
const names = ['minute', 'day'] as const;

/** Starts are `noon` and whole windows before and after it, as clocks and idle shards make them. */
const count = fc.record({
  age: fc.integer({ min: -1, max: 2 }),
  used: fc.nat({ max: 30 }),
  share: fc.nat({ max: 30 }),
});
const shard = fc.record({ minute: count, day: count });
const seconds = { minute: 60, day: 86_400 };
const day = noon - (noon % 86_400);

type Made = { age: number; used: number; share: number };

function shardOf(made: { minute: Made; day: Made }, shard: number): Access {
  const count = (name: 'minute' | 'day') => {
    const { age, used, share } = made[name];
    const start = (name === 'minute' ? noon : day) - age * seconds[name];
    return { start, used: Math.min(used, share), limit: share };
  };
  return accessOf({ shard, quota: { minute: count('minute'), day: count('day') } });
}

const shards = fc.array(shard, { minLength: 1, maxLength: 6 }).map((all) => all.map(shardOf));
const startOf = ({ quota }: Access, name: WindowName) => quota[name]?.start ?? 0;
const latest = (all: Access[], name: WindowName) => Math.max(...all.map((access) => startOf(access, name)));
const usedIn = (all: Access[], name: WindowName, start: number) =>
  all.reduce((sum, { quota }) => sum + (quota[name]?.start === start ? quota[name].used : 0), 0);

/** The window of a shard after changes. */
function windowAfter(
  access: Access | undefined,
  changes: ReturnType<typeof shareWindows>[0]['changes'],
  name: 'minute' | 'day',
) {
  const { set, raise = {}, remove } = changes;
  const read = (attribute: string, before: number | null | undefined) =>
    remove.includes(attribute)
      ? undefined
      : ((set[attribute] as number | undefined) ?? (before ?? 0) + (raise[attribute] ?? 0));
  return {
    start: read(windowItem[name].start, access?.quota[name]?.start),
    used: read(windowItem[name].used, access?.quota[name]?.used) ?? 0,
    share: read(windowItem[name].limit, access?.quota[name]?.limit),
    total: read(windowItem[name].total, access?.quota[name]?.total),
  };
}

describe('new shares of an account', () => {
  it('add up to its limit, keep the usage, are in the latest window, and leave exactly the remaining quota', () => {
    fc.assert(
      fc.property(shards, fc.nat({ max: 4 }), fc.nat({ max: 120 }), (all, more, limit) => {
        const changed = shareWindows(all, all.length + more, { minute: limit, day: limit }, {}, noon);
        expect(changed).toHaveLength(all.length + more);
        for (const name of names) {
          const windows = changed.map(({ changes }, i) => windowAfter(all[i], changes, name));
          const start = latest(all, name);
          const used = usedIn(all, name, start);
          expect(windows.reduce((sum, { share = 0 }) => sum + share, 0)).toBe(limit);
          expect(windows.reduce((sum, window) => sum + window.used, 0)).toBe(used);
          expect(windows.every((window) => window.start === start && window.total === limit)).toBe(true);
          const left = windows.reduce((sum, window) => sum + Math.max(0, (window.share ?? 0) - window.used), 0);
          expect(left).toBe(Math.max(0, limit - used));
        }
      }),
    );
  });

  it('are conditional on the start of each window that was read, and on the share if quota is left', () => {
    fc.assert(
      fc.property(shards, fc.nat({ max: 120 }), (all, limit) => {
        for (const [i, { changes, guards }] of shareWindows(all, all.length, { day: limit }, {}, noon).entries()) {
          const start = startOf(all[i] as Access, 'day');
          expect(guards).toContainEqual({ attribute: windowItem.day.start, is: '=', value: start });
          const isLeft = usedIn(all, 'day', latest(all, 'day')) <= limit;
          const bound = {
            attribute: windowItem.day.used,
            is: '<=',
            value: windowAfter(all[i], changes, 'day').share,
          };
          // A share of an earlier window may be smaller than its use: it restarts at 0.
          expect(guards.filter(({ attribute }) => attribute === windowItem.day.used)).toEqual(
            isLeft && start === latest(all, 'day') ? [bound] : [],
          );
          // The minute is dropped: only where its count is reset must no request have rolled it.
          const minute = startOf(all[i] as Access, 'minute');
          const isReset = changes.set[windowItem.minute.used] === 0;
          expect(guards.filter(({ attribute }) => !/^d./.test(attribute))).toEqual(
            isReset ? [{ attribute: windowItem.minute.start, is: '=', value: minute }] : [],
          );
          expect(isReset).toBe(minute < Math.max(noon, latest(all, 'minute')));
        }
      }),
    );
  });

  it('have no share for an unlimited window, and keep its usage', () => {
    const all = [0, 1].map((i) =>
      shardOf({ minute: { age: 0, used: 3, share: 5 }, day: { age: i, used: 2, share: 5 } }, i),
    );
    for (const [i, { changes, guards }] of shareWindows(all, 3, { minute: null, day: null }, {}, noon).entries()) {
      expect(guards).toEqual([]);
      expect(changes.remove).toEqual(
        expect.arrayContaining(
          (['minute', 'day'] as const).flatMap((name) => [windowItem[name].limit, windowItem[name].total]),
        ),
      );
      expect(windowAfter(all[i], changes, 'minute').used).toBe(i < 2 ? 3 : 0);
    }
  });
});

describe('a merge of shards', () => {
  it('keeps every share, and the usage of the latest window', () => {
    fc.assert(
      fc.property(shards, (all) => {
        const [target, ...closed] = all as [Access, ...Access[]];
        const { changes, guards } = mergeWindows(target, closed);
        for (const name of names) {
          const merged = windowAfter(target, changes, name);
          expect(merged.share).toBe(all.reduce((sum, { quota }) => sum + (quota[name]?.limit ?? 0), 0));
          expect(merged.start).toBe(latest(all, name));
          expect(merged.used).toBe(usedIn(all, name, latest(all, name)));
        }
        const seen = names.map((name) => ({
          attribute: windowItem[name].start,
          is: '=',
          value: startOf(target, name),
        }));
        expect(guards).toEqual(closed.length > 0 ? seen : []);
      }),
    );
  });

  it('only adds to the target unless a window has ended, so that a concurrent charge is not lost', () => {
    const all = [4, 2].map((used, i) =>
      shardOf({ minute: { age: 0, used, share: 9 }, day: { age: i, used, share: 9 } }, i),
    );
    const { changes } = mergeWindows(all[0] as Access, all.slice(1));
    expect(changes).toEqual({
      set: {},
      raise: {
        [windowItem.minute.used]: 2,
        [windowItem.minute.limit]: 9,
        [windowItem.day.used]: 0,
        [windowItem.day.limit]: 9,
      },
      copy: {},
      remove: [],
    });
  });
});

describe('the shares of a limit', () => {
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
  const amount = fc.oneof(fc.nat({ max: 20 }), fc.integer({ min: 0, max: 1e12 }));

  it('add up to it exactly, and distribute the remaining quota evenly, and nothing when none is left', () => {
    fc.assert(
      fc.property(amount, fc.array(amount, { minLength: 1, maxLength: 20 }), (total, used) => {
        const shares = apportion(total, used);
        expect([shares.length, sum(shares)]).toEqual([used.length, total]);
        for (const share of shares) expect(share >= 0 && Number.isInteger(share)).toBe(true);
        const left = shares.map((share, i) => share - (used[i] as number));
        if (sum(used) > total) expect(Math.max(...left)).toBeLessThanOrEqual(0);
        else expect([Math.min(...left) >= 0, Math.max(...left) - Math.min(...left) <= 1]).toEqual([true, true]);
      }),
    );
  });

  it.each([
    [10, [5, 5, 10], [3, 2, 5]],
    [7, [0, 0], [4, 3]],
    [0, [3, 0], [0, 0]],
    [12, [9, 0, 0], [10, 1, 1]],
    [5, [2, 2, 2], [2, 2, 1]],
    [7, [3, 3, 3], [3, 2, 2]],
    [1, [0, 1, 1], [0, 1, 0]],
  ])(
    'of %i over usages of %j are about proportional, and none more than was used if too little is left: %j',
    (...row) => {
      const [total, used, expected] = row;
      expect(apportion(total, used)).toEqual(expected);
    },
  );
});
