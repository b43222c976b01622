import { type KeyClaim, readApiKey } from '../../core/accounts/api-key.ts';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { charge } from '../../core/accounts/charge/charge.ts';
import { newAccount, startAddressService, testChecksumSecret, testTables } from '../../test/support/address-service.ts';
import type { Benchmark } from './benchmark.ts';
import { rounded } from './measure.ts';

const charges = 4000;
const concurrencies = [1, 10, 100, 1000];
/** A minute that begins nowhere near a window's end, and by which the account's windows are current. */
const noon = Date.UTC(2090, 0, 15, 12, 30, 0) / 1000;

/** A transaction counts as one here: it moves quota between shards, and is seldom. */
const writing = new Set(['UpdateItemCommand', 'TransactWriteItemsCommand']);
const shards = 4;

type Run = { charges_per_second: number; writes_per_charge: number };

/** Enough for each account and shard to have met one, so that their windows are current. */
const warmUp = 50;

/**
 * Charges a second and writes a charge, at several numbers of concurrent callers: on one account, on many, on one
 * account while a minute's window ends in the middle of the run, on one of several quota shards, and on that one down
 * to the last unit of its limit, for which the shards must find each other's rest. 1 write a charge is the reference:
 * less can't be.
 */
export const benchmark: Benchmark = {
  async run() {
    process.env.POWERTOOLS_METRICS_DISABLED = 'true';
    const service = await startAddressService({ asDeployed: true });
    const limits = { minute: 1e9, hour: 1e9, day: 1e9, month: 1e9 };

    /** `callers` take turns until all charges are made; the clock stands at what `clock` says of the share done. */
    async function run(callers: number, keys: string[], clock: (done: number) => number): Promise<Run> {
      let started = 0;
      const claims = keys.flatMap((key) => readApiKey(key, testChecksumSecret) ?? []);
      const store = createAccessStore(service.observed, testTables.accounts);
      // No deadline: a thousand callers of one process wait for its one core, not for the store.
      const { signal } = new AbortController();
      const chargeNext = (claim: KeyClaim) => charge(store, claim, () => clock(started / charges), signal);
      for (let i = 0; i < warmUp; i++) await chargeNext(claims[i % claims.length] as KeyClaim);
      service.sent.length = 0;
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (started < charges) await chargeNext(claims[started++ % claims.length] as KeyClaim);
        }),
      );
      const seconds = (performance.now() - startedAt) / 1000;
      const writes = service.sent.filter(({ name }) => writing.has(name)).length;
      return { charges_per_second: rounded(charges / seconds, 3), writes_per_charge: rounded(writes / charges) };
    }

    try {
      const one = [(await newAccount(service, limits)).key];
      const many = await Promise.all(
        Array.from({ length: warmUp }, async () => (await newAccount(service, limits)).key),
      );
      const sharded = await newAccount(service, limits);
      await service.admin.accounts.set({ id: sharded.id, shards });
      const scarce = await newAccount(service, { minute: warmUp + charges });
      await service.admin.accounts.set({ id: scarce.id, shards });
      const figures: Record<string, Record<string, Run>> = {};
      let minute = noon;
      for (const callers of concurrencies) {
        minute += 600;
        const now = minute;
        figures[`${callers}_callers`] = {
          one_account: await run(callers, one, () => now + 5),
          many_accounts: await run(callers, many, () => now + 5),
          // The window ends when half of the charges are made: everybody under way meets the roll-over.
          one_account_at_a_roll_over: await run(callers, one, (done) => now + 60 + (done < 0.5 ? 0 : 60)),
          four_shards: await run(callers, [sharded.key], () => now + 5),
          four_shards_to_the_last_unit: await run(callers, [scarce.key], () => now + 5),
        };
      }
      return { charges_a_run: charges, ...figures };
    } finally {
      await service.stop();
    }
  },
  plot: (figures) => ({
    title: 'Writes a charge (1 is the limit of what is possible)',
    unit: 'writes',
    bars: concurrencies.flatMap((callers) => {
      const runs = figures[`${callers}_callers`] as Record<string, Run>;
      return Object.entries(runs).map(([name, { writes_per_charge }]) => ({
        label: `${callers} callers, ${name.replaceAll('_', ' ')}`,
        value: writes_per_charge,
        isReference: name === 'many_accounts',
      }));
    }),
  }),
};
