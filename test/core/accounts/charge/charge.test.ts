import { describe, expect, it } from '@jest/globals';
import { type Access, maxUnrecordedDays } from '../../../../core/accounts/account.ts';
import { readAccess } from '../../../../core/accounts/account-item.ts';
import { type KeyClaim, readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import {
  type AccessStore,
  type ChargeAttempt,
  charge,
} from '../../../../core/accounts/charge/charge.ts';
import type { WindowCount } from '../../../../core/accounts/quota.ts';
import { dateOf, daySeconds, type WindowName } from '../../../../core/calendar.ts';
import { StoreUnavailable } from '../../../../core/dynamodb.ts';
import { startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const bench = startForTests(startAdmin);

const limits = { minute: 20, hour: 20, day: 20, month: 20 };
let accounts = 0;

/** An account that was charged with `used` units in this minute. */
async function chargedAccount(used = 5) {
  const { admin, client, table, clock } = bench;
  await admin.plans.put({ code: 'p', limits });
  const id = `account-${++accounts}`;
  await admin.accounts.create({ id, plan: 'p' });
  const { key } = await admin.keys.create({ account: id, label: 'k' });
  const claim = readApiKey(key, [testChecksumSecret]) as KeyClaim;
  const store = createAccessStore(client, table);
  const chargeUnits = (units: number, by: AccessStore = store) =>
    charge(by, claim, () => clock.now / 1000, AbortSignal.timeout(20_000), units);
  if (used > 0) await chargeUnits(used);
  const access = async () => readAccess((await bench.item(id)) ?? {});
  return { id, claim, store, chargeUnits, access };
}

/** A store that answers each charge as `answer` does, and notes what it was asked. */
function storeThat(answer: (attempt: ChargeAttempt) => Awaited<ReturnType<AccessStore['charge']>>) {
  const attempts: ChargeAttempt[] = [];
  const recorded: Access[] = [];
  const store: AccessStore = {
    read: () => Promise.reject(new Error('a charge reads nothing')),
    async charge(attempt) {
      attempts.push(attempt);
      return answer(attempt);
    },
    async recordDays(returned) {
      recorded.push(returned);
    },
  };
  return { store, attempts, recorded };
}

describe('a charge that the store reports as made', () => {
  it('is served when the returned item shows it', async () => {
    const { chargeUnits, access } = await chargedAccount();
    const item = await access();
    const { store } = storeThat(() => ({ charged: true, access: item }));
    expect(await chargeUnits(5, store)).toMatchObject({ charged: { units: 5 } });
  });

  const changes: Record<string, (window: WindowCount) => WindowCount> = {
    'has fewer units': (window) => ({ ...window, used: 4 }),
    'is above its limit': (window) => ({ ...window, used: 21 }),
    'is one that has passed': (window) => ({ ...window, start: window.start - 1 }),
  };
  const windows = Object.keys(limits) as WindowName[];
  it.each(windows.flatMap((name) => Object.keys(changes).map((change) => [name, change] as const)))(
    'is refused with 503 when the %s of the returned item %s',
    async (name, change) => {
      const { chargeUnits, access } = await chargedAccount();
      const item = await access();
      const window = changes[change]?.(item.quota[name] as WindowCount);
      const quota = { ...item.quota, [name]: window };
      const { store } = storeThat(() => ({ charged: true, access: { ...item, quota } }));
      await expect(chargeUnits(5, store)).rejects.toThrow('the returned item does not show it');
    },
  );

  const others: Record<string, Partial<Access>> = {
    'has another key': { keys: {} },
    'is suspended': { state: 'suspended' },
    'has an inactive plan': { planState: 'inactive' },
  };
  it.each(Object.keys(others))('is refused with 503 when the returned item %s', async (change) => {
    const { chargeUnits, access } = await chargedAccount();
    const item = { ...(await access()), ...others[change] };
    const { store } = storeThat(() => ({ charged: true, access: item }));
    await expect(chargeUnits(1, store)).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('is refused with 503 when no item is returned', async () => {
    const { chargeUnits } = await chargedAccount();
    const { store } = storeThat(() => ({ charged: true, access: undefined }));
    await expect(chargeUnits(1, store)).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

describe('a charge that the store refuses again and again', () => {
  it('ends with 503 after eight writes, if nothing in the item explains it', async () => {
    const { chargeUnits, access } = await chargedAccount();
    const item = await access();
    const { store, attempts } = storeThat(() => ({ charged: false, access: item }));
    await expect(chargeUnits(1, store)).rejects.toThrow('the account is contended');
    expect(attempts).toHaveLength(8);
  });

  it('ends when its time is up', async () => {
    const { claim, access } = await chargedAccount();
    const item = await access();
    const time = new AbortController();
    const { store, attempts } = storeThat(() => {
      time.abort();
      return { charged: false, access: item };
    });
    const clock = () => bench.clock.now / 1000;
    await expect(charge(store, claim, clock, time.signal)).rejects.toThrow('contended');
    expect(attempts).toHaveLength(1);
  });
});

describe('the first charge of a day', () => {
  const tomorrow = async (act: () => Promise<void>) => {
    bench.clock.now += daySeconds * 1000;
    await act().finally(() => {
      bench.clock.now -= daySeconds * 1000;
    });
  };

  it('restarts what has passed, in one write after the one that was refused', async () => {
    const { chargeUnits, access } = await chargedAccount();
    const item = await access();
    const { store, attempts, recorded } = storeThat(({ returned }) => ({
      charged: false,
      access: returned ? { ...item, keys: {} } : item,
    }));
    await tomorrow(async () => {
      await expect(chargeUnits(1, store)).rejects.toMatchObject({ name: 'Refusal' });
    });
    expect(attempts.map(({ restarts }) => restarts)).toEqual([[], ['minute', 'hour', 'day']]);
    expect(attempts.map(({ returned }) => returned)).toEqual([undefined, item]);
    expect(recorded).toEqual([]);
  });

  it('moves the days of a full item into records, and leaves the day to the store', async () => {
    const { chargeUnits, access } = await chargedAccount();
    const item = await access();
    const days = Object.fromEntries(
      Array.from({ length: maxUnrecordedDays }, (_, i) => [`2026-07-0${i + 1}`, 1]),
    );
    const full: Access = { ...item, usage: { ...item.usage, days } };
    const { store, attempts, recorded } = storeThat(({ returned }) => ({
      charged: false,
      access: returned ? { ...full, keys: {} } : full,
    }));
    await tomorrow(async () => {
      await expect(chargeUnits(1, store)).rejects.toMatchObject({ name: 'Refusal' });
    });
    expect(recorded).toEqual([full]);
    expect(attempts.at(-1)?.restarts).toEqual(['minute', 'hour']);
  });

  it('counts the units of its key from zero, and keeps those of the day before', async () => {
    const { id, claim, chargeUnits, access } = await chargedAccount(5);
    const { keyId } = await bench.admin.keys.create({ account: id, label: 'idle' });
    await tomorrow(async () => {
      await chargeUnits(3);
      const { usage } = await access();
      const before = dateOf(bench.clock.now / 1000 - daySeconds);
      const code = claim.keyId.slice(0, 4);
      expect(usage).toMatchObject({ lookups: 3, days: { [before]: 5 } });
      expect(usage.byKey).toEqual({ [code]: 3 });
      expect(usage.daysByKey).toEqual({ [before]: { [code]: 5 } });
      expect(usage.byKey).not.toHaveProperty(keyId.slice(0, 4));
      await chargeUnits(2);
      expect((await access()).usage.byKey).toEqual({ [code]: 5 });
    });
  });
});
