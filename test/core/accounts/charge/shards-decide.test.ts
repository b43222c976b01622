import { describe, expect, it } from '@jest/globals';
import type { Access } from '../../../../core/accounts/account.ts';
import { decideShards, type ShareMove } from '../../../../core/accounts/charge/shards.ts';
import type { WindowCount } from '../../../../core/accounts/quota.ts';
import { type WindowName, windowStart } from '../../../../core/calendar.ts';
import { accessOf } from '../../../support/access.ts';

const noon = Date.UTC(2026, 7, 15, 12) / 1000;

/** Of a shard: the units left and the share of each window; with `null` the share is unlimited. */
type Shard = Partial<Record<WindowName, readonly [left: number, share: number | null]>>;

/** Shards that have all been charged in the current windows, but for those in `passed`. */
function shardsOf(shards: readonly Shard[], passed: readonly WindowName[] = []): Access[] {
  return shards.map((windows, shard) => {
    const quota: Partial<Record<WindowName, WindowCount>> = {};
    for (const [name, [left, limit]] of Object.entries(windows) as [WindowName, Shard['day'] & {}][]) {
      const total = shards.reduce((sum, other) => sum + (other[name]?.[1] ?? 0), 0);
      const start = windowStart(name, passed.includes(name) ? windowStart(name, noon) - 1 : noon);
      quota[name] = { start, used: (limit ?? 100) - left, limit, ...(limit !== null && { total }) };
    }
    return accessOf({ quota, shard, shards: shards.length, sharded: true });
  });
}

function decide(shards: readonly Access[], { tried = 0, pick = 0, takes = (_: Access): boolean => true } = {}) {
  return decideShards(shards, takes, { now: noon, tried, pick });
}

/** A move as the numbers of its shards. */
function movesOf({ target, donors }: ShareMove) {
  return { to: target.shard, from: donors.map(({ shard, takes }) => [shard.shard, takes]) };
}

function moveOf(shards: readonly Access[], choice: Parameters<typeof decide>[1] = {}) {
  const decision = decide(shards, choice);
  if (decision.kind !== 'move') throw new Error(`expected a move, not ${decision.kind}`);
  return movesOf(decision.move);
}

describe('a shard that has used its share', () => {
  it('gets half of what the richest shard has left, rounded down', () => {
    const shards = shardsOf([{ hour: [0, 5] }, { hour: [30, 40] }, { hour: [91, 95] }]);
    expect(moveOf(shards)).toEqual({ to: 0, from: [[2, { hour: 45 }]] });
  });

  it('gets it from the first of several shards that have as much left', () => {
    const shards = shardsOf([{ hour: [40, 50] }, { hour: [0, 5] }, { hour: [40, 40] }]);
    expect(moveOf(shards, { tried: 1 })).toEqual({ to: 1, from: [[0, { hour: 20 }]] });
  });

  it('gets it for each window that it has used up, each from the richest shard of that window', () => {
    const shards = shardsOf([
      { hour: [0, 5], day: [0, 9], month: [7, 9] },
      { hour: [30, 40], day: [50, 60], month: [90, 99] },
      { hour: [40, 40], day: [20, 60], month: [90, 99] },
    ]);
    expect(moveOf(shards)).toEqual({
      to: 0,
      from: [
        [2, { hour: 20 }],
        [1, { day: 25 }],
      ],
    });
  });

  it('gets it from a shard that no longer takes requests', () => {
    const shards = shardsOf([{ hour: [0, 5] }, { hour: [80, 80] }]);
    expect(moveOf(shards, { takes: ({ shard }) => shard === 0 })).toEqual({ to: 0, from: [[1, { hour: 40 }]] });
  });

  it.each([
    [20, 'move'],
    [19, 'charge'],
  ])('lets a shard with %i units left %s', (left, kind) => {
    expect(decide(shardsOf([{ hour: [0, 5] }, { hour: [left, 50] }])).kind).toBe(kind);
  });

  it('gets nothing when one of its windows is not worth a move', () => {
    const shards = shardsOf([
      { hour: [0, 5], day: [0, 5] },
      { hour: [50, 50], day: [10, 50] },
    ]);
    expect(decide(shards)).toMatchObject({ kind: 'charge', shard: { shard: 1 } });
  });
});

describe('the shard that is charged', () => {
  it.each([
    [0, 1],
    [0.249, 1],
    [0.25, 3],
    [0.999, 3],
  ])('is, for the random number %f, shard %i: each is picked in proportion to what it has left', (pick, shard) => {
    const shards = shardsOf([{ hour: [0, 5] }, { hour: [1, 5] }, { hour: [0, 5] }, { hour: [3, 5] }]);
    expect(decide(shards, { pick })).toMatchObject({ kind: 'charge', shard: { shard } });
  });

  it.each([
    [0.49, 0],
    [0.51, 1],
  ])('is, for the random number %f, shard %i of two without a limit', (pick, shard) => {
    expect(decide(shardsOf([{ hour: [0, null] }, { hour: [0, null] }]), { pick })).toMatchObject({
      kind: 'charge',
      shard: { shard },
    });
  });

  it('counts for what it has left of the window of which it has least', () => {
    const shards = shardsOf([
      { hour: [9, 9], day: [1, 9] },
      { hour: [1, 9], day: [9, 9] },
    ]);
    expect(decide(shards, { pick: 0.49 })).toMatchObject({ shard: { shard: 0 } });
    expect(decide(shards, { pick: 0.51 })).toMatchObject({ shard: { shard: 1 } });
  });

  it('rolls exactly the windows that have passed', () => {
    const shard: Shard = { minute: [2, 9], hour: [2, 9], day: [2, 9] };
    expect(decide(shardsOf([shard]))).toMatchObject({ kind: 'charge', roll: [] });
    expect(decide(shardsOf([shard], ['minute', 'day']))).toMatchObject({ roll: ['minute', 'day'] });
  });
});

describe('quota that no shard has in every window', () => {
  it('is gathered on the shard that lacks it in the fewest windows, no more than it can use', () => {
    const shards = shardsOf([
      { minute: [0, 9], hour: [0, 9], day: [3, 9] },
      { minute: [3, 9], hour: [3, 9], day: [0, 9] },
      { minute: [2, 9], hour: [0, 9], day: [5, 9] },
    ]);
    // Three are left in the hour, so three are enough of the day.
    expect(moveOf(shards)).toEqual({ to: 1, from: [[2, { day: 3 }]] });
  });

  it('is gathered on the first of those that lack as many', () => {
    const shards = shardsOf([
      { hour: [0, 9], day: [4, 9] },
      { hour: [4, 9], day: [0, 9] },
    ]);
    expect(moveOf(shards, { tried: 1 })).toEqual({ to: 0, from: [[1, { hour: 4 }]] });
  });

  it('is gathered from the richest shards first, only on a shard that takes requests', () => {
    const shards = shardsOf([
      { hour: [5, 9], day: [0, 9] },
      { hour: [0, 9], day: [1, 9] },
      { hour: [0, 9], day: [4, 9] },
    ]);
    expect(moveOf(shards, { takes: ({ shard }) => shard === 0 })).toEqual({
      to: 0,
      from: [
        [2, { day: 4 }],
        [1, { day: 1 }],
      ],
    });
  });
});
