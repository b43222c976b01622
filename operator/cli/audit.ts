import type { Command } from 'commander';
import { CommandError, UsageError } from '../connect/errors.ts';
import {
  type AccountsOptions,
  callersPath,
  checkLocation,
  checkNewFile,
  counted,
  printResult,
  type Terminal,
  withAccounts,
  writeNewFile,
} from './command.ts';
import { monthRange } from './reports.ts';

type ExportOptions = AccountsOptions & { month: string; to?: string; lockYears: string };

/** `audit export`: what was changed in a month, by whomever. */
export function addAuditCommands(program: Command, terminal: Terminal): void {
  const audit = program.command('audit').description('every change, whoever made it, as evidence');
  withAccounts(audit.command('export'))
    .description('export the changes of accounts, keys, members, plans and the register, and sign-ins, of a month')
    .requiredOption('--month <month>', 'the month, like 2026-10')
    .option('--to <where>', 'a new file, or s3://BUCKET/PREFIX/ in a bucket with Object Lock (default: print)')
    .option('--lock-years <n>', 'with s3://: how long nobody can change or delete it, 1 to 20', '7')
    .addHelpText(
      'after',
      `
An entry a line, in JSON: time, actor, action, what it is about, detail (with "before" for limits, plans and details), outcome.
Sign-ins are kept for 400 days, other entries for good. Export a month when it is over: later entries are not in it.

Examples:
  npx bag-adres audit export --month 2026-10 --to audit-2026-10.jsonl --local
  npx bag-adres audit export --month 2026-10 --to s3://evidence/adres/ --stack bag-adres-prod`,
    )
    .action(async ({ month, to, lockYears, ...options }: ExportOptions) => {
      monthRange('--month', month);
      const years = readYears(lockYears);
      const location = to?.startsWith('s3://') ? to : to && callersPath(to, terminal.env);
      const isBucket = location?.startsWith('s3://') === true;
      if (isBucket && !/^s3:\/\/[^/]+\/(?:.+\/)?$/.test(`${location}`))
        throw new UsageError(
          `--to takes a bucket and a prefix that ends in "/", like s3://evidence/adres/, not "${to}".`,
        );
      if (location !== undefined && !isBucket) checkNewFile(location);
      checkLocation(options);
      const { openAdmin } = await import('../connect/admin.ts');
      const { auditLines, auditOfMonth, putLocked } = await import('../connect/audit-export.ts');
      const { client, table, close } = await openAdmin(options, terminal.env);
      try {
        const lines = await auditOfMonth(client, table, month);
        if (lines.length === 0) throw new CommandError('no_entries', `Nothing was changed in ${month}.`);
        const json = { month, entries: lines.length };
        if (location === undefined) {
          if (options.json) terminal.out(JSON.stringify(lines, null, 2));
          else terminal.out(auditLines(lines).trimEnd());
          return;
        }
        if (!isBucket) {
          await writeNewFile(location, [auditLines(lines)]);
          printResult(terminal, options, {
            json,
            text: `Wrote ${counted(lines.length, 'line')}, an entry each, of ${month} to ${to}.`,
          });
          return;
        }
        const until = new Date();
        until.setUTCFullYear(until.getUTCFullYear() + years);
        const object = `${location}audit-${month}.jsonl`;
        const version = await putLocked(object, auditLines(lines), until);
        const text = `Wrote ${lines.length} entries of ${month} to ${object}, version ${version}, locked until ${until.toISOString().slice(0, 10)}.`;
        printResult(terminal, options, { json: { ...json, object, version, lockedUntil: until.toISOString() }, text });
      } finally {
        close();
      }
    });
}

function readYears(text: string): number {
  const years = Number(text);
  if (/^\d{1,2}$/.test(text) && years >= 1 && years <= 20) return years;
  throw new UsageError(`--lock-years takes a whole number from 1 to 20, not "${text}".`);
}
