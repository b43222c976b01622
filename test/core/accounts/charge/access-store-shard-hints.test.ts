import { describe, expect, it } from '@jest/globals';
import { createShardHints } from '../../../../core/accounts/charge/access-store.ts';
import { accessOf } from '../../../support/access.ts';

const seen = (account: string, shards: number) => accessOf({ account, shards });

const picks = (hints: ReturnType<typeof createShardHints>, account: string) =>
  [...new Set(Array.from({ length: 200 }, () => hints.pick(account)))].toSorted();

describe('a hint', () => {
  it('is shard 0 for an unknown account, and otherwise any shard that the account last had', () => {
    const hints = createShardHints();
    expect(picks(hints, 'a')).toEqual([0]);
    hints.learn(seen('a', 3), 1);
    expect(picks(hints, 'a')).toEqual([0, 1, 2]);
    expect(picks(hints, 'b')).toEqual([0]);
    hints.learn(seen('a', 2), 1);
    expect(picks(hints, 'a')).toEqual([0, 1]);
    hints.learn(seen('a', 1), 1);
    expect(picks(hints, 'a')).toEqual([0]);
  });

  it('knows the limits of the shards that were charged several units, as any later charge has seen them', () => {
    const hints = createShardHints();
    const of = (limit: number) => accessOf({ account: 'a', quota: { day: { start: 0, used: 0, limit } } });
    hints.learn(of(5), 1);
    expect(hints.limits('a', 0)).toBeUndefined();
    hints.learn(of(6), 2);
    expect(hints.limits('a', 0)).toEqual({ day: 6 });
    hints.learn(of(7), 1);
    expect(hints.limits('a', 0)).toEqual({ day: 7 });
  });

  it('is dropped, oldest first, when there are too many', () => {
    const hints = createShardHints();
    for (let i = 0; i <= 10_000; i++) hints.learn(seen(`account-${i}`, 4), 1);
    expect(picks(hints, 'account-0')).toEqual([0]);
    expect(picks(hints, 'account-1')).toEqual([0, 1, 2, 3]);
    expect(picks(hints, 'account-10000')).toEqual([0, 1, 2, 3]);
  });
});
