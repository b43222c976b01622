import { beforeAll, describe, expect, it } from '@jest/globals';
import { keyCode } from '../../../../core/accounts/account-item.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import type { ChargeAttempt } from '../../../../core/accounts/charge/charge.ts';
import { attemptId } from '../../../../core/accounts/charge/charge.ts';
import type { WindowName } from '../../../../core/calendar.ts';
import { createAdminStore, getAccess } from '../../../../packages/admin/accounts/admin-store.ts';
import { checksumSecret, startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'p', limits: { minute: 5, day: 100 } });
});

const signal = () => AbortSignal.timeout(20_000);

/** An account that has counted two lookups, and the write of an instance that begins what has passed since. */
async function lateWrite(id: string, laterSeconds: number, windows: WindowName[]) {
  const { admin, client, table, clock, request } = bench;
  await admin.accounts.create({ id, plan: 'p' });
  const { key } = await admin.keys.create({ account: id, label: 'k' });
  for (let i = 0; i < 2; i++) expect(await request(key)).toBe('charged');
  const read = () =>
    getAccess(
      createAdminStore(client, table, 'test', () => clock.now),
      id,
    );
  const seen = await read();
  clock.now += laterSeconds * 1000;
  const attempt: ChargeAttempt = {
    claim: readApiKey(key, checksumSecret) as KeyClaim,
    ...{ units: 1, id: attemptId(), now: clock.now / 1000, shard: 0, roll: { seen, windows } },
  };
  const write = () => createAccessStore(client, table).charge(attempt, signal()).answer;
  return { key, write, read };
}

describe('a write that begins a day', () => {
  it('is refused when another instance has begun that day since, and changes nothing', async () => {
    const { key, write, read } = await lateWrite('day', 86_400, ['minute', 'day']);
    expect(await bench.request(key)).toBe('charged');
    const after = await read();
    expect(await write()).toMatchObject({ charged: false });
    expect(await read()).toEqual(after);
    expect(after.usage).toMatchObject({ total: 3, mark: 2, days: { '2026-08-01': 2 } });
  });

  it('is refused when only the windows that it restarts are still the ones it has seen', async () => {
    const { key, write, read } = await lateWrite('only-day', 86_400, []);
    expect(await bench.request(key)).toBe('charged');
    const after = await read();
    expect(await write()).toMatchObject({ charged: false });
    expect((await read()).usage).toEqual(after.usage);
  });
});

describe('a write that restarts a window', () => {
  it('is refused when another instance has restarted it since, and gives no unit back', async () => {
    const { key, write, read } = await lateWrite('minute', 60, ['minute']);
    for (let i = 0; i < 3; i++) expect(await bench.request(key)).toBe('charged');
    expect(await write()).toMatchObject({ charged: false });
    expect((await read()).quota).toMatchObject({ minute: { used: 3 }, day: { used: 5 } });
  });

  it('counts its own units when nobody else has', async () => {
    const { write, read } = await lateWrite('alone', 60, ['minute']);
    expect(await write()).toMatchObject({ charged: true });
    expect((await read()).quota).toMatchObject({ minute: { used: 1 }, day: { used: 3 } });
  });
});

describe('the counts of keys', () => {
  it('have the first lookup of a key on a day that another one began, once', async () => {
    const { admin, client, table, clock, request } = bench;
    await admin.accounts.create({ id: 'keys', plan: 'p' });
    const created = [await admin.keys.create({ account: 'keys', label: 'a' })];
    created.push(await admin.keys.create({ account: 'keys', label: 'b' }));
    for (const { key } of created) expect(await request(key)).toBe('charged');
    const store = createAdminStore(client, table, 'test', () => clock.now);
    const { byKey } = (await getAccess(store, 'keys')).usage;
    expect(byKey).toEqual(Object.fromEntries(created.map(({ keyId }) => [keyCode(keyId), 1])));
  });
});
