import type { Benchmark } from './benchmark.ts';
import { assumptions } from './cost-model.ts';
import { Random } from './generator/random.ts';
import { rounded } from './measure.ts';
import priceList from './prices.json' with { type: 'json' };

/**
 * A new on-demand table has four partitions of 1,000 writes a second, of which one saves up what it did not use for
 * five minutes; the loader has as many writers.
 */
const newTable = 4;
/** Of one writer, as deployed. */
const pace = 850;
const writesAPartition = 1000;
/** Writes a second that the table is warmed for. */
const warmed = [10_000, 20_000, 40_000];
const burstSeconds = 300;

/**
 * The first load of the country as token buckets, second by second: each writer spreads its writes over the partitions
 * by chance, and tries what was throttled again in the next second.
 * @param savesUp whether partitions save up what they did not use; DynamoDB does not promise that
 */
export function simulateFirstLoad(
  writesPerSecond: number,
  savesUp: boolean,
  { writes = assumptions.keys, writers = newTable }: { writes?: number; writers?: number } = {},
) {
  const partitions = writers;
  const random = new Random(1);
  const tokens = Array<number>(partitions).fill(savesUp ? writesAPartition * burstSeconds : 0);
  let [left, throttled, seconds] = [writes, 0, 0];
  while (left > 0) {
    seconds++;
    const wanted = Array<number>(partitions).fill(0);
    const now = Math.min(left, writers * writesPerSecond);
    for (let i = 0; i < now; i++) {
      const partition = random.int(partitions);
      wanted[partition] = (wanted[partition] ?? 0) + 1;
    }
    for (const [partition, count] of wanted.entries()) {
      const most = savesUp ? writesAPartition * burstSeconds : writesAPartition;
      const available = Math.min(most, (tokens[partition] ?? 0) + writesAPartition);
      const done = Math.min(count, available);
      tokens[partition] = available - done;
      throttled += count - done;
      left -= done;
    }
  }
  return { minutes: rounded(seconds / 60, 3), throttled_share: rounded(throttled / (writes + throttled), 3) };
}

/** Dollars once, in `us-east-1`, for raising the warm throughput of a new table to so many writes a second. */
function warmingPrice(writesPerSecond: number): number {
  const { dynamodb_warm_write_unit: price } = priceList.regions['us-east-1'];
  return rounded((writesPerSecond - newTable * writesAPartition) * price, 3);
}

/**
 * What pacing the writers of the first load is worth, on a table that does not grow meanwhile, and what warm
 * throughput, for which the loader has more writers.
 */
export const benchmark: Benchmark = {
  async run() {
    const rates = [700, pace, 1000, 1500].map((rate) => [
      `${rate}_writes_a_second_each`,
      { without_burst: simulateFirstLoad(rate, false), with_burst: simulateFirstLoad(rate, true) },
    ]);
    const warm = warmed.map((writesPerSecond) => [
      `${writesPerSecond}_writes_a_second`,
      {
        ...simulateFirstLoad(pace, false, { writers: writesPerSecond / writesAPartition }),
        usd_once_us_east_1: warmingPrice(writesPerSecond),
      },
    ]);
    return {
      writers: newTable,
      partitions: newTable,
      writes_a_partition: writesAPartition,
      rates: Object.fromEntries(rates),
      warm_throughput: Object.fromEntries(warm),
    };
  },
};
