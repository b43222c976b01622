import type { Statements, UsageMonth } from '../../core/accounts/admin/statements.ts';
import { daysOf, type Statement, statementsCsv } from '../../core/accounts/admin/statements.ts';
import type { ListedUsage } from '../../core/accounts/admin/usage.ts';
import { environment } from '../../core/names.ts';
import type { OpenAdmin } from '../connect/admin.ts';
import { CommandError } from '../connect/errors.ts';
import { type CliCommand, counted, thousands } from './command.ts';
import { byPeriod, csvOption, type Granularity, rowsOf } from './reports.ts';
import { table } from './table.ts';
import { accountId, month, monthRange } from './values.ts';

type OfMonth = { month: string };

/** `usage export`, `statement`, `months` and `close`. */
export function addUsageCommands(program: CliCommand): void {
  const usage = program.command('usage').description('lookups of all accounts, for invoices');
  addExport(usage);
  addStatement(usage);
  usage
    .command('months')
    .description('list the months: open, closing (ended, but not closed yet) or closed, with what all accounts used')
    .onAccounts(async (opened) => {
      const months = await (await requireStatements(opened)).months();
      const rows = months.map(({ month, state, closed, accounts, lookups }) => [
        ...[month, state, closed ?? '-'],
        ...[accounts, lookups].map((number) => (number === null ? '-' : thousands(number))),
      ]);
      return { json: months, text: table(['month', 'state', 'closed', 'accounts', 'lookups'], rows) };
    });
  addClose(usage);
}

type ExportOptions = OfMonth & { by: Granularity; csv?: true; json?: true };

function addExport(usage: CliCommand): void {
  usage
    .command('export')
    .description('list the lookups of every account in a month, exactly as counted for the quota; deleted accounts too')
    .requiredOption('--month <month>', 'the UTC month, like 2026-11', month)
    .addOption(csvOption('print CSV with the header account,month,lookups, or account,date,lookups with --by day'))
    .addOption(byPeriod('month'))
    .notes(
      'A month that is closed is printed from its statements, which never change. Another one may still grow: see "usage months".',
    )
    .examples('usage export --month 2026-11 --csv --local')
    .onAccounts(async ({ admin, statements: find }, { month, ...options }: ExportOptions) => {
      const statements = await find();
      const found = await statements?.month(month);
      const accounts =
        statements && found?.state === 'closed'
          ? fromStatements(statements, month)
          : admin.accounts.eachUsage(monthRange('--month', month));
      return { lines: exported(accounts, options), hint: found && renderState(found) };
    });
}

type Exported = Pick<ListedUsage, 'account' | 'days'>;

async function* fromStatements(statements: Statements, month: string): AsyncGenerator<Exported> {
  for await (const statement of statements.each(month)) {
    yield { account: statement.account, days: daysOf(statement) };
  }
}

/** The rows of all accounts, as they are read. Nothing comes before the first account: a refusal prints nothing. */
async function* exported(
  accounts: AsyncIterable<Exported>,
  { by, csv, json }: Omit<ExportOptions, 'month'>,
): AsyncGenerator<string> {
  const period = by === 'day' ? 'date' : 'month';
  // Aligned without knowing the rows to come: an account id has up to 32 characters.
  const line = csv
    ? (cells: string[]) => cells.join(',')
    : ([account = '', at = '', lookups = '']: string[]) =>
        `${account.padEnd(33)}${at.padEnd(11)}${lookups.padStart(12)}`;
  const shown = (lookups: number) => (csv ? String(lookups) : thousands(lookups));
  let before = json ? '[' : line(['account', period, 'lookups']);
  for await (const { account, days } of accounts) {
    const found = rowsOf(days, by);
    if (json) {
      const items = found.map((row) => ({ account, [period]: row.period, lookups: row.lookups }));
      yield `${before}${JSON.stringify(items, null, 2).slice(1, -1).trimEnd()}`;
      before = ',';
    } else {
      yield before;
      before = found.map((row) => line([account, row.period, shown(row.lookups)])).join('\n');
    }
  }
  if (json) yield before === '[' ? '[]' : ']';
  else yield before;
}

function renderState({ month, state, closed, sha256 }: UsageMonth): string {
  if (state === 'closed') return `${month} was closed at ${closed}; the SHA-256 of its statements is ${sha256}.`;
  if (state === 'open') return `${month} is open: these numbers still grow.`;
  return `${month} has ended, but is not closed yet: these numbers may still change.`;
}

function addStatement(usage: CliCommand): void {
  usage
    .command('statement')
    .description('print what an account used in a closed month, as it is written down for good')
    .argument('<id>', 'the account; also one that was deleted', accountId)
    .requiredOption('--month <month>', 'the UTC month, like 2026-10', month)
    .addOption(csvOption('print CSV: a row with a column for each day'))
    .notes(
      `A statement has the days with lookups, their sum, and the SHA-256 of all that: with --json of its other members, as JSON in the
order in which they are printed, without spaces.`,
    )
    .examples('usage statement acme --month 2026-10 --csv --local')
    .onAccounts(async (opened, account: string, { month, csv }: OfMonth & { csv?: true }) => {
      const statement = await (await requireStatements(opened)).show({ account, month });
      const text = csv ? statementsCsv(month, [statement]).trimEnd() : renderStatement(statement);
      return { json: statement, text, isVerbatim: csv };
    });
}

function renderStatement(statement: Statement): string {
  const { account, month, plan, lookups, sha256 } = statement;
  const rows = daysOf(statement).map((day) => [day.date, thousands(day.lookups)]);
  return [
    `Account ${account}, ${month}${plan === null ? '' : `, plan ${plan}`}`,
    table(['day', 'lookups'], rows),
    `${counted(lookups, 'lookup')}. SHA-256: ${sha256}`,
  ].join('\n');
}

function addClose(usage: CliCommand): void {
  usage
    .command('close')
    .description('close a month that has ended: write the statements of all accounts, which never change again')
    .requiredOption('--month <month>', 'the UTC month, like 2026-10', month)
    .notes(
      `The job that records usage does this by itself, an hour after the end of a month. Where it is turned off, and with --local, run it
yourself. A month that is closed stays as it is.`,
    )
    .examples('usage close --month 2026-10 --local')
    .onAccounts(async (opened, { month }: OfMonth) => {
      const statements = await requireStatements(opened);
      // A clock that is ahead would close a month in which lookups are still counted.
      await opened.checkClock();
      const closed = await statements.close(month);
      const { accounts, lookups } = closed;
      const text = `${renderState(closed)} It has ${counted(lookups ?? 0, 'lookup')} of ${counted(accounts ?? 0, 'account')}.`;
      return { json: closed, text };
    });
}

/** @throws CommandError */
async function requireStatements(opened: OpenAdmin): Promise<Statements> {
  const statements = await opened.statements();
  if (statements) return statements;
  throw new CommandError(
    'no_bucket',
    `No bucket of statements is known. Use --local or --stack NAME, of a data stack with this version, or set ${environment.statementsBucket}.`,
  );
}
