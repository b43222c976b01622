import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Access } from '../../../../core/accounts/account.ts';
import { type AccessStore, findShardWithQuota } from '../../../../core/accounts/charge/charge.ts';
import { StoreUnavailable } from '../../../../core/dynamodb.ts';
import { accessOf } from '../../../support/access.ts';

const noon = Date.UTC(2026, 7, 15, 12) / 1000;
const claim = { account: 'a', keyId: 'k', hash: new Uint8Array(16) };
const request = { claim, units: 1, id: new Uint8Array(6) };

type Reading = {
  used: number;
  share: number;
  moves?: number;
  total?: number;
  active?: boolean;
  /** The start of an hour that is marked as exhausted. */
  marked?: number;
};

function shardsOf(readings: Reading[]): Access[] {
  return readings.map(({ used, share, moves = 0, total = 10, active = true, marked }, shard) =>
    accessOf({
      state: active ? 'active' : 'suspended',
      keys: { k: claim.hash },
      quota: { hour: { start: noon, used, limit: share, total, ...(marked && { exhaustedAt: marked }) } },
      shard,
      shards: readings.length,
      sharded: true,
      moves,
    }),
  );
}

/** A store whose shards are read like this, one reading after the other; it notes what else it is asked to do. */
function scripted(...readings: Reading[][]) {
  const asked: string[] = [];
  const marks: unknown[] = [];
  const store: Pick<AccessStore, 'readShards' | 'move' | 'markExhausted'> = {
    readShards: async () => {
      asked.push('read');
      return shardsOf(readings[Math.min(asked.filter((what) => what === 'read').length, readings.length) - 1] ?? []);
    },
    move: async () => asked.push('move') > 0,
    markExhausted: async ({ shard }, windows) => {
      asked.push('mark');
      marks.push({ shard, windows });
    },
  };
  const find = (tried = 0) =>
    findShardWithQuota(store as AccessStore, request, tried, () => noon + 1, AbortSignal.timeout(5000));
  return { asked, marks, find, store: store as AccessStore };
}

const reading = (used: number, share: number, more: Partial<Reading> = {}): Reading => ({ used, share, ...more });

const exhausted = [reading(5, 5), reading(5, 5)];
/** Read while an operator changes the limits. */
const torn = [reading(5, 5), reading(5, 6, { total: 11 })];

describe('the search for quota on other shards', () => {
  it('refuses after two readings that agree', async () => {
    const { asked, find } = scripted(exhausted, exhausted);
    await expect(find()).rejects.toMatchObject({ reason: { code: 'quota-exceeded', violated: ['hour'] } });
    expect(asked.filter((what) => what !== 'mark')).toEqual(['read', 'read']);
  });

  it('does not refuse when a reading missed a share that moved between shards', async () => {
    const onItsWay = [reading(5, 5), reading(4, 4, { moves: 1 })];
    const arrived = [reading(5, 6, { moves: 1 }), reading(4, 4, { moves: 1 })];
    const { find } = scripted(onItsWay, [reading(5, 5), reading(4, 4, { moves: 3 })], arrived);
    expect(await find(1)).toMatchObject({ shard: 0 });
  });

  it('refuses only after two readings agree, however long shares keep moving', async () => {
    const moving = Array.from({ length: 6 }, (_, moves) => exhausted.map((one) => ({ ...one, moves })));
    const { asked, find } = scripted(...moving);
    await expect(find()).rejects.toMatchObject({ reason: { code: 'quota-exceeded' } });
    expect(asked.filter((what) => what === 'read')).toHaveLength(7);
  });

  it('reads again while an operator changes the limits', async () => {
    const { asked, find } = scripted(torn, torn, [reading(5, 5, { total: 11 }), reading(5, 6, { total: 11 })]);
    expect(await find()).toMatchObject({ shard: 1 });
    expect(asked).toEqual(['read', 'read', 'read']);
  });

  it('charges shard 0, which has the reason, when every shard refuses the caller', async () => {
    const { asked, find } = scripted(exhausted.map((one) => ({ ...one, active: false })));
    expect(await find(1)).toEqual({ ...request, now: noon + 1, shard: 0 });
    expect(asked).toEqual(['read']);
  });

  it('tries the shard that it moved shares to, even if another request moved them first', async () => {
    const { asked, find } = scripted([reading(5, 5, { total: 100 }), reading(5, 95, { total: 100 })]);
    expect(await find(0)).toMatchObject({ shard: 0 });
    expect(asked).toEqual(['read', 'move']);
  });

  it('begins anew with its two readings when an operator changes the limits between them', async () => {
    const { asked, find } = scripted(exhausted, torn, exhausted, exhausted);
    await expect(find()).rejects.toMatchObject({ reason: { code: 'quota-exceeded' } });
    expect(asked.filter((what) => what === 'read')).toHaveLength(4);
  });

  it('refuses after one reading in which any shard is marked as exhausted in this window', async () => {
    const marked = [reading(5, 5), reading(5, 5, { marked: noon })];
    const { asked, find } = scripted(marked);
    await expect(find()).rejects.toMatchObject({ reason: { code: 'quota-exceeded', violated: ['hour'] } });
    expect(asked.filter((what) => what === 'read')).toHaveLength(1);
  });

  it('does not rely on the mark of an earlier window', async () => {
    const { asked, find } = scripted(exhausted.map((one) => ({ ...one, marked: noon - 3600 })));
    await expect(find()).rejects.toMatchObject({ reason: { code: 'quota-exceeded' } });
    expect(asked.filter((what) => what === 'read')).toHaveLength(2);
  });

  it('is given up when the time for the request is over', async () => {
    const { store } = scripted(exhausted);
    const search = findShardWithQuota(store, request, 0, () => noon + 1, AbortSignal.abort());
    await expect(search).rejects.toThrow(StoreUnavailable);
  });
});

describe('a refusal because no shard has quota left', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('marks the shard that refused the request, with the windows that are exhausted', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { marks, find } = scripted(exhausted);
    await expect(find(1)).rejects.toMatchObject({ reason: { code: 'quota-exceeded' } });
    expect(marks).toEqual([{ shard: 1, windows: { hour: noon } }]);
  });

  it.each([
    [0.249, 1],
    [0.25, 0],
  ])('is followed by a mark once in four times: with the random number %f %i times', async (random, times) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const { marks, find } = scripted(exhausted);
    await expect(find()).rejects.toMatchObject({ reason: { code: 'quota-exceeded' } });
    expect(marks).toHaveLength(times);
  });

  it('marks nothing when the shard that refused the request is gone', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { marks, find } = scripted(exhausted);
    await expect(find(2)).rejects.toMatchObject({ reason: { code: 'quota-exceeded' } });
    expect(marks).toEqual([]);
  });
});
