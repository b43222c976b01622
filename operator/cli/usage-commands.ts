import { environment } from '../../core/environment.ts';
import type {
  DayUsage,
  ListedUsage,
  UsageByKey,
  UsageRange,
} from '../../packages/admin/accounts/usage.ts';
import type { Statement, Statements, UsageMonth } from '../../packages/admin/monthly-statements.ts';
import { csvText } from '../../packages/ui/csv.ts';
import {
  type PeriodCounts,
  type PeriodSum,
  periodName,
  sumsBy,
} from '../../packages/ui/periods.ts';
import { CommandError } from '../deployment/errors.ts';
import type { OpenAdmin } from '../deployment/find-tables.ts';
import { addCalls, type CommandRow, call, id, option, required } from './calls.ts';
import type { CliCommand } from './command.ts';
import { ago, counted, lines, table, thousands } from './terminal-text.ts';
import { month, monthRange } from './values.ts';

type Granularity = 'day' | 'month';
type UsageOptions = {
  id: string;
  from?: string;
  to?: string;
  by: Granularity;
  byKey?: true;
  csv?: true;
};

/** The names of the periods in CSV and JSON. */
const periodNames = { day: 'date', month: 'month' } as const;

const csvOption = (description: string) => option('--csv', description).conflicts('json');
const byPeriod = (fallback: Granularity) =>
  option('--by <period>', 'sums by day or by month').choices(['day', 'month']).default(fallback);

export const accountUsage: CommandRow = {
  description:
    'show the lookups of an account for each UTC day or month, exactly as counted for the quota, today included',
  takes: [
    id('the account, deleted or not'),
    option('--from <date>', 'the first day, like 2026-11-01, or month, like 2026-11'),
    option('--to <date>', 'the last day or month (default: today)'),
    byPeriod('day'),
    option('--by-key', 'which keys were used how often, instead of the sum of all keys'),
    csvOption('print CSV'),
  ],
  notes: `Without --from: the last 30 days, or with --by month the last 12 months. Refusals of requests with a valid key are listed
below, if any. They do not count against the quota. There may have been more: an instance that ends loses its counts.
The numbers by key are exact. Lookups without a known key are listed as not attributed, so the sum equals the account's.`,
  examples: [
    'account usage acme --by month --local',
    'account usage acme --by-key --from 2026-11 --local',
  ],
  check: ({ from, to, by }: UsageOptions) => void rangeOf(from, to, by),
  async run({ admin }, { id, from, to, by, byKey, csv }: UsageOptions) {
    const range = rangeOf(from, to, by);
    // Twelve months, or as many as there are.
    const first =
      from === undefined && by === 'month' ? await admin.accounts.usageKeptSince(id) : '';
    if (range.from !== undefined && range.from < first) range.from = first;
    if (byKey) {
      const usage = await admin.accounts.usageByKey(id, range);
      return { json: usage, text: csv ? csvByKey(usage, by) : renderByKey(usage), isVerbatim: csv };
    }
    const { days, refusals, ...usage } = await admin.accounts.usage(id, range);
    const rows = sumsBy(by, days);
    if (csv) {
      const lines = rows.map((sum) => `${id},${periodName(by, sum)},${sum.lookups}`);
      return { json: null, text: [`account,${periodNames[by]},lookups`, ...lines].join('\n') };
    }
    const refused = sumsBy(by, refusals);
    const json = {
      ...usage,
      [`${by}s`]: named(rows, by),
      refusals: named(refused, by, ['quota', 'input', 'inactive']),
    };
    return { json, text: renderUsage(rows, refused, by) };
  },
};

function rangeOf(from: string | undefined, to: string | undefined, by: Granularity): UsageRange {
  const daysOf = (option: string, text: string) =>
    /^\d{4}-\d\d$/.test(text) ? monthRange(option, text) : { from: text, to: text };
  const last = to === undefined ? {} : { to: daysOf('--to', to).to };
  if (from !== undefined) return { from: daysOf('--from', from).from, ...last };
  if (by === 'day') return last;
  const end = last.to === undefined ? new Date() : new Date(`${last.to}T00:00:00Z`);
  if (Number.isNaN(end.getTime())) return last; // refused with the form of a date
  const first = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 11, 1));
  return { from: first.toISOString().slice(0, 10), ...last };
}

/** Some counts of each sum, with its period as CSV and JSON call it. */
function named(
  sums: readonly PeriodSum[],
  by: Granularity,
  names: readonly (keyof PeriodCounts)[] = ['lookups'],
) {
  return sums.map((sum) => {
    return {
      [periodNames[by]]: periodName(by, sum),
      ...Object.fromEntries(names.map((name) => [name, sum[name]])),
    };
  });
}

/**
 * A line for each key and each period with lookups. Lookups without a known key have an empty key
 * id and label.
 */
function csvByKey({ account, keys, unattributed }: UsageByKey, by: Granularity): string {
  const rows = [...keys, { ...unattributed, keyId: '', label: '' }].flatMap(
    ({ keyId, label, days }) =>
      sumsBy(by, days).map((sum) => [account, keyId, label, periodName(by, sum), sum.lookups]),
  );
  return csvText([['account', 'key_id', 'label', periodNames[by], 'lookups'], ...rows]).trimEnd();
}

function renderUsage(rows: PeriodSum[], refused: PeriodSum[], by: Granularity): string {
  const sum = rows.reduce((total, { lookups }) => total + lookups, 0);
  return lines(
    table([by, 'lookups'], rows, (sum) => [periodName(by, sum), sum.lookups]),
    `${counted(sum, 'lookup')} in ${counted(rows.length, by)}.`,
    refused.length > 0 && [
      '',
      'Refused, and not counted for the quota; not exact, there may have been more:',
      table([by, 'over a limit', 'invalid input', 'inactive'], refused, (sum) => {
        return [periodName(by, sum), sum.quota, sum.input, sum.inactive];
      }),
    ],
  );
}

function renderByKey({ from, to, lookups, keys, unattributed }: UsageByKey): string {
  const rest = { ...unattributed, keyId: '-', label: 'not attributed', revoked: null };
  const rows = [...keys, ...(unattributed.lookups > 0 ? [rest] : [])];
  return lines(
    table(
      ['key', 'label', 'lookups', 'share', 'last used'],
      rows,
      ({ keyId, label, revoked, lookups: part, days }) => {
        const share = lookups === 0 ? '-' : `${Math.round((part / lookups) * 100)}%`;
        return [
          keyId,
          `${label ?? '-'}${revoked ? ' (revoked)' : ''}`,
          part,
          share,
          ago(days.at(-1)?.date),
        ];
      },
    ),
    `${counted(lookups, 'lookup')} from ${from} to ${to}.`,
  );
}

type OfMonth = { month: string };
type ExportOptions = OfMonth & { by: Granularity; csv?: true; json?: true };

const ofMonth = (example: string) =>
  required('--month <month>', `the UTC month, like ${example}`, month);

/** `usage export`, `statement`, `months` and `close`. */
export function addUsageCommands(program: CliCommand): void {
  addCalls(program.command('usage').description('lookups of all accounts, for invoices'), {
    export: {
      description:
        'list the lookups of every account in a month, exactly as counted for the quota; deleted accounts too',
      takes: [
        ofMonth('2026-11'),
        csvOption(
          'print CSV with the header account,month,lookups, or account,date,lookups with --by day',
        ),
        byPeriod('month'),
      ],
      notes:
        'A month that is closed is printed from its statements, which never change. Another one may still grow: see "usage months".',
      examples: ['usage export --month 2026-11 --csv --local'],
      async run({ admin, statements: find }, { month, ...options }: ExportOptions) {
        const statements = await find();
        const found = await statements?.month(month);
        const accounts =
          statements && found?.state === 'closed'
            ? fromStatements(statements, month)
            : admin.accounts.eachUsage(monthRange('--month', month));
        return { lines: exported(accounts, options), hint: found && renderState(found) };
      },
    },
    statement: {
      description: 'print the statement of an account for a closed month, which never changes',
      takes: [
        id('the account, deleted or not'),
        ofMonth('2026-10'),
        csvOption('print CSV: a row for each period under a plan, with a column for each day'),
      ],
      notes: `A statement has the periods under each plan, the days with lookups, their sum, and the SHA-256 of all that: with --json of its
other members, as JSON in the printed order, without spaces. The day of a change is wholly under the new plan.`,
      examples: ['usage statement acme --month 2026-10 --csv --local'],
      async run(opened, { id: account, month, csv }: OfMonth & { id: string; csv?: true }) {
        const statement = await (await requireStatements(opened)).show({ account, month });
        const { daysOf, statementsCsv } = await import(
          '../../packages/admin/monthly-statements.ts'
        );
        const text = csv
          ? statementsCsv(month, [statement]).trimEnd()
          : renderStatement(statement, daysOf(statement));
        return { json: statement, text, isVerbatim: csv };
      },
    },
    months: call({
      description:
        'list the months: open, closing (ended, but not closed yet) or closed, with what all accounts used',
      call: async (opened) => (await requireStatements(opened)).months(),
      text: (months) =>
        table(['month', 'state', 'closed', 'accounts', 'lookups'], months, (month) => {
          return [month.month, month.state, month.closed, month.accounts, month.lookups];
        }),
    }),
    close: call({
      description:
        'close a month that has ended: write the statements of all accounts, which never change again',
      takes: [ofMonth('2026-10')],
      notes: `The hourly job closes a month by itself, an hour after its end; with --local, close it yourself. A closed month never
changes.`,
      examples: ['usage close --month 2026-10 --local'],
      async plan(opened, { month }: OfMonth) {
        await requireStatements(opened);
        // A clock that is ahead would close a month that still counts lookups.
        const { checkClock } = await import('../deployment/check-clock.ts');
        await checkClock(opened);
        return `Closes ${month}: writes the statements of all accounts, which never change again.`;
      },
      call: async (opened, { month }) => (await requireStatements(opened)).close(month),
      text: (closed) =>
        `${renderState(closed)} It has ${counted(closed.lookups ?? 0, 'lookup')} of ${counted(closed.accounts ?? 0, 'account')}.`,
    }),
  });
}

type Exported = Pick<ListedUsage, 'account' | 'days'>;

async function* fromStatements(statements: Statements, month: string): AsyncGenerator<Exported> {
  const { daysOf } = await import('../../packages/admin/monthly-statements.ts');
  for await (const statement of statements.each(month)) {
    yield { account: statement.account, days: daysOf(statement) };
  }
}

/**
 * The rows of all accounts, as they are read. Nothing comes before the first account: a refusal
 * prints nothing.
 */
async function* exported(
  accounts: AsyncIterable<Exported>,
  { by, csv, json }: Omit<ExportOptions, 'month'>,
) {
  // Aligned without knowing the rows to come: an account id has up to 32 characters.
  const line = (account: string, at: string, lookups: string) =>
    csv
      ? `${account},${at},${lookups}`
      : `${account.padEnd(33)}${at.padEnd(11)}${lookups.padStart(12)}`;
  const shown = (lookups: number) => (csv ? String(lookups) : thousands(lookups));
  let before = json ? '[' : line('account', periodNames[by], 'lookups');
  for await (const { account, days } of accounts) {
    const found = sumsBy(by, days);
    if (json) {
      const items = named(found, by).map((row) => ({ account, ...row }));
      yield `${before}${JSON.stringify(items, null, 2).slice(1, -1).trimEnd()}`;
      before = ',';
    } else {
      yield before;
      before = found
        .map((sum) => line(account, periodName(by, sum), shown(sum.lookups)))
        .join('\n');
    }
  }
  yield !json ? before : before === '[' ? '[]' : ']';
}

function renderState({ month, state, closed, sha256 }: UsageMonth): string {
  if (state === 'closed') {
    return `${month} was closed at ${closed}; the SHA-256 of its statements is ${sha256}.`;
  }
  if (state === 'open') return `${month} is open: these numbers still grow.`;
  return `${month} has ended, but is not closed yet: these numbers may still change.`;
}

function renderStatement(
  { account, month, plans, lookups, sha256 }: Statement,
  days: readonly DayUsage[],
): string {
  return lines(
    `Account ${account}, ${month}`,
    table(['plan', 'from', 'to', 'lookups'], plans, ({ plan, from, to, lookups }) => [
      plan,
      from,
      to,
      lookups,
    ]),
    table(['day', 'lookups'], days, ({ date, lookups }) => [date, lookups]),
    `${counted(lookups, 'lookup')}. SHA-256: ${sha256}`,
  );
}

/** @throws CommandError */
async function requireStatements(opened: OpenAdmin): Promise<Statements> {
  const statements = await opened.statements();
  if (statements) return statements;
  const message = `No bucket of statements is known. Use --local or --stage NAME, or set ${environment.statementsBucket}.`;
  throw new CommandError('no_bucket', message);
}
