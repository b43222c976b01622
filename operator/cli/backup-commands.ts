import { readFile } from 'node:fs/promises';
import type { ImportResult } from '../../packages/admin/accounts/backup.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import { addCalls, argument, call, option } from './calls.ts';
import { type CliCommand, callersPath, checkNewFile, writeNewFile } from './command.ts';
import { counted } from './terminal-text.ts';

type OfFile = { file: string };

/** `export` and `import`: plans and accounts as JSON lines, for a backup or a move to another table. */
export function addBackupCommands(program: CliCommand): void {
  const { env } = program.terminal;
  addCalls(program, {
    export: call({
      description: 'write all plans and accounts to a file, as JSON lines; keys as hashes',
      takes: [argument('<file>', 'the file to create; it must not exist', fileName)],
      notes: `The file holds limits, usage by day, members, key ids, labels and hashes of keys, but no key, no audit and no deleted
account. "import" restores it, in this table or in another one. A key works in another deployment only if that has the same
checksum secret.`,
      examples: ['export accounts.jsonl --local'],
      check: ({ file }: OfFile) => checkNewFile(callersPath(file, env)),
      async call({ admin }, { file }: OfFile) {
        const { backupLines } = await import('../connect/backup-lines.ts');
        const { countsOf } = await import('../../packages/admin/accounts/backup.ts');
        const backup = await admin.backup.export();
        await writeNewFile(callersPath(file, env), backupLines(backup));
        return { file, ...countsOf(backup) };
      },
      text: (counts) => `Exported ${renderImported(counts)}.`,
    }),
    import: call({
      description: 'create the plans and accounts of a file that "export" wrote; changes nothing that exists',
      takes: [argument('<file>', 'the file', fileName), option('--check', 'only check the file against the table')],
      notes: `The whole file is checked before the first write. A plan or account that exists must equal the file, apart from its usage
and its members; if one differs, nothing is imported. One that is equal stays as it is. After an interruption, run it again.`,
      examples: ['import accounts.jsonl --check --local'],
      async call({ admin }, { file, check }: OfFile & { check?: true }) {
        const { parseLines } = await import('../connect/backup-lines.ts');
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

function renderImported({ plans, accounts, members, days }: Omit<ImportResult, 'unchanged'>): string {
  const more = `with ${counted(members, 'member')} and ${counted(days, 'day')} of usage`;
  return `${counted(plans, 'plan')} and ${counted(accounts, 'account')} ${more}`;
}

function fileName(file: string): string {
  if (file === '') throw new UsageError('The file name is empty.');
  return file;
}
