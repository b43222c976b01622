import { pagesOf } from '../../core/pages.ts';
import type {
  AuditEntry,
  AuditPage,
  AuditPageOptions,
} from '../../packages/admin/accounts/audit-log.ts';
import { CommandError, UsageError } from '../deployment/errors.ts';
import type { PersonalKind, Remainder } from '../deployment/person.ts';
import { addCalls, argument, type CallTools, call, option, required, type Taken } from './calls.ts';
import { type CliCommand, callersPath, checkNewFile, snakeCase, writeNewFile } from './command.ts';
import { counted, lines, table } from './terminal-text.ts';
import { month, monthRange } from './values.ts';

type ExportOptions = { month: string; to?: string };

/** `audit export`: all changes in a month, by anybody. */
export function addAuditCommands(program: CliCommand): void {
  const { env } = program.terminal;
  addCalls(program.command('audit').description('every change, whoever made it, as evidence'), {
    export: {
      description:
        'export the changes of accounts, keys, members, plans and the register, and sign-ins, of a month',
      takes: [
        required('--month <month>', 'the month, like 2026-10', month),
        option('--to <file>', 'a new file (default: print)'),
      ],
      notes: `An entry a line, in JSON: time, actor, action, subject, detail (with "before" for limits, plans and details), outcome.
Sign-ins are kept for 400 days, other entries for good. Export a month when it is over: later entries are not in it.`,
      examples: ['audit export --month 2026-10 --to audit-2026-10.jsonl --local'],
      check: ({ to }: ExportOptions) => to !== undefined && checkNewFile(callersPath(to, env)),
      async run(at, { month, to }: ExportOptions) {
        const { auditOfMonth } = await import('../deployment/operator-audit.ts');
        const entries = await auditOfMonth(at, monthRange('--month', month));
        if (entries.length === 0) {
          throw new CommandError('no_entries', `Nothing was changed in ${month}.`);
        }
        const text = entries.map((line) => JSON.stringify(line));
        if (to === undefined) return { json: entries, text: text.join('\n'), isVerbatim: true };
        await writeNewFile(
          callersPath(to, env),
          text.map((line) => `${line}\n`),
        );
        const json = { month, entries: entries.length };
        return {
          json,
          text: `Wrote ${counted(entries.length, 'line')}, an entry each, of ${month} to ${to}.`,
        };
      },
    },
  });
}

/** The row of an `audit` command: the latest changes of one account or plan, the newest first. */
export function audit<Given>(
  description: string,
  subject: Taken,
  read: (tools: CallTools, given: Given, page: AuditPageOptions) => Promise<AuditPage>,
) {
  return call({
    description,
    takes: [subject, option('--last <number>', 'how many changes to list', readCount).default(100)],
    async call(tools, given: Given & { last: number }) {
      const limit = Math.min(given.last, 1_000);
      const found: AuditEntry[] = [];
      for await (const { entries } of pagesOf((at) => read(tools, given, { limit, ...at }))) {
        found.push(...entries);
        if (found.length >= given.last) break;
      }
      return found.slice(0, given.last);
    },
    text: renderAudit,
  });
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,3}$|^10000$/.test(text)) return Number(text);
  throw new UsageError('--last takes a number from 1 to 10000.');
}

/**
 * Changes as a table. The outcome `unknown` is a change that is still running or was interrupted.
 */
function renderAudit(entries: AuditEntry[]): string {
  if (entries.length === 0) return 'No changes yet.';
  return table(['time', 'actor', 'action', 'details', 'outcome'], entries, (entry) => {
    return [entry.time, entry.actor, entry.action, renderDetail(entry.detail), entry.outcome];
  });
}

/** `plan=standard limits.day=5000 before.limits.day=60`. */
function renderDetail(detail: Record<string, unknown>, path = ''): string {
  return Object.entries(snakeCase(detail) as Record<string, unknown>)
    .map(([name, value]) => {
      if (value === null) {
        return `${path}${name}=${path.endsWith('limits.') ? 'unlimited' : 'none'}`;
      }
      if (typeof value === 'object') {
        return renderDetail(value as Record<string, unknown>, `${path}${name}.`);
      }
      return `${path}${name}=${value}`;
    })
    .filter(Boolean)
    .join(' ');
}

/** `person`: a person's rights to access and erasure of their data (AVG, articles 15 and 17). */
export function addPersonCommands(program: CliCommand): void {
  const email = argument('<email>', 'the e-mail address', emailAddress);
  addCalls(program.command('person').description("a person's own data: export and erasure"), {
    export: {
      description: 'print everything that the accounts table has about an e-mail address',
      takes: [email],
      examples: ['person export jo@example.nl --local'],
      async run(at, { email }: OfPerson) {
        const { personalData, withoutSecrets } = await import('../deployment/person.ts');
        const found = (await personalData(at, email)).map(withoutSecrets);
        const count = (kind: PersonalKind) => found.filter((item) => item.kind === kind).length;
        const text = lines(
          `${email}: ${count('membership')} items on memberships, ${count('details')} on details of accounts, ${count('session')} on sessions, ${count('key')} on keys, ${count('audit')} entries of the audit, ${count('other')} other.`,
          found.map(({ kind, item }) => `${kind}: ${JSON.stringify(item)}`),
        );
        return { json: found, text, isVerbatim: true };
      },
    },
    erase: {
      description:
        'remove the memberships and sessions of a person, and the address from details of accounts, keys and the audit',
      takes: [email],
      notes: `The audit keeps each change and its time. A pseudonym takes the place of the address: "erased-" and 128 bits that only the
checksum secret of the deployment can make of it. The exit code is 1 if the address stays somewhere. Logs name no members. Backups
keep it until they expire, after 35 days.`,
      examples: ['person erase an@example.nl --local'],
      run: erase,
    },
  });
}

type OfPerson = { email: string };

async function erase(tools: CallTools, { email, yes }: OfPerson & { yes?: true }) {
  const { admin, client, table, store } = tools;
  const { erasePerson, identitiesOf, personalData, unerasable } = await import(
    '../deployment/person.ts'
  );
  const { secretForKey } = await import('../../packages/admin/accounts/signing-secret.ts');
  tools.tell(`Into: ${await tools.target()}`);
  const items = (await personalData(tools, email)).length;
  if (items === 0) {
    return {
      json: { items, left: [], executed: false },
      text: `No item of the accounts table names ${email}.`,
    };
  }
  if (!yes) {
    const left = await unerasable(admin, await identitiesOf(tools, email));
    const text = `Would erase ${email} from ${counted(items, 'item')}; "person export ${email}" lists them. Carry it out: "person erase ${email} --yes".`;
    return { json: { items, left, executed: false }, text, failure: staying(email, left) };
  }
  const { secret } = await secretForKey(store);
  const { left, ...erased } = await erasePerson({ admin, client, table, secret }, email);
  const { membership, session, details, key, audit, other } = erased;
  const text = `Removed ${counted(membership, 'membership')} and ${counted(session, 'item')} on sessions, and the address from the details of ${counted(details, 'account')}, ${counted(key, 'key')}, ${audit} entries of the audit and ${other} other items.`;
  return { json: { ...erased, left, executed: true }, text, failure: staying(email, left) };
}

/** The failure of an erasure that leaves something. */
function staying(email: string, left: readonly Remainder[]): CommandError | undefined {
  if (left.length === 0) return undefined;
  const places = left.map(({ what, until }) => `as ${what}, ${until}`).join('; ');
  return new CommandError('not_erased', `${email} stays ${places}.`, { details: { left } });
}

function emailAddress(text: string): string {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) return text.toLowerCase();
  throw new UsageError(`"${text}" is no e-mail address.`);
}
