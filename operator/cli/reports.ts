import { Option } from 'commander';
import type { AuditEntry } from '../../core/accounts/admin/audit.ts';
import type { DayRefusals, UsageRange } from '../../core/accounts/admin/usage.ts';
import { type RefusalCounts, refusalKinds } from '../../core/accounts/usage-record.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import { type UsageByKey, usageByKeyCsv } from '../../packages/admin/usage-by-key.ts';
import { UsageError } from '../connect/errors.ts';
import { type CliCommand, counted, snakeCase, thousands } from './command.ts';
import { table } from './table.ts';
import { accountId, monthRange } from './values.ts';

/** What a row of usage sums up. */
export type Granularity = 'day' | 'month';
type UsageOptions = { from?: string; to?: string; by: Granularity; byKey?: true; csv?: true };

/** Lookups of a day (`2026-11-21`) or a month (`2026-11`). */
type PeriodRow = { period: string; lookups: number };

/** Adds `account usage`. */
export function addAccountUsage(account: CliCommand): void {
  account
    .command('usage')
    .description(
      'show the lookups of an account for each UTC day or month, exactly as counted for the quota, today included',
    )
    .argument('<id>', 'the account; also one that was deleted', accountId)
    .option('--from <date>', 'the first day, like 2026-11-01, or month, like 2026-11')
    .option('--to <date>', 'the last day or month (default: today)')
    .addOption(byPeriod('day'))
    .option('--by-key', 'which keys were used how often, instead of the sum of all keys')
    .addOption(csvOption('print CSV'))
    .notes(
      `Without --from: the last 30 days, or with --by month the last 12 months. Refusals of requests with a valid key are listed
below, where there were any. They do not count against the quota. There may have been more: an instance that ends loses its counts.
The numbers by key are exact. Lookups that belong to no key that is known are listed as not attributed, so the sum is that of the account.`,
    )
    .examples('account usage acme --by month --local', 'account usage acme --by-key --from 2026-11 --local')
    .checks((_: string, { from, to, by }: UsageOptions) => void rangeOf(from, to, by))
    .onAccounts(async ({ admin }, id: string, { from, to, by, byKey, csv }: UsageOptions) => {
      const range = rangeOf(from, to, by);
      // Twelve months, or as many as are kept.
      const kept = from === undefined && by === 'month' ? await admin.accounts.usageKeptSince() : '';
      if (range.from !== undefined && range.from < kept) range.from = kept;
      if (byKey) {
        const usage = await admin.accounts.usageByKey(id, range);
        const text = csv ? usageByKeyCsv(usage, by).trimEnd() : renderByKey(usage);
        return { json: usage, text, isVerbatim: csv };
      }
      const { days, refusals, ...usage } = await admin.accounts.usage(id, range);
      const rows = rowsOf(days, by);
      if (csv) {
        const lines = rows.map(({ period, lookups }) => `${id},${period},${lookups}`);
        return { json: null, text: [`account,${by === 'day' ? 'date' : 'month'},lookups`, ...lines].join('\n') };
      }
      const counts = by === 'day' ? { days, refusals } : { months: byMonth(rows), refusals: refusalsByMonth(refusals) };
      const text = `${renderUsage(rows, by, account.terminal.columns)}${renderRefusals(refusals, by)}`;
      return { json: { ...usage, ...counts }, text };
    });
}

/** `--csv`. */
export function csvOption(description: string): Option {
  return new Option('--csv', description).conflicts('json');
}

/** `--by`. */
export function byPeriod(fallback: Granularity): Option {
  return new Option('--by <period>', 'sums by day or by month').choices(['day', 'month']).default(fallback);
}

function rangeOf(from: string | undefined, to: string | undefined, by: Granularity): UsageRange {
  const last = to === undefined ? {} : { to: /^\d{4}-\d\d$/.test(to) ? monthRange('--to', to).to : to };
  if (from !== undefined) {
    return { from: /^\d{4}-\d\d$/.test(from) ? monthRange('--from', from).from : from, ...last };
  }
  if (by === 'day') return last;
  const end = last.to === undefined ? new Date() : new Date(`${last.to}T00:00:00Z`);
  if (Number.isNaN(end.getTime())) return last; // refused with the form of a date
  const first = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 11, 1));
  return { from: first.toISOString().slice(0, 10), ...last };
}

/** The lookups by day or month. */
export function rowsOf(days: readonly { date: string; lookups: number }[], by: Granularity): PeriodRow[] {
  const sums = new Map<string, number>();
  for (const { date, lookups } of days) {
    const period = by === 'day' ? date : date.slice(0, 7);
    sums.set(period, (sums.get(period) ?? 0) + lookups);
  }
  return [...sums].map(([period, lookups]) => ({ period, lookups }));
}

function byMonth(rows: PeriodRow[]): { month: string; lookups: number }[] {
  return rows.map(({ period, lookups }) => ({ month: period, lookups }));
}

/** A table, or on a terminal of so many columns a bar for each row. */
function renderUsage(rows: PeriodRow[], by: Granularity, columns: number | undefined): string {
  const sum = rows.reduce((total, { lookups }) => total + lookups, 0);
  const total = `${counted(sum, 'lookup')} in ${counted(rows.length, by)}.`;
  const cells = rows.map(({ period, lookups }) => [period, thousands(lookups)]);
  if (columns === undefined) return [table([by, 'lookups'], cells), total].join('\n');
  const most = Math.max(1, ...rows.map(({ lookups }) => lookups));
  const width = Math.max(...cells.map(([, lookups = '']) => lookups.length));
  const space = Math.max(10, Math.min(60, columns - 10 - width - 4));
  const lines = rows.map(({ period, lookups }) => {
    // A row with lookups always shows something.
    const length = lookups === 0 ? 0 : Math.max(1, Math.round((lookups / most) * space));
    return `${period}  ${thousands(lookups).padStart(width)}  ${'█'.repeat(length)}`.trimEnd();
  });
  return [...lines, '', total].join('\n');
}

function renderByKey({ from, to, lookups, keys, unattributed }: UsageByKey): string {
  const share = (part: number) => (lookups === 0 ? '-' : `${Math.round((part / lookups) * 100)} %`);
  const rows = keys.map((key) => [
    ...[key.keyId, `${key.label ?? '-'}${key.revoked ? ' (revoked)' : ''}`],
    ...[thousands(key.lookups), share(key.lookups), key.days.at(-1)?.date ?? '-'],
  ]);
  const rest = unattributed.lookups;
  if (rest > 0) rows.push(['-', 'not attributed', thousands(rest), share(rest), unattributed.days.at(-1)?.date ?? '-']);
  return [
    table(['key', 'label', 'lookups', 'share', 'last used'], rows),
    `${counted(lookups, 'lookup')} from ${from} to ${to}.`,
  ].join('\n');
}

type RefusalsOfMonth = { month: string } & RefusalCounts;

function refusalsByMonth(refusals: readonly DayRefusals[]): RefusalsOfMonth[] {
  const sums = new Map<string, RefusalsOfMonth>();
  for (const { date, ...counts } of refusals) {
    const month = date.slice(0, 7);
    const sum = sums.get(month) ?? { month, quota: 0, input: 0, inactive: 0 };
    sums.set(month, sum);
    for (const kind of refusalKinds) sum[kind] += counts[kind];
  }
  return [...sums.values()];
}

/** A second table, of the days or months with refusals; nothing if there are none. */
function renderRefusals(refusals: readonly DayRefusals[], by: Granularity): string {
  if (refusals.length === 0) return '';
  const row = (period: string, { quota, input, inactive }: RefusalCounts) => [
    period,
    ...[quota, input, inactive].map(thousands),
  ];
  const rows =
    by === 'day'
      ? refusals.map(({ date, ...counts }) => row(date, counts))
      : refusalsByMonth(refusals).map(({ month, ...counts }) => row(month, counts));
  const head = [by, 'over a limit', 'invalid input', 'inactive'];
  return `\n\nRefused, and not counted for the quota; not exact, there may have been more:\n${table(head, rows)}`;
}

type AuditCommand = {
  description: string;
  /** The argument: its name in the help, what it is, and how it is read; throws `UsageError`. */
  argument: { name: string; description: string; read: (text: string) => string };
  entries: (admin: Admin, name: string, last: number) => Promise<AuditEntry[]>;
};

/** Adds an `audit` command to a group: the latest changes of one account or plan, the newest first. */
export function addAudit(group: CliCommand, { description, argument, entries }: AuditCommand): void {
  group
    .command('audit')
    .description(description)
    .argument(`<${argument.name}>`, argument.description, argument.read)
    .option('--last <number>', 'how many changes to list', readCount, 100)
    .onAccounts(async ({ admin }, name: string, { last }: { last: number }) => {
      const found = await entries(admin, name, last);
      return { json: found, text: renderAudit(found) };
    });
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,3}$|^10000$/.test(text)) return Number(text);
  throw new UsageError('--last takes a number from 1 to 10000.');
}

/** Changes as a table. The outcome `unknown` is a change that is still running or was interrupted. */
function renderAudit(entries: AuditEntry[]): string {
  if (entries.length === 0) return 'No changes yet.';
  return table(
    ['time', 'actor', 'action', 'details', 'outcome'],
    entries.map(({ time, actor, action, detail, outcome }) => [time, actor, action, renderDetail(detail), outcome]),
  );
}

/** `plan=standard limits.day=5000`. */
function renderDetail(detail: Record<string, unknown>, path = ''): string {
  return Object.entries(snakeCase(detail) as Record<string, unknown>)
    .map(([name, value]) => {
      if (value === null) return `${path}${name}=unlimited`;
      if (typeof value === 'object') return renderDetail(value as Record<string, unknown>, `${name}.`);
      return `${path}${name}=${value}`;
    })
    .filter(Boolean)
    .join(' ');
}
