import { createHash } from 'node:crypto';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { runCommandLine } from '../../../bin/bag-adres.ts';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../core/accounts/charge/charge.ts';
import { createRefusalCount } from '../../../core/accounts/usage-record.ts';
import { dateOf } from '../../../core/calendar.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { testChecksumSecret } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { run, startLocalRun } from '../command-line.ts';

const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const today = dateOf(now);
const yesterday = dateOf(now - day);

const bench = startForTests(startLocalRun, 30_000);
beforeAll(async () => {
  await bench.run('plan put standard --limit month=unlimited');
  const client = DynamoDBDocumentClient.from(bench.client);
  const past = createAdmin({ client, table: 'accounts', now: () => (now - 400 * day) * 1000 });
  for (const id of ['acme', 'gone', 'idle']) await past.accounts.create({ id, plan: 'standard' });
  await lookups('acme', now - day, 3);
  await lookups('acme', now, 2);
  await lookups('gone', now, 1);
  await bench.run('account suspend gone');
  await bench.run('account delete gone');
});

/** Charges an account so many lookups at `at`, with a new key whose id it returns. */
async function lookups(account: string, at: number, count: number, label = 'k'): Promise<string> {
  const { key } = await bench.json('key', 'create', '--account', account, '--label', label);
  const claim = readApiKey(key, [testChecksumSecret]);
  if (!claim) throw new Error('not a key');
  const client = DynamoDBDocumentClient.from(bench.client);
  const access = createAccessStore(client, 'accounts');
  for (let i = 0; i < count; i++) {
    await charge(access, claim, () => at, AbortSignal.timeout(20_000));
  }
  return claim.keyId;
}

/** The month so many months from `seconds`. */
function monthsFrom(seconds: number, months: number): string {
  const date = new Date(seconds * 1000);
  return dateOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / 1000).slice(0, 7);
}

describe('account usage', () => {
  it('--json prints each day of the range, today included', async () => {
    const range = ['--from', dateOf(now - 2 * day), '--to', today];
    expect(await bench.json('account', 'usage', 'acme', ...range)).toEqual({
      account: 'acme',
      from: dateOf(now - 2 * day),
      to: today,
      days: [
        { date: dateOf(now - 2 * day), lookups: 0 },
        { date: yesterday, lookups: 3 },
        { date: today, lookups: 2 },
      ],
      refusals: [],
    });
  });

  it('shows the last 30 days as a table with the sum', async () => {
    const { exit, out } = await bench.run('account usage acme');
    expect(exit).toBe(0);
    expect(out).toMatch(new RegExp(`${yesterday} +3`));
    expect(out).toMatch(/5 lookups in 30 days\.$/);
  });

  it('--by month sums the months, 12 of them without a range', async () => {
    const { months, days } = await bench.json('account usage acme --by month');
    expect(days).toBeUndefined();
    expect(months).toHaveLength(12);
    expect(months.reduce((sum: number, { lookups }: { lookups: number }) => sum + lookups, 0)).toBe(
      5,
    );
    expect(months.at(-1).month).toBe(today.slice(0, 7));
  });

  it.each([
    [['--from', '2026-02-30'], 'is a UTC date'],
    [['--from', today, '--to', yesterday], 'ends'],
    [['--from', '2020-01-01', '--to', '2026-01-01'], 'at most 1100 days'],
  ])('refuses the range %j and says what is wrong', async (range, message) => {
    const { exit, err } = await bench.run('account', 'usage', 'acme', ...range);
    expect([exit, err]).toEqual([1, expect.stringContaining(message)]);
  });

  it('reports that the account does not exist', async () => {
    const { exit, err } = await bench.run('account usage nobody');
    expect([exit, err]).toEqual([1, expect.stringContaining('There is no account "nobody".')]);
  });
});

describe('refusals', () => {
  it('are listed below the usage if there are any, marked as not exact, and never in an export', async () => {
    const before = await bench.json('account usage idle');
    expect(before.refusals).toEqual([]);
    const refusals = createRefusalCount(bench.client, 'accounts');
    for (const code of ['quota-exceeded', 'quota-exceeded', 'invalid-input'] as const) {
      refusals.note('idle', code, now);
    }
    refusals.flush(now);
    let json = before;
    while (json.refusals.length === 0) json = await bench.json('account usage idle');
    expect(json.refusals).toEqual([{ date: today, quota: 2, input: 1, inactive: 0 }]);
    expect(json.days).toEqual(before.days);
    const { out } = await bench.run('account usage idle --by month');
    expect(out).toMatch(/Refused.*not exact/);
    expect(out).toMatch(new RegExp(`${today.slice(0, 7)} +2 +1 +0`));
    const exported = await bench.run('usage', 'export', '--month', today.slice(0, 7), '--csv');
    expect(exported.out.split('\n')[0]).toBe('account,month,lookups');
    expect(exported.out).toContain(`idle,${today.slice(0, 7)},0`);
  });
});

describe('statements', () => {
  const month = monthsFrom(now, -1);
  const inMonth = Math.floor(Date.parse(`${month}-10T12:00:00Z`) / 1000);

  it('of a month that still counts are not closed by a clock that is ahead', async () => {
    const clock = jest
      .spyOn(Date, 'now')
      .mockReturnValue(Date.parse(`${monthsFrom(now, 1)}-02T00:00:00Z`));
    try {
      const { exit, err } = await bench.run(
        'usage',
        'close',
        '--month',
        monthsFrom(now, 0),
        '--json',
      );
      expect([exit, JSON.parse(err)]).toMatchObject([1, { error: { code: 'clock' } }]);
    } finally {
      clock.mockRestore();
    }
    const [current] = await bench.json('usage months');
    expect(current).toMatchObject({ month: monthsFrom(now, 0), state: 'open' });
  });

  it('of a month that has ended are closed once, then printed and exported as they are', async () => {
    const client = DynamoDBDocumentClient.from(bench.client);
    const past = createAdmin({ client, table: 'accounts', now: () => inMonth * 1000 });
    await past.accounts.create({ id: 'older', plan: 'standard' });
    await lookups('older', inMonth, 4);
    const open = await bench.run('usage', 'export', '--month', month, '--csv');
    expect([open.out, open.err]).toEqual([
      expect.stringContaining(`older,${month},4`),
      `${month} has ended, but is not closed yet: these numbers may still change.`,
    ]);
    const before = await bench.run('usage', 'statement', 'older', '--month', month);
    expect([before.exit, before.err]).toEqual([
      1,
      expect.stringMatching(
        /not closed yet.*"npx bag-adres usage close --month \d{4}-\d\d --local/,
      ),
    ]);
    const closed = await bench.json('usage', 'close', '--month', month);
    expect(closed).toMatchObject({ month, state: 'closed', lookups: expect.any(Number) });
    await lookups('older', now, 2);

    const { sha256, ...content } = await bench.json(
      'usage',
      'statement',
      'older',
      '--month',
      month,
    );
    const days = [{ date: `${month}-10`, lookups: 4 }];
    const to = dateOf(Date.parse(`${monthsFrom(now, 0)}-01T00:00:00Z`) / 1000 - day);
    const plans = [{ plan: 'standard', from: `${month}-10`, to, lookups: 4 }];
    expect(content).toEqual({ month, account: 'older', plans, lookups: 4, days });
    expect(createHash('sha256').update(JSON.stringify(content)).digest('hex')).toBe(sha256);
    const csv = (await bench.run('usage', 'statement', 'older', '--month', month, '--csv')).out;
    expect(csv.split('\n')[1]).toMatch(
      new RegExp(`^older,standard,${month},${month}-10,${to},4,${sha256},0,`),
    );
    const shown = await bench.run('usage', 'statement', 'older', '--month', month);
    expect(shown.out).toMatch(new RegExp(`standard +${month}-10 +${to} +4`));
    expect(shown.out).toMatch(
      new RegExp(`${month}-10 +4[\\s\\S]*4 lookups\\. SHA-256: ${sha256}$`),
    );
    const months = await bench.json('usage months');
    expect(months.map(({ state }: { state: string }) => state).slice(0, 2)).toEqual([
      'open',
      'closed',
    ]);
    const exported = await bench.run('usage', 'export', '--month', month, '--csv');
    expect(exported.out).toContain(`older,${month},4`);
    expect(exported.err).toMatch(
      new RegExp(`^${month} was closed at .* SHA-256 of its statements is ${closed.sha256}`),
    );
    expect(await bench.json('usage', 'close', '--month', month)).toEqual(closed);
    const byDay = await bench.json('usage', 'export', '--month', month, '--by', 'day');
    expect(byDay).toContainEqual({ account: 'older', date: `${month}-10`, lookups: 4 });
    expect(byDay).toContainEqual({ account: 'older', date: `${month}-11`, lookups: 0 });
  });

  it('need the place where they are kept', async () => {
    const { exit, err } = await run(['usage', 'months', '--accounts-table', 'accounts'], {
      AWS_REGION: 'eu-west-1',
    });
    expect([exit, err]).toEqual([1, expect.stringContaining('or set STATEMENTS_BUCKET')]);
  });
});

describe('usage export', () => {
  it('--csv lists every account in a month, and a deleted one with lookups', async () => {
    const { exit, out: all } = await bench.run(
      'usage',
      'export',
      '--month',
      today.slice(0, 7),
      '--csv',
    );
    const out = all.replace(/\nolder,.*/, ''); // of the statements above
    const month = today.slice(0, 7);
    const ofMonth = yesterday.startsWith(month) ? 5 : 2;
    expect([exit, out]).toEqual([
      0,
      `account,month,lookups\nacme,${month},${ofMonth}\ngone,${month},1\nidle,${month},0`,
    ]);
  });

  it('prints columns for people, each account as soon as it is read', async () => {
    const month = today.slice(0, 7);
    const out: string[] = [];
    const terminal = { out: (text: string) => out.push(text), err: () => undefined, env: {} };
    await runCommandLine(['usage', 'export', '--month', month, ...bench.local], terminal);
    expect(out[0]).toMatch(/^account +month +lookups$/);
    expect(out.find((line) => line.startsWith('gone'))).toMatch(
      new RegExp(`^gone {29}${month} +1$`),
    );
    expect(out.length).toBeGreaterThan(3);
    expect(new Set(out.map((line) => line.length)).size).toBe(1);
  });

  it('--by day has a line for each day', async () => {
    const { out } = await bench.run(
      'usage',
      'export',
      '--month',
      today.slice(0, 7),
      '--by',
      'day',
      '--csv',
    );
    expect(out).toMatch(/^account,date,lookups\n/);
    expect(out.split('\n')).toContain(`acme,${today},2`);
  });

  it.each([
    [monthsFrom(now, 1), /has not begun yet; the current month is/],
    [
      monthsFrom(now, -26),
      /The first account was created in \d{4}-\d\d; .* Choose \d{4}-\d\d or later\./,
    ],
  ])(
    'refuses the month %s, of which there is nothing, as a mistake of usage',
    async (month, message) => {
      for (const command of ['export', 'close', 'statement acme']) {
        const { exit, out, err } = await bench.run(
          'usage',
          ...command.split(' '),
          '--month',
          month,
        );
        const ofAccount =
          /Account "acme" was created in \d{4}-\d\d; .* Choose \d{4}-\d\d or later\./;
        const expected =
          command === 'statement acme' && /first account/.test(message.source)
            ? ofAccount
            : message;
        expect([command, exit, out, err]).toEqual([
          command,
          2,
          '',
          expect.stringMatching(expected),
        ]);
      }
    },
  );

  it.each([['2026-13'], ['2026'], ['november']])('refuses the month %s', async (month) => {
    const { exit, err } = await bench.run('usage', 'export', '--month', month);
    expect([exit, err]).toEqual([
      2,
      expect.stringContaining('--month takes a month, like 2026-11'),
    ]);
  });
});

describe('account usage --by-key', () => {
  const range = ['--from', yesterday, '--to', today];
  const commands = () => ['account', 'usage', 'keyed', '--by-key', ...range];
  let used: string;

  beforeAll(async () => {
    const client = DynamoDBDocumentClient.from(bench.client);
    const past = createAdmin({ client, table: 'accounts', now: () => (now - day) * 1000 });
    await past.accounts.create({ id: 'keyed', plan: 'standard' });
    await lookups('keyed', now - day, 1, 'an old one');
    used = await lookups('keyed', now, 3, '=HYPERLINK("x"), y');
    const older = (await bench.json('key list --account keyed')) as {
      key_id: string;
      label: string;
    }[];
    const { key_id: keyId } = older.find(({ label }) => label === 'an old one') ?? { key_id: '' };
    await bench.run('key', 'revoke', '--account', 'keyed', keyId);
    await bench.run('key create --account keyed --label unused');
  });

  it('shows how often each key was used, the most used one first, revoked ones too, with the sum', async () => {
    const { exit, out } = await bench.run(...commands());
    expect(exit).toBe(0);
    const rows = out.split('\n').filter((line) => line.includes('%'));
    expect(rows.map((row) => row.split(/ {2,}/).slice(1))).toEqual([
      ['=HYPERLINK("x"), y', '3', '75%', 'today'],
      ['an old one (revoked)', '1', '25%', 'yesterday'],
      ['unused', '0', '0%', '-'],
    ]);
    expect(out).toMatch(new RegExp(`4 lookups from ${yesterday} to ${today}\\.$`));
  });

  it('--json prints the days of each key and what belongs to none', async () => {
    const usage = await bench.json(...commands());
    expect(usage).toMatchObject({ account: 'keyed', from: yesterday, to: today, lookups: 4 });
    expect(usage.keys[0]).toEqual({
      key_id: used,
      label: '=HYPERLINK("x"), y',
      revoked: false,
      lookups: 3,
      days: [{ date: today, lookups: 3 }],
    });
    expect(usage.unattributed).toEqual({ lookups: 0, days: [] });
  });

  it('--csv quotes labels, and leaves no formula in them to a spreadsheet', async () => {
    const { out } = await bench.run(...commands(), '--csv');
    const [head, first] = out.split('\r\n');
    expect(head).toBe('account,key_id,label,date,lookups');
    expect(first).toBe(`keyed,${used},"'=HYPERLINK(""x""), y",${today},3`);
    const months = (await bench.run(...commands(), '--csv', '--by', 'month')).out.split('\r\n');
    expect(months.slice(0, 2)).toEqual([
      'account,key_id,label,month,lookups',
      expect.stringContaining(`,${today.slice(0, 7)},3`),
    ]);
  });

  it('without --by-key prints the sums as CSV too, and refuses --csv with --json', async () => {
    const { out } = await bench.run('account', 'usage', 'keyed', ...range, '--csv');
    expect(out.split('\n')).toEqual([
      'account,date,lookups',
      `keyed,${yesterday},1`,
      `keyed,${today},3`,
    ]);
    const both = await bench.run(...commands(), '--csv', '--json');
    expect([both.exit, both.err]).toEqual([
      2,
      expect.stringContaining("'--csv' cannot be used with option '--json'"),
    ]);
  });
});
