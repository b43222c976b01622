import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdminStore, getAccess } from '../../../../core/accounts/admin/admin-store.ts';
import { recordUsage, usageOf } from '../../../../core/accounts/admin/usage.ts';
import { type AdminBench, startAdmin } from './admin-bench.ts';

/** On 1 August 2026. */
let bench: AdminBench;
const dayMilliseconds = 86_400_000;

beforeAll(async () => {
  bench = await startAdmin();
  await bench.admin.plans.put({ code: 'standard', limits: { month: null } });
});
afterAll(() => bench.stop());

const store = () => createAdminStore(bench.client, bench.table, 'test', () => bench.clock.now);

async function makeKey(account: string): Promise<string> {
  await bench.admin.accounts.create({ id: account, plan: 'standard' });
  return (await bench.admin.keys.create({ account, label: 'k' })).key;
}

async function lookup(key: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await bench.request(key)).toBe('charged');
}

/** Lookups of the first day of the range, and of the next. */
async function readDays(account: string, from: string, to: string): Promise<number[]> {
  const { days } = await usageOf(store(), account, { from, to });
  return days.map(({ lookups }) => lookups);
}

describe('a day of lookups', () => {
  it('is recorded once by two jobs that read the account before either wrote', async () => {
    const key = await makeKey('twice');
    await lookup(key, 3);
    bench.clock.now += dayMilliseconds;
    // The first lookup of a day puts the former day among those that a job moves, and begins a day that it leaves
    // alone.
    await lookup(key, 1);
    const before = await getAccess(store(), 'twice');
    await recordUsage(store(), before, 25);
    await recordUsage(store(), before, 25);
    expect(await readDays('twice', '2026-08-01', '2026-08-02')).toEqual([3, 1]);
  });

  it('includes a lookup that an instance charges between the read and the write of the job', async () => {
    const key = await makeKey('late');
    await lookup(key, 1);
    const before = await getAccess(store(), 'late');
    await lookup(key, 1);
    bench.clock.now += dayMilliseconds;
    await recordUsage(store(), before, 25);
    expect(await readDays('late', '2026-08-02', '2026-08-03')).toEqual([2, 0]);
  });
});
