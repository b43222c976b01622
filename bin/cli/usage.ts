import type { Command } from 'commander';
import type { ListedUsage } from '../../core/accounts/admin/usage-pages.ts';
import { UsageError } from '../connect/errors.ts';
import { type AccountsOptions, type Result, type Terminal, table, useAdmin, withAccounts } from './command.ts';
import { byPeriod, monthRange, type Period, rowsOf } from './reports.ts';

type ExportOptions = AccountsOptions & { month: string; by: Period; csv?: true };

/** `usage export`. */
export function addUsageCommands(program: Command, terminal: Terminal): void {
  const usage = program.command('usage').description('lookups of all accounts, for invoices');
  addExport(usage, terminal);
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
Example:
  npx bag-adres usage export --month 2026-11 --csv --local`,
    )
    .action(async ({ month, by, csv, ...options }: ExportOptions) => {
      if (csv && options.json) throw new UsageError('Give --csv or --json, not both.');
      const range = monthRange('--month', month);
      await useAdmin(terminal, options, (admin) =>
        exportRows(terminal, admin.accounts.eachUsage(range), { by, csv, json: options.json }),
      );
    });
}

type Row = { account: string; period: string; lookups: number };

/** Prints the rows of all accounts; CSV and JSON as they are read, so that any number of accounts fits into memory. */
async function exportRows(
  terminal: Terminal,
  accounts: AsyncIterable<Pick<ListedUsage, 'account' | 'days'>>,
  { by, csv, json }: { by: Period; csv: true | undefined; json: true | undefined },
): Promise<Result | undefined> {
  const period = by === 'day' ? 'date' : 'month';
  const head = ['account', period, 'lookups'];
  const rows: Row[] = [];
  let separator = '[';
  let lines = head.join(',');
  for await (const { account, days } of accounts) {
    const found = rowsOf(days, by).map((row): Row => ({ account, ...row }));
    if (csv) {
      // With the head only once an account has been read: a refusal prints nothing.
      terminal.out(lines);
      lines = found.map((row) => `${row.account},${row.period},${row.lookups}`).join('\n');
    } else if (json) {
      const items = found.map((row) => ({ account, [period]: row.period, lookups: row.lookups }));
      const text = JSON.stringify(items, null, 2).slice(1, -1).trimEnd();
      terminal.out(`${separator}${text}`);
      separator = ',';
    } else rows.push(...found);
  }
  if (csv) {
    terminal.out(lines);
    return undefined;
  }
  if (json) {
    terminal.out(separator === '[' ? '[]' : ']');
    return undefined;
  }
  return {
    json: rows,
    text: table(
      head,
      rows.map((row) => [row.account, row.period, String(row.lookups)]),
    ),
  };
}
