import { readFile } from 'node:fs/promises';
import type { ImportResult } from '../../packages/admin/accounts/backup.ts';
import { CommandError, UsageError } from '../deployment/errors.ts';
import type { RefusedChange } from '../recovery/carry-over.ts';
import { addCalls, argument, call, option, required } from './calls.ts';
import { type CliCommand, callersPath, checkNewFile, writeNewFile } from './command.ts';
import { counted, lines } from './terminal-text.ts';

type OfFile = { file: string };

/**
 * `export` and `import`: plans and accounts as JSON lines, for a backup or a move to another table.
 */
export function addBackupCommands(program: CliCommand): void {
  const { env } = program.terminal;
  addCalls(program, {
    export: call({
      description: 'write all plans and accounts to a file, as JSON lines; keys as hashes',
      takes: [argument('<file>', 'the file to create; it must not exist')],
      notes: `The file holds limits, usage by day, members, key ids, labels and hashes of keys, but no key, no audit and no deleted
account. "import" restores it, in this table or in another one. A key works in another deployment only if that has the same
checksum secret.`,
      examples: ['export accounts.jsonl --local'],
      check: ({ file }: OfFile) => checkNewFile(callersPath(file, env)),
      async call({ admin }, { file }: OfFile) {
        const { backupLines } = await import('../deployment/backup-lines.ts');
        const { countsOf } = await import('../../packages/admin/accounts/backup.ts');
        const backup = await admin.backup.export();
        await writeNewFile(callersPath(file, env), backupLines(backup));
        return { file, ...countsOf(backup) };
      },
      text: (counts) => `Exported ${renderImported(counts)}.`,
    }),
    import: call({
      description:
        'create the plans and accounts of a file that "export" wrote; changes nothing that exists',
      takes: [
        argument('<file>', 'the file'),
        option('--check', 'only check the file against the table'),
      ],
      notes: `The whole file is checked before the first write. A plan or account that exists must equal the file, apart from its usage
and its members; if one differs, nothing is imported. One that is equal stays as it is. After an interruption, run it again.`,
      examples: ['import accounts.jsonl --check --local'],
      async call({ admin }, { file, check }: OfFile & { check?: true }) {
        const { parseLines } = await import('../deployment/backup-lines.ts');
        const backup = parseLines(file, await readTextFile(callersPath(file, env)));
        return admin.backup.import(backup, { checkOnly: check === true });
      },
      text: (counts, { check }) =>
        `${check ? 'Would import' : 'Imported'} ${renderImported(counts)}; ${counts.unchanged} already there.`,
    }),
  });
}

/** @throws CommandError */
async function readTextFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError('file', `Can't read ${file}: ${error.message}`, { cause: error });
  });
}

function renderImported({
  plans,
  accounts,
  members,
  days,
}: Omit<ImportResult, 'unchanged'>): string {
  const more = `with ${counted(members, 'member')} and ${counted(days, 'day')} of usage`;
  return `${counted(plans, 'plan')} and ${counted(accounts, 'account')} ${more}`;
}

type CarryOverOptions = { from: string; since: Date; yes?: true };

/**
 * `restore carry-over`: what AWS's restore of the accounts table gives back although it was
 * withdrawn since.
 */
export function addRestoreCommands(program: CliCommand): void {
  addCalls(program.command('restore').description('after AWS has restored the accounts table'), {
    'carry-over': {
      description:
        'repeat withdrawals from the old accounts table in the restored one: shows the plan; --yes carries it out',
      takes: [
        required('--from <table>', 'the accounts table from before, which is only read'),
        required(
          '--since <time>',
          'the time that was restored, in UTC: 2026-01-31T12:00:00Z',
          parseTime,
        ),
      ],
      notes: `Repeats revoked keys, suspended and deleted accounts, limits, removed members, ended sessions and erased persons, each as the old
table has it now. Later creations are listed, and stay lost. Run it on the restored table before a deployment puts that table to
use, and again afterwards. See docs/runbook.md#restore-a-table.`,
      examples: [
        'restore carry-over --from OLD --since 2026-01-31T12:00:00Z --accounts-table RESTORED',
        'restore carry-over --from OLD --since 2026-01-31T12:00:00Z --stage prod --yes',
      ],
      async run(
        { admin, client, table, store, ...command },
        { from, since, yes }: CarryOverOptions,
      ) {
        const { carryOver, planCarryOver } = await import('../recovery/carry-over.ts');
        command.tell(`Into: ${await command.target()}`);
        const { repeated, lost } = await planCarryOver({ client, admin, table, from, since });
        const changes = repeated.map(({ what }) => what);
        const told = (verb: string, number: number) =>
          lines(
            changes,
            lost.map(
              ({ time, action, partition, actor }) =>
                `Stays lost: ${action} ${partition} (${time}, ${actor})`,
            ),
            `${verb} ${counted(number, 'change')}; ${lost.length} stay lost.`,
          );
        if (!yes) {
          const hint =
            changes.length > 0
              ? 'Nothing was changed. Run it again with --yes to do it.'
              : undefined;
          return {
            json: { changes, lost, executed: false },
            text: told('Would repeat', changes.length),
            hint,
          };
        }
        const refused = await carryOver(repeated, { store, from, since });
        const text = told('Repeated', changes.length - refused.length);
        const failure = refused.length === 0 ? undefined : notRepeated(refused);
        return { json: { changes, lost, refused, executed: true }, text, failure };
      },
    },
  });
}

function notRepeated(refused: readonly RefusedChange[]): CommandError {
  const each = refused.map(({ what, reason }) => `${what}: ${reason}`).join(' ');
  const message = `${each} Resolve that, then run the same command again.`;
  return new CommandError('not_repeated', message, { details: { refused } });
}

function parseTime(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) || Number.isNaN(date.getTime())) {
    throw new UsageError(`--since takes a time in UTC, like 2026-01-31T12:00:00Z, not "${text}".`);
  }
  if (date.getTime() < Date.now()) return date;
  throw new UsageError(`--since ${text} is in the future.`);
}
