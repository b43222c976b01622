import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { datesOf, monthOf } from '../../../../core/calendar.ts';
import { ObjectChangedError } from '../../../../loader/storage/storage.ts';
import { createAdminStore } from '../../../../packages/admin/accounts/admin-store.ts';
import {
  type Statement,
  type StatementFiles,
  statementsOf,
} from '../../../../packages/admin/monthly-statements.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { isFullSweep } from '../../../support/sweep.ts';
import { startAdmin } from './admin-bench.ts';

const hour = 3_600_000;
const plans = ['small', 'standard', 'large'] as const;

const bench = startForTests(startAdmin);
beforeAll(async () => {
  for (const code of plans) await bench.admin.plans.put({ code, limits: { month: null } });
});

/** Statements in memory. */
function memory(): StatementFiles {
  const files = new Map<string, Buffer>();
  return {
    get: async (key) => files.get(key) ?? null,
    async put(key, bytes) {
      if (files.has(key)) throw new ObjectChangedError(key);
      files.set(key, Buffer.from(bytes));
    },
  };
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      hours: fc.integer({ min: 1, max: 400 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('use' as const),
      lookups: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('plan' as const), plan: fc.constantFrom(...plans) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
);

let runs = 0;

describe('the plans of a statement', () => {
  it('are those that the audit names for each day, and their sums are what was used, whenever a month is closed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { admin, clock } = bench;
        const account = `run-${runs++}`;
        clock.now = Date.UTC(2026, 0, 20, 12);
        const statements = statementsOf(
          createAdminStore(bench.client, bench.table, 'test', () => clock.now),
          memory(),
        );
        await admin.accounts.create({ id: account, plan: 'standard' });
        const { key } = await admin.keys.create({ account, label: 'k' });
        const used = new Map<string, number>();
        const closed = new Map<string, Statement>();
        const close = async () => {
          for (
            let month = await statements.closeNext();
            month;
            month = await statements.closeNext()
          ) {
            closed.set(month.month, await statements.show({ account, month: month.month }));
          }
        };
        for (const one of steps) {
          clock.now += 1000; // the audit has changes of the same moment in any order
          if (one.kind === 'wait') clock.now += one.hours * hour;
          if (one.kind === 'plan') await admin.accounts.set({ id: account, plan: one.plan });
          if (one.kind === 'close') await close();
          if (one.kind !== 'use') continue;
          const date = new Date(clock.now).toISOString().slice(0, 10);
          for (let i = 0; i < one.lookups; i++) expect(await bench.request(key)).toBe('charged');
          used.set(date, (used.get(date) ?? 0) + one.lookups);
        }
        clock.now += 32 * 24 * hour;
        await close();
        const changes = (await admin.accounts.audit(account, { limit: 1_000 })).entries
          .filter(({ detail }) => detail.plan !== undefined)
          .map(({ time, detail }) => ({ date: time.slice(0, 10), plan: detail.plan as string }));
        const planOn = (date: string) => changes.find((change) => change.date <= date)?.plan;
        for (const [month, statement] of closed) {
          expect(await statements.show({ account, month })).toEqual(statement);
          for (const date of datesOf(monthOf(month) as { from: string; to: string })) {
            const period = statement.plans.filter(({ from, to }) => from <= date && date <= to);
            expect([date, ...period.map(({ plan }) => plan)]).toEqual([
              date,
              ...[planOn(date) ?? []].flat(),
            ]);
          }
          for (const { from, to, lookups } of statement.plans) {
            const inPeriod = [...used].filter(([date]) => from <= date && date <= to);
            expect(lookups).toBe(inPeriod.reduce((sum, [, count]) => sum + count, 0));
          }
          const inMonth = [...used].filter(([date]) => date.startsWith(month));
          const sum = inMonth.reduce((total, [, count]) => total + count, 0);
          expect([
            statement.lookups,
            statement.plans.reduce((total, one) => total + one.lookups, 0),
          ]).toEqual([sum, sum]);
        }
        await admin.accounts.suspend(account);
        await admin.accounts.delete(account);
      }),
      { numRuns: isFullSweep ? 25 : 4 },
    );
  });
});
