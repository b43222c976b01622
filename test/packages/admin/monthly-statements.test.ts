import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { accessItem } from '../../../core/accounts/account-item.ts';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../core/accounts/charge/charge.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { setRetention } from '../../../packages/admin/accounts/usage.ts';
import {
  type Statement,
  type StatementFiles,
  type Statements,
  statementsCsv,
  statementsOf,
} from '../../../packages/admin/monthly-statements.ts';
import { testChecksumSecret } from '../../support/dynamodb.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startS3 } from '../../support/s3.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';
import { startAdmin } from './accounts/admin-bench.ts';

const folders = folderForNow('statements-');
const hour = 3_600_000;
const day = 24 * hour;

/** A year of four accounts, closed month by month, beside the count that a person would keep. */
const bench = startForTests(startAdmin);
const s3 = startForTests(() => startS3('statements'));
let files: StatementFiles;
let statements: Statements;
const keys: Record<string, string> = {};
/** Lookups by account and date. */
const model: Record<string, Record<string, number>> = {};

async function lookups(account: string, count: number): Promise<void> {
  const date = new Date(bench.clock.now).toISOString().slice(0, 10);
  for (let i = 0; i < count; i++) {
    expect(await bench.request(keys[account] as string)).toBe('charged');
  }
  model[account] ??= {};
  if (count > 0) model[account][date] = (model[account][date] ?? 0) + count;
}

async function open(account: string, plan = 'standard'): Promise<void> {
  await bench.admin.accounts.create({ id: account, plan });
  keys[account] = (await bench.admin.keys.create({ account, label: 'k' })).key;
}

const monthNow = () => new Date(bench.clock.now).toISOString().slice(0, 7);
const store = () => createAdminStore(bench.client, bench.table, 'test', () => bench.clock.now);

beforeAll(async () => {
  files = s3Storage(s3.client, s3.bucket);
  statements = statementsOf(store(), files);
  await bench.admin.plans.put({ code: 'standard', limits: { month: null } });
  await bench.admin.plans.put({ code: 'large', limits: { month: null } });
  bench.clock.now = Date.UTC(2025, 10, 3);
  for (const id of ['acme', 'shop', 'idle', 'gone']) await open(id);
  for (let i = 0; i < 12; i++) {
    const month = monthNow();
    await lookups('acme', 2 + (i % 3));
    await lookups('shop', i % 2);
    await lookups('gone', i === 0 ? 3 : 0);
    if (i === 6) await bench.admin.accounts.set({ id: 'acme', plan: 'large' });
    bench.clock.now += 13 * day;
    await lookups('acme', 1);
    await lookups('shop', 3);
    if (i === 0) {
      await bench.admin.accounts.suspend('gone');
      await bench.admin.accounts.delete('gone');
    }
    while (monthNow() === month) bench.clock.now += day;
    await lookups('shop', 1); // of the next month, before the last one is closed
    bench.clock.now += hour;
    expect(await statements.closeNext()).toMatchObject({ month, state: 'closed' });
  }
});

/** The days of a month in the model. */
function daysOfModel(account: string, month: string) {
  const days = Object.entries(model[account] ?? {}).filter(([date]) => date.startsWith(month));
  return days.toSorted().map(([date, lookups]) => ({ date, lookups }));
}

async function all(month: string, of = statements): Promise<Statement[]> {
  const found: Statement[] = [];
  for await (const statement of of.each(month)) found.push(statement);
  return found;
}

describe('the statement of a closed month', () => {
  it('has the lookups of each day of a year, for each account that existed, by id', async () => {
    const months = (await statements.months()).filter(({ state }) => state === 'closed');
    expect(months).toHaveLength(12);
    for (const { month, accounts, lookups } of months) {
      const found = await all(month);
      const expected = ['acme', ...(month === '2025-11' ? ['gone'] : []), 'idle', 'shop'];
      expect(found.map(({ account }) => account)).toEqual(expected);
      for (const { account, days } of found) {
        expect([account, days]).toEqual([account, daysOfModel(account, month)]);
      }
      expect([accounts, lookups]).toEqual([
        found.length,
        found.reduce((sum, one) => sum + one.lookups, 0),
      ]);
      for (const statement of found) {
        expect(await statements.show({ account: statement.account, month })).toEqual(statement);
      }
    }
  });

  it('says from when to when an account was under which plan, and what it used then, of a deleted one too', async () => {
    const plans = async (account: string, month: string) =>
      (await statements.show({ account, month })).plans;
    const sum = (month: string) =>
      daysOfModel('acme', month).reduce((total, { lookups }) => total + lookups, 0);
    const whole = { from: '2026-04-01', to: '2026-04-30', lookups: sum('2026-04') };
    expect(await plans('acme', '2026-04')).toEqual([{ plan: 'standard', ...whole }]);
    expect(await plans('acme', '2026-05')).toEqual([
      { plan: 'large', from: '2026-05-01', to: '2026-05-31', lookups: sum('2026-05') },
    ]);
    expect(await plans('acme', '2025-11')).toMatchObject([
      { from: '2025-11-03', to: '2025-11-30' },
    ]);
    expect(await plans('gone', '2025-11')).toEqual([
      { plan: 'standard', from: '2025-11-03', to: '2025-11-16', lookups: 3 },
    ]);
  });

  it('has a hash that a customer can compute, and its file has one too', async () => {
    const { sha256, ...content } = await statements.show({ account: 'acme', month: '2026-01' });
    expect(Object.keys(content)).toEqual(['month', 'account', 'plans', 'lookups', 'days']);
    expect(createHash('sha256').update(JSON.stringify(content)).digest('hex')).toBe(sha256);
    const marker = JSON.parse(
      Buffer.from((await files.get('statements/2026-01.json')) ?? []).toString(),
    );
    const file = (await files.get(marker.csv)) ?? '';
    expect(createHash('sha256').update(file).digest('hex')).toBe(marker.sha256);
  });

  it('as CSV has a column for each day, and their sum', async () => {
    const statement = await statements.show({ account: 'shop', month: '2026-02' });
    const [head, row] = statementsCsv('2026-02', [statement])
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    expect(head?.slice(0, 6)).toEqual(['account', 'plan', 'month', 'from', 'to', 'lookups']);
    expect(head?.slice(6, 8)).toEqual(['sha256', '2026-02-01']);
    expect(head).toHaveLength(7 + 28);
    const period = ['2026-02-01', '2026-02-28', String(statement.lookups)];
    expect(row?.slice(0, 6)).toEqual(['shop', 'standard', '2026-02', ...period]);
    expect(row?.slice(7).reduce((sum, units) => sum + Number(units), 0)).toBe(statement.lookups);
  });

  it('of all accounts is one file of CSV, with the same lines', async () => {
    const text = Buffer.from(await statements.csv('2026-02')).toString();
    expect(text).toBe(statementsCsv('2026-02', await all('2026-02')));
    const get: StatementFiles['get'] = async (key) =>
      key.endsWith('.csv') ? null : files.get(key);
    const gone = statementsOf(store(), { ...files, get });
    await expect(gone.csv('2026-02')).rejects.toThrow(/statements\/2026-02\/\w+\.csv is missing/);
  });

  it('stays as it is, whatever is counted, recorded or closed afterwards', async () => {
    const before = await all('2026-10');
    const closed = await statements.month('2026-10');
    // An instance whose clock is hours behind, on an account that had no lookup for months.
    const claim = readApiKey(keys.idle as string, [testChecksumSecret]);
    if (!claim) throw new Error('not a key');
    const slow = () => Date.UTC(2026, 9, 31, 23, 59) / 1000;
    const access = createAccessStore(bench.client, bench.table);
    await charge(access, claim, slow, AbortSignal.timeout(20_000));
    const { days } = await bench.admin.accounts.usage('idle', {
      from: '2026-10-01',
      to: '2026-11-30',
    });
    expect(days.filter(({ lookups }) => lookups > 0).map(({ date }) => date)).toEqual([
      '2026-11-01',
    ]);
    await bench.admin.accounts.set({ id: 'acme', plan: 'standard' });
    bench.clock.now += 10 * day;
    expect(await statements.close('2026-10')).toEqual(closed);
    expect(await all('2026-10')).toEqual(before);
    expect(await statements.closeNext()).toBeNull();
  });
});

describe('a month', () => {
  it('is refused with what to do while it is open, in the future, or no longer known', async () => {
    const refusal = (code: string, message: string) => ({
      code,
      message: expect.stringContaining(message),
    });
    const show = (month: string) => statements.show({ account: 'acme', month });
    await expect(show('2026-11')).rejects.toMatchObject(refusal('not_found', '2026-11 is open'));
    await expect(show('2026-12')).rejects.toMatchObject(
      refusal('invalid', '2026-12 has not begun yet'),
    );
    await expect(show('2025-10')).rejects.toMatchObject({
      ...refusal(
        'invalid',
        'Account "acme" was created in 2025-11; nothing exists before that month.',
      ),
      reason: 'month',
      firstMonth: '2025-11',
    });
    await expect(statements.close('2026-11')).rejects.toMatchObject(
      refusal('invalid', 'can be closed from 2026-12-01T01:00:00Z'),
    );
    for (const refused of [
      statements.close('2025-10'),
      statements.month('2025-10'),
      statements.csv('2024-09'),
    ]) {
      await expect(refused).rejects.toMatchObject({
        ...refusal('invalid', 'The first account was created in 2025-11'),
        reason: 'month',
        firstMonth: '2025-11',
      });
    }
    await setRetention(store(), 3);
    const other = statementsOf(store(), { ...files, get: async () => null });
    await expect(other.close('2026-07')).rejects.toMatchObject(
      refusal('invalid', 'kept for 3 whole months'),
    );
    await setRetention(store(), 25);
    await expect(statements.show({ account: 'nobody', month: '2026-10' })).rejects.toMatchObject(
      refusal('not_found', 'There is no account "nobody".'),
    );
  });

  it('is listed from that of the first account on; for one account while it existed', async () => {
    const names = async (scope?: { account: string }) =>
      (await statements.months(scope)).map(({ month }) => month);
    expect([(await names()).length, (await names()).at(-1)]).toEqual([13, '2025-11']);
    expect(await names({ account: 'gone' })).toEqual(['2025-11']);
    const restore = await bench.saved();
    const { now } = bench.clock;
    bench.clock.now = Date.UTC(2026, 8, 30, 23);
    await bench.admin.accounts.create({ id: 'young', plan: 'standard' });
    bench.clock.now = now;
    expect(await names({ account: 'young' })).toEqual(['2026-11', '2026-10', '2026-09']);
    await expect(statements.show({ account: 'young', month: '2026-08' })).rejects.toMatchObject({
      reason: 'month',
    });
    await expect(statements.months({ account: 'nobody' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await restore();
  });

  it('is open, then closing, then closed', async () => {
    const { now } = bench.clock;
    expect((await statements.months())[0]).toMatchObject({
      month: '2026-11',
      state: 'open',
      lookups: null,
    });
    bench.clock.now = Date.UTC(2026, 11, 1, 0, 59);
    expect(await statements.month('2026-11')).toMatchObject({ state: 'closing' });
    expect(await statements.closeNext()).toBeNull();
    bench.clock.now = Date.UTC(2026, 11, 1, 1);
    await open('new');
    expect(await statements.closeNext()).toMatchObject({
      month: '2026-11',
      state: 'closed',
      accounts: 3,
    });
    expect((await all('2026-11')).map(({ account }) => account)).not.toContain('new');
    bench.clock.now = now;
  });

  it('is closed once by two that close it at the same moment, also in a folder', async () => {
    const folder = join(folders, 'together');
    const local = statementsOf(store(), folderStorage(folder));
    const later = createAdminStore(
      bench.client,
      bench.table,
      'test',
      () => bench.clock.now + 5_000,
    );
    const other = statementsOf(later, folderStorage(folder));
    const both = await Promise.all([local.close('2026-09'), other.close('2026-09')]);
    expect(both[1]).toEqual(both[0]);
    const found = await all('2026-09', local);
    expect(found.map(({ account, days }) => [account, days])).toEqual(
      ['acme', 'idle', 'shop'].map((account) => [account, daysOfModel(account, '2026-09')]),
    );
    expect((await local.months()).filter(({ state }) => state === 'closed')).toHaveLength(1);
  });

  inSweep(
    'is closed with the statements that an attempt before has written, of many accounts whose ids differ in case',
    async () => {
      // Accounts are read 100 at once.
      const many = isFullSweep ? 230 : 130;
      const ids = Array.from({ length: many }, (_, i) => `many-${String(i).padStart(3, '0')}`);
      await bench.addCopies('idle', [...ids, 'ACME'], {
        [accessItem.created]: Date.UTC(2025, 10, 3) / 1000,
      });
      const kept = folderStorage(join(folders, 'dying'));
      let written = 0;
      const dying = statementsOf(store(), {
        ...kept,
        put: async (...given) => {
          if (++written > many - 20) throw new Error('the process ended');
          return kept.put(...given);
        },
      });
      await expect(dying.close('2026-09')).rejects.toThrow('the process ended');
      const local = statementsOf(store(), kept);
      expect(await local.close('2026-09')).toMatchObject({ accounts: many + 4 });
      const found = await all('2026-09', local);
      expect(found).toHaveLength(many + 4);
      for (const statement of found.filter(({ account }) =>
        /^(?:acme|ACME|many-0\d9|shop)$/.test(account),
      )) {
        expect(await local.show({ account: statement.account, month: '2026-09' })).toEqual(
          statement,
        );
      }
      for (const account of ['a', 'many-0995', 'zzz']) {
        await expect(local.show({ account, month: '2026-09' })).rejects.toMatchObject({
          code: 'not_found',
        });
      }
    },
  );
});
