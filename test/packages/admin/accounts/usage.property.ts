import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Caller, maxKeyCounts, maxUnrecordedDays } from '../../../../core/accounts/account.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../../core/accounts/charge/charge.ts';
import { StoreUnavailable } from '../../../../core/dynamodb.ts';
import { createAdminStore, getAccess } from '../../../../packages/admin/accounts/admin-store.ts';
import { readAccounts, recordUsage } from '../../../../packages/admin/accounts/usage.ts';
import { createAdmin } from '../../../../packages/admin/admin.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { isFullSweep } from '../../../support/sweep.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);

class Killed extends Error {}

/** A client that dies at its write number `at`, before or after DynamoDB has made it. */
function dyingClient(at: number, applied: boolean): DynamoDBDocumentClient {
  let writes = 0;
  const send = async (...args: Parameters<DynamoDBDocumentClient['send']>) => {
    const isWrite = /^(Update|Put|Delete|TransactWrite)/.test(args[0].constructor.name);
    if (!isWrite || ++writes < at) return bench.client.send(...args);
    if (applied && writes === at) await bench.client.send(...args);
    throw new Killed('the process is gone');
  };
  return {
    send,
    middlewareStack: bench.client.middlewareStack,
  } as unknown as DynamoDBDocumentClient;
}

const hour = 3600;
/** So many that an item has space for the counts of two days, but not of three. */
const keysOfAccount = 6;
/** How far the clocks of the instances are from the right one, in seconds. */
const skews = [0, -2 * hour, 3 * hour];

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      instance: fc.nat({ max: skews.length - 1 }),
      requests: fc.integer({ min: 1, max: 6 }),
      /** The key of the first request; the others have the next ones. */
      key: fc.nat({ max: keysOfAccount - 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      seconds: fc.integer({ min: hour, max: 60 * hour }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('record' as const), twice: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('die' as const),
      at: fc.integer({ min: 1, max: 4 }),
      applied: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      code: fc.constantFrom('months', 'minutes'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('suspend' as const) }) },
);

let runs = 0;

describe('any sequence of lookups, changes and records by several instances', () => {
  it('counts each charged lookup once, on its day, and shows the last day of each key', async () => {
    const { admin, client, table, clock } = bench;
    await admin.plans.put({ code: 'months', limits: { month: null } });
    await admin.plans.put({ code: 'minutes', limits: { minute: 100_000 } });
    const store = (with_: DynamoDBDocumentClient) =>
      createAdminStore(with_, table, 'job', () => clock.now);
    // An instance whose clock is ahead counts on a day that has not begun.
    const later = createAdmin({ client, table, now: () => clock.now + 2 * 86_400_000 });
    const record = async (id: string, with_: DynamoDBDocumentClient) =>
      recordUsage(store(with_), await getAccess(store(client), id), 25);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const id = `run-${++runs}`;
        const from = `${new Date(clock.now).toISOString().slice(0, 7)}-01`;
        await admin.accounts.create({ id, plan: 'months' });
        const claims: KeyClaim[] = [];
        for (let i = 0; i < keysOfAccount; i++) {
          const { key } = await admin.keys.create({ account: id, label: `key ${i}` });
          claims.push(readApiKey(key, [testChecksumSecret]) as KeyClaim);
        }
        const instances = skews.map((skew) => ({
          access: createAccessStore(client, table),
          now: () => clock.now / 1000 + skew,
        }));
        const counted: Record<string, number> = {};
        const countedByKey: Record<string, Record<string, number>> = {};
        const count = ({ keyId, access }: Pick<Caller, 'keyId' | 'access'>) => {
          const { date } = access.usage;
          counted[date] = (counted[date] ?? 0) + 1;
          countedByKey[keyId] = {
            ...countedByKey[keyId],
            [date]: (countedByKey[keyId]?.[date] ?? 0) + 1,
          };
        };
        for (const made of steps) {
          if (made.kind === 'wait') clock.now += made.seconds * 1000;
          else if (made.kind === 'charge') {
            const { access, now } = instances[made.instance] as (typeof instances)[number];
            const callers = await Promise.all(
              Array.from({ length: made.requests }, (_, i) => {
                const claim = claims[(made.key + i) % keysOfAccount] as KeyClaim;
                return charge(access, claim, now, AbortSignal.timeout(20_000));
              }),
            );
            callers.forEach(count);
          } else if (made.kind === 'lose') {
            const claim = claims[0] as KeyClaim;
            const { usage: before } = await getAccess(store(client), id);
            const lost = createAccessStore(dyingClient(1, true), table);
            const charged = charge(
              lost,
              claim,
              () => clock.now / 1000,
              AbortSignal.timeout(20_000),
            );
            await expect(charged).rejects.toThrow(StoreUnavailable);
            // It was counted, unless its first write met a day that has ended.
            const access = await getAccess(store(client), id);
            const { date, lookups } = access.usage;
            if (date === before.date && lookups > before.lookups) {
              count({ keyId: claim.keyId, access });
            }
          } else if (made.kind === 'record') {
            await Promise.all([record(id, client), made.twice && record(id, client)]);
          } else if (made.kind === 'die') {
            await record(id, dyingClient(made.at, made.applied)).catch((error) => {
              if (!(error instanceof Killed)) throw error;
            });
          } else if (made.kind === 'plan') await admin.accounts.set({ id, plan: made.code });
          else {
            await admin.accounts.suspend(id);
            await admin.accounts.activate(id);
          }
        }
        const to = new Date(clock.now + 2 * 86_400_000).toISOString().slice(0, 10);
        const check = async () => {
          const { days } = await later.accounts.usage(id, { from, to });
          const [listed] = await readAccounts(store(client), [id], { from, to });
          expect(listed?.days).toEqual(days);
          const charged = Object.values(counted).reduce((sum, units) => sum + units, 0);
          expect(days.reduce((sum, { lookups }) => sum + lookups, 0)).toBe(charged);
          expect(days.filter(({ lookups }) => lookups > 0)).toEqual(
            Object.keys(counted)
              .toSorted()
              .map((date) => ({ date, lookups: counted[date] })),
          );
          return days;
        };
        const checkKeys = async () => {
          const { keys, unattributed, lookups } = await later.accounts.usageByKey(id, { from, to });
          expect(unattributed).toEqual({ lookups: 0, days: [] });
          expect(keys.reduce((sum, key) => sum + key.lookups, 0)).toBe(lookups);
          const found = keys.flatMap(({ keyId, days }) =>
            days.length > 0 ? [[keyId, days] as const] : [],
          );
          const expected = Object.entries(countedByKey).map(([keyId, ofKey]) => {
            const dates = Object.keys(ofKey).toSorted();
            return [keyId, dates.map((date) => ({ date, lookups: ofKey[date] }))] as const;
          });
          expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
          for (const { keyId, lastUsed } of await later.keys.list(id)) {
            expect(lastUsed).toBe(
              Object.keys(countedByKey[keyId] ?? {})
                .toSorted()
                .at(-1) ?? null,
            );
          }
        };
        const days = await check();
        await checkKeys();
        const { usage } = await getAccess(store(client), id);
        expect(Object.keys(usage.days).length).toBeLessThanOrEqual(maxUnrecordedDays);
        const counts = [usage.byKey, ...Object.values(usage.daysByKey)].flatMap(Object.keys);
        expect(counts.length).toBeLessThanOrEqual(maxKeyCounts);
        await record(id, client);
        expect(await check()).toEqual(days);
        await checkKeys();
        await admin.accounts.suspend(id);
        await admin.accounts.delete(id);
        expect(await check()).toEqual(days);
      }),
      { numRuns: isFullSweep ? 25 : 3 },
    );
  });
});
