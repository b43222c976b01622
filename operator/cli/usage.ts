import type { Command } from 'commander';
import { daysOf, type Statement, statementsCsv } from '../../core/accounts/admin/statement.ts';
import type { Statements, UsageMonth } from '../../core/accounts/admin/statements.ts';
import type { ListedUsage } from '../../core/accounts/admin/usage-pages.ts';
import { environment } from '../../core/names.ts';
import type { OpenAdmin } from '../connect/admin.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import {
  type AccountsOptions,
  accountId,
  counted,
  type Terminal,
  thousands,
  useAdmin,
  withAccounts,
} from './command.ts';
import { byPeriod, type Granularity, monthRange, rowsOf } from './reports.ts';
import { table } from './table.ts';

type OfMonth = AccountsOptions & { month: string };
type ExportOptions = AccountsOptions & { month: string; by: Granularity; csv?: true };

/** `usage export`, `statement`, `months` and `close`. */
export function addUsageCommands(program: Command, terminal: Terminal): void {
  const usage = program.command('usage').description('lookups of all accounts, for invoices');
  addExport(usage, terminal);
  addStatement(usage, terminal);
  addMonths(usage, terminal);
  addClose(usage, terminal);
}

function addExport(usage: Command, terminal: Terminal): void {
  withAccounts(usage.command('export'))
    .description('list the lookups of every account in a month, exactly as counted for the quota; deleted accounts too')
    .requiredOption('--month <month>', 'the UTC month, like 2026-11')
    .option('--csv', 'print CSV with the header account,month,lookups, or account,date,lookups with --by day')
    .addOption(byPeriod('month'))
    .addHelpText(
      'after',
      `
A month that is closed is printed from its statements, which never change. Another one may still grow: see "usage months".

Example:
  npx bag-adres usage export --month 2026-11 --csv --local`,
    )
    .action(async ({ month, by, csv, ...options }: ExportOptions) => {
      if (csv && options.json) throw new UsageError('Give --csv or --json, not both.');
      const range = monthRange('--month', month);
      await useAdmin(terminal, options, async (admin, open) => {
        const statements = await open.statements();
        const found = await statements?.month(month);
        const accounts =
          statements && found?.state === 'closed' ? fromStatements(statements, month) : admin.accounts.eachUsage(range);
        await exportRows(terminal, accounts, { by, csv, json: options.json });
        if (found && !options.json) terminal.err(renderState(found));
        return undefined;
      });
    });
}

async function* fromStatements(statements: Statements, month: string): AsyncGenerator<Exported> {
  for await (const statement of statements.each(month)) {
    yield { account: statement.account, days: daysOf(statement) };
  }
}

function renderState({ month, state, closed, sha256 }: UsageMonth): string {
  if (state === 'closed') return `${month} was closed at ${closed}; the SHA-256 of its statements is ${sha256}.`;
  if (state === 'open') return `${month} is open: these numbers still grow.`;
  return `${month} has ended, but is not closed yet: these numbers may still change.`;
}

function addStatement(usage: Command, terminal: Terminal): void {
  withAccounts(usage.command('statement'))
    .description('print what an account used in a closed month, as it is written down for good')
    .argument('<id>', 'the account; also one that was deleted')
    .requiredOption('--month <month>', 'the UTC month, like 2026-10')
    .option('--csv', 'print CSV: a row with a column for each day')
    .addHelpText(
      'after',
      `
A statement has the days with lookups, their sum, and the SHA-256 of all that: with --json of its other members, as JSON in the
order in which they are printed, without spaces.

Example:
  npx bag-adres usage statement acme --month 2026-10 --csv --local`,
    )
    .action(async (id: string, { month, csv, ...options }: OfMonth & { csv?: true }) => {
      if (csv && options.json) throw new UsageError('Give --csv or --json, not both.');
      const account = accountId(id);
      monthRange('--month', month);
      await useAdmin(terminal, options, async (_, open) => {
        const statement = await (await requireStatements(open)).show({ account, month });
        const text = csv ? statementsCsv(month, [statement]).trimEnd() : renderStatement(statement);
        return { json: statement, text };
      });
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

function addMonths(usage: Command, terminal: Terminal): void {
  withAccounts(usage.command('months'))
    .description('list the months: open, closing (ended, but not closed yet) or closed, with what all accounts used')
    .action(async (options: AccountsOptions) => {
      await useAdmin(terminal, options, async (_, open) => {
        const months = await (await requireStatements(open)).months();
        const rows = months.map(({ month, state, closed, accounts, lookups }) => [
          ...[month, state, closed ?? '-'],
          ...[accounts, lookups].map((number) => (number === null ? '-' : thousands(number))),
        ]);
        return { json: months, text: table(['month', 'state', 'closed', 'accounts', 'lookups'], rows) };
      });
    });
}

function addClose(usage: Command, terminal: Terminal): void {
  withAccounts(usage.command('close'))
    .description('close a month that has ended: write the statements of all accounts, which never change again')
    .requiredOption('--month <month>', 'the UTC month, like 2026-10')
    .addHelpText(
      'after',
      `
The job that records usage does this by itself, an hour after the end of a month. Where it is turned off, and with --local, run it
yourself. A month that is closed stays as it is.

Example:
  npx bag-adres usage close --month 2026-10 --local`,
    )
    .action(async ({ month, ...options }: OfMonth) => {
      monthRange('--month', month);
      await useAdmin(terminal, options, async (_, open) => {
        const statements = await requireStatements(open);
        // With a clock that is ahead, a month would be closed in which lookups are still counted.
        await open.checkClock();
        const closed = await statements.close(month);
        const { accounts, lookups } = closed;
        const text = `${renderState(closed)} It has ${counted(lookups ?? 0, 'lookup')} of ${counted(accounts ?? 0, 'account')}.`;
        return { json: closed, text };
      });
    });
}

/** @throws CommandError */
async function requireStatements(open: OpenAdmin): Promise<Statements> {
  const statements = await open.statements();
  if (statements) return statements;
  throw new CommandError(
    'no_bucket',
    `No bucket of statements is known. Use --local or --stack NAME, of a data stack with this version, or set ${environment.statementsBucket}.`,
  );
}

type Exported = Pick<ListedUsage, 'account' | 'days'>;

/** Prints the rows of all accounts as they are read, so that any number of them fits into memory. */
async function exportRows(
  terminal: Terminal,
  accounts: AsyncIterable<Exported>,
  { by, csv, json }: { by: Granularity; csv: true | undefined; json: true | undefined },
): Promise<void> {
  const period = by === 'day' ? 'date' : 'month';
  // Aligned without knowing the rows to come: an account id has up to 32 characters.
  const line = csv
    ? (cells: string[]) => cells.join(',')
    : ([account = '', at = '', lookups = '']: string[]) =>
        `${account.padEnd(33)}${at.padEnd(11)}${lookups.padStart(12)}`;
  let separator = '[';
  let lines = line(['account', period, 'lookups']);
  for await (const { account, days } of accounts) {
    const found = rowsOf(days, by);
    if (json) {
      const items = found.map((row) => ({ account, [period]: row.period, lookups: row.lookups }));
      const text = JSON.stringify(items, null, 2).slice(1, -1).trimEnd();
      terminal.out(`${separator}${text}`);
      separator = ',';
    } else {
      // With the head only once an account has been read: a refusal prints nothing.
      terminal.out(lines);
      const shown = (lookups: number) => (csv ? String(lookups) : thousands(lookups));
      lines = found.map((row) => line([account, row.period, shown(row.lookups)])).join('\n');
    }
  }
  if (json) terminal.out(separator === '[' ? '[]' : ']');
  else terminal.out(lines);
}
