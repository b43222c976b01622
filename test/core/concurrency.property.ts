import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { forEachConcurrently, mapConcurrently, mapInOrder } from '../../core/concurrency.ts';

const turns = fc.array(fc.nat(4), { maxLength: 30 });
const concurrency = fc.integer({ min: 1, max: 8 });

/** Work that takes `count` turns of the event loop, and keeps how much of it ran at once. */
function countedWork() {
  const seen = { running: 0, most: 0, started: 0 };
  const work = async (count: number) => {
    seen.started++;
    seen.most = Math.max(seen.most, ++seen.running);
    for (let turned = 0; turned < count; turned++) await turn();
    seen.running--;
    return count;
  };
  return { seen, work };
}

describe('mapConcurrently', () => {
  it('returns the results in the order of the items, and never runs more than the limit at once', async () => {
    await fc.assert(
      fc.asyncProperty(turns, concurrency, async (items, limit) => {
        const { seen, work } = countedWork();
        expect(await mapConcurrently(items, limit, work)).toEqual(items);
        expect(seen.most).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 50 },
    );
  });
});

describe('mapInOrder', () => {
  async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
    for (const item of items) {
      await turn();
      yield item;
    }
  }

  it('yields the results in the order of the items, and never holds more than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(turns, concurrency, async (items, limit) => {
        const { seen, work } = countedWork();
        const results: number[] = [];
        for await (const result of mapInOrder(each(items), limit, work)) {
          results.push(result);
          expect(seen.started - results.length).toBeLessThan(limit);
        }
        expect(results).toEqual(items);
        expect(seen.most).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 50 },
    );
  });

  it('runs as many items at once as the limit allows, and throws a failure when its turn has come', async () => {
    const { seen, work } = countedWork();
    const results: number[] = [];
    const read = async () => {
      const fails = async (count: number) => {
        if (count === 9) throw new Error('nine');
        return work(count);
      };
      for await (const result of mapInOrder(each([4, 4, 4, 9, 0, 0, 0]), 3, fails)) {
        results.push(result);
      }
    };
    await expect(read()).rejects.toThrow('nine');
    expect([results, seen.most]).toEqual([[4, 4, 4], 3]);
  });
});

describe('forEachConcurrently', () => {
  it('after a failure starts no more items, waits for the running ones and throws the first error', async () => {
    await fc.assert(
      fc.asyncProperty(turns, concurrency, fc.nat(30), async (items, limit, failing) => {
        const { seen, work } = countedWork();
        let failedAt = Number.POSITIVE_INFINITY;
        const run = forEachConcurrently(items.entries(), limit, async ([index, count]) => {
          await work(count);
          if (index >= failing) {
            failedAt = Math.min(failedAt, seen.started);
            throw new Error(`item ${index}`);
          }
        });
        if (items.length <= failing) await run;
        else {
          await expect(run).rejects.toThrow(/^item \d+$/);
        }
        expect(seen.running).toBe(0);
        // One more may have been due when the failure arrived.
        expect(seen.started).toBeLessThanOrEqual(Math.min(items.length, failedAt + 1));
      }),
      { numRuns: 50 },
    );
  });

  it('waits for the running ones too when no further item can be had', async () => {
    const { seen, work } = countedWork();
    async function* items() {
      yield 4;
      throw new Error('no more');
    }
    await expect(
      forEachConcurrently(items(), 3, async (count) => void (await work(count))),
    ).rejects.toThrow('no more');
    expect([seen.started, seen.running]).toEqual([1, 0]);
  });
});
