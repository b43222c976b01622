import type { Command } from 'commander';
import type { Admin } from '../../lambdas/shared/accounts/admin.ts';
import type { AuditEntry } from '../../lambdas/shared/accounts/audit.ts';
import { UsageError } from '../connect/errors.ts';
import { type AccountsOptions, useAdmin, withAccounts } from './arguments.ts';
import { snakeCase, type Terminal, table } from './output.ts';

type AuditCommand = {
  description: string;
  /** The argument: its name in the help, what it is, and how it is read; throws `UsageError`. */
  argument: { name: string; description: string; read: (text: string) => string };
  entries: (admin: Admin, name: string, last: number) => Promise<AuditEntry[]>;
};

/** Adds an `audit` command to a group: the latest changes of one account or plan, the newest first. */
export function addAudit(group: Command, terminal: Terminal, { description, argument, entries }: AuditCommand): void {
  withAccounts(group.command('audit'))
    .description(description)
    .argument(`<${argument.name}>`, argument.description)
    .option('--last <number>', 'how many changes to list', '100')
    .action(async (text: string, { last, ...options }: AccountsOptions & { last: string }) => {
      const input = { name: argument.read(text), last: readCount(last) };
      await useAdmin(terminal, options, async (admin) => {
        const found = await entries(admin, input.name, input.last);
        return { json: found, text: renderAudit(found) };
      });
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
