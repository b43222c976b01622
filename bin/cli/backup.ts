import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import * as z from 'zod';
import { roles } from '../../core/accounts/admin/admin-error.ts';
import type { AccountBackup, Backup, ImportResult } from '../../core/accounts/admin/backup.ts';
import { backupLines } from '../../core/accounts/admin/backup-lines.ts';
import { windowNames } from '../../core/calendar.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
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

const limits = z.partialRecord(z.enum(windowNames), z.int().min(0).nullable());
const seconds = z.int().min(0);

const planLine = z.strictObject({
  type: z.literal('plan'),
  code: z.string(),
  state: z.enum(['active', 'inactive']),
  limits,
});

const accountLine = z.strictObject({
  type: z.literal('account'),
  id: z.string(),
  state: z.enum(['active', 'suspended']),
  plan: z.string(),
  own_limits: limits,
  shards: z.int(),
  created: seconds,
  usage: z.partialRecord(z.enum(windowNames), z.strictObject({ start: seconds, used: z.int().min(0) })),
  keys: z.array(
    z.strictObject({
      key_id: z.string(),
      hash: z.base64().nullable(),
      label: z.string().nullable(),
      created: seconds.nullable(),
      revoked: seconds.nullable(),
      // Exports of earlier versions have none.
      secret: z.string().optional(),
    }),
  ),
  // Exports of earlier versions have neither.
  members: z.array(z.strictObject({ person: z.string(), role: z.enum(roles), added: seconds })).optional(),
  days: z.array(z.strictObject({ date: z.string(), lookups: z.int().min(1), expires: seconds })).optional(),
});

/** The first line: which version of the format the others have. */
const header = z.strictObject({ type: z.literal('bag-adres-backup'), version: z.literal(1) });

const line = z.discriminatedUnion('type', [header, planLine, accountLine]);

/** @throws CommandError with the number of the first line that is wrong */
export function parseLines(file: string, text: string): Backup {
  const backup: Backup = { plans: [], accounts: [] };
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, each] of lines.entries()) {
    const parsed = line.safeParse(json(each));
    const isHeader = parsed.data?.type === 'bag-adres-backup';
    if (!parsed.success || isHeader !== (index === 0)) {
      const why = parsed.success ? 'the first line must name the format' : z.prettifyError(parsed.error);
      throw new CommandError('invalid', `${file}, line ${index + 1} is no line of an export: ${why}`);
    }
    if (parsed.data.type === 'plan') backup.plans.push(parsed.data);
    if (parsed.data.type === 'account') backup.accounts.push(accountOf(parsed.data));
  }
  if (lines.length > 0) return backup;
  throw new CommandError('invalid', `${file} is empty; it is no export.`);
}

function accountOf({ own_limits: ownLimits, keys, ...account }: z.output<typeof accountLine>): AccountBackup {
  return {
    ...account,
    ownLimits,
    keys: keys.map(({ key_id: keyId, hash, ...key }) => ({
      keyId,
      hash: hash === null ? null : new Uint8Array(Buffer.from(hash, 'base64')),
      ...key,
    })),
  };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
