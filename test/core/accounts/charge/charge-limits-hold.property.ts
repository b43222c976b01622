import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { windowStart } from '../../../../core/calendar.ts';
import { startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { isFullSweep } from '../../../support/sweep.ts';

const bench = startForTests(startAdmin);

const names = ['minute', 'day'] as const;
type Name = (typeof names)[number];
type Terms = Partial<Record<Name, number | null>>;

const firstPlans: readonly Terms[] = [{ minute: 3, day: 5 }, { day: 5 }, { minute: 3 }];

const limit = fc.constantFrom(0, 2, 3, 5, null);
const terms: fc.Arbitrary<Terms> = fc
  .record({ minute: limit, day: limit }, { requiredKeys: [] })
  .filter((made) => Object.keys(made).length > 0);

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('consume' as const), requests: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('plan' as const), terms }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), to: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('suspend' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 5, max: 70 }) }) },
);

const consume = (requests: number) => ({ kind: 'consume' as const, requests });
const plan = (made: Terms) => ({ kind: 'plan' as const, terms: made });
const minute = { kind: 'wait' as const, seconds: 60 };
/** Rare by chance: a window that a plan drops is counted on, and has the count or has ended when it is back. */
const backAgain = [consume(1), plan({ day: null }), consume(1), plan({ minute: 2, day: null }), consume(1)];
const backLater = [consume(3), plan({ day: null }), minute, plan({ minute: 2, day: null }), consume(3)];

/** The use of each window, kept the long way. */
function model() {
  const counts = new Map<Name, { start: number; used: number }>();
  return {
    admits: (limits: Terms, now: number) =>
      names.every((name) => {
        const { start = 0, used = 0 } = counts.get(name) ?? {};
        return (start === windowStart(name, now) ? used : 0) < (limits[name] ?? Number.POSITIVE_INFINITY);
      }),
    /** A day is always counted; a minute begins while it is configured, and then goes on until it ends. */
    consume(limits: Terms, now: number) {
      for (const name of names) {
        const start = windowStart(name, now);
        const count = counts.get(name);
        if (count?.start === start) count.used++;
        else if (name === 'day' || name in limits) counts.set(name, { start, used: 1 });
      }
    },
  };
}

describe('any sequence of changes of plans, limits and state', () => {
  it('admits exactly the remaining quota of the current windows, whatever plan they were used under', async () => {
    const { admin, request, clock, saved } = bench;
    const id = 'any';
    for (const [i, limits] of firstPlans.entries()) await admin.plans.put({ code: `${id}-${i}`, limits });
    await admin.accounts.create({ id, plan: `${id}-0` });
    const { key } = await admin.keys.create({ account: id, label: 'k' });
    const restore = await saved();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        await restore();
        const plans = [...firstPlans];
        const { admits, consume } = model();
        let at = 0;
        const now = () => Math.floor(clock.now / 1000);
        const limits = () => plans[at] as Terms;
        for (const made of steps) {
          if (made.kind === 'wait') clock.now += made.seconds * 1000;
          else if (made.kind === 'plan') {
            plans[at] = made.terms;
            await admin.plans.put({ code: `${id}-${at}`, limits: made.terms });
          } else if (made.kind === 'move') {
            at = made.to;
            await admin.accounts.set({ id, plan: `${id}-${at}` });
          } else if (made.kind === 'suspend') {
            await admin.accounts.suspend(id);
            expect(await request(key)).toBe('account-inactive');
            await admin.accounts.activate(id);
          } else {
            for (let i = 0; i < made.requests; i++) {
              const expected = admits(limits(), now()) ? 'charged' : 'quota-exceeded';
              if (expected === 'charged') consume(limits(), now());
              expect(await request(key)).toBe(expected);
            }
          }
        }
      }),
      { numRuns: isFullSweep ? 25 : 4, examples: [[backAgain], [backLater]] },
    );
  });
});
