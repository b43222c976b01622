import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { AccountBackup, Backup, ImportResult } from '../../packages/admin/backup.ts';
import { backupLines } from '../../packages/admin/backup-lines.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import { parseLines } from '../recovery/parse-lines.ts';
import {
  type AccountsOptions,
  callersPath,
  checkNewFile,
  counted,
  type Terminal,
  useAdmin,
  withAccounts,
  writeNewFile,
} from './command.ts';

/** `export` and `import`: plans and accounts as JSON lines, for a backup or a move to another table. */
export function addBackupCommands(program: Command, terminal: Terminal): void {
  withAccounts(program.command('export'))
    .description('write all plans and accounts to a file, as JSON lines; keys as hashes')
    .argument('<file>', 'the file to create; it must not exist')
    .addHelpText(
      'after',
      `
The file holds limits, usage by day, members, key ids, labels and hashes of keys, but no key, no audit and no deleted
account. "import" restores it, in this table or in another one. A key works in another deployment only if that has the same
checksum secret.

Example:
  npx bag-adres export accounts.jsonl --local`,
    )
    .action(async (file: string, options: AccountsOptions) => {
      const path = pathOf(file, terminal);
      checkNewFile(path);
      await useAdmin(terminal, options, async (admin) => {
        const backup = await admin.backup.export();
        await writeNewFile(path, backupLines(backup));
        const counts = countsOf(backup);
        return { json: { file, ...counts }, text: `Exported ${renderCounts(counts)}.` };
      });
    });

  withAccounts(program.command('import'))
    .description('create the plans and accounts of a file that "export" wrote; changes nothing that exists')
    .argument('<file>', 'the file')
    .option('--check', 'only check the file against the table')
    .addHelpText(
      'after',
      `
The whole file is checked before the first write. A plan or account that exists must equal the file, apart from its usage
and its members; if one differs, nothing is imported. One that is equal stays as it is. After an interruption, run it again.

Example:
  npx bag-adres import accounts.jsonl --check --local`,
    )
    .action(async (file: string, { check, ...options }: AccountsOptions & { check?: true }) => {
      const backup = parseLines(file, await readText(pathOf(file, terminal)));
      await useAdmin(terminal, options, async (admin) => {
        const result = await admin.backup.import(backup, { checkOnly: check === true });
        return { json: result, text: renderImport(result, check === true) };
      });
    });
}

type Counts = Omit<ImportResult, 'unchanged'>;

function countsOf({ plans, accounts }: Backup): Counts {
  const sum = (of: (account: AccountBackup) => readonly unknown[] | undefined) =>
    accounts.reduce((total, account) => total + (of(account)?.length ?? 0), 0);
  return {
    plans: plans.length,
    accounts: accounts.length,
    members: sum(({ members }) => members),
    days: sum(({ days }) => days),
  };
}

function renderCounts({ plans, accounts, members, days }: Counts): string {
  const more = `with ${counted(members, 'member')} and ${counted(days, 'day')} of usage`;
  return `${counted(plans, 'plan')} and ${counted(accounts, 'account')} ${more}`;
}

function renderImport({ unchanged, ...result }: ImportResult, checkOnly: boolean): string {
  return `${checkOnly ? 'Would import' : 'Imported'} ${renderCounts(result)}; ${unchanged} already there.`;
}

function pathOf(file: string, { env }: Terminal): string {
  if (file === '') throw new UsageError('The file name is empty.');
  return callersPath(file, env);
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError('file', `Can't read ${file}: ${error.message}`, { cause: error });
  });
}
