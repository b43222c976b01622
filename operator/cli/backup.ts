import type { ImportResult } from '../../packages/admin/accounts/backup.ts';
import { UsageError } from '../connect/errors.ts';
import type { SetIndex } from '../recovery/backup-set.ts';
import { type CliCommand, callersPath, checkNewFile, counted, type Terminal, writeNewFile } from './command.ts';
import { table } from './table.ts';

/** `export` and `import`: plans and accounts as JSON lines, for a backup or a move to another table. */
export function addBackupCommands(program: CliCommand): void {
  const { env } = program.terminal;
  program
    .command('export')
    .description('write all plans and accounts to a file, as JSON lines; keys as hashes')
    .argument('<file>', 'the file to create; it must not exist', fileName)
    .notes(
      `The file holds limits, usage by day, members, key ids, labels and hashes of keys, but no key, no audit and no deleted
account. "import" restores it, in this table or in another one. A key works in another deployment only if that has the same
checksum secret.`,
    )
    .examples('export accounts.jsonl --local')
    .checks((file: string) => checkNewFile(callersPath(file, env)))
    .onAccounts(async ({ admin }, file: string) => {
      const { backupLines } = await import('../recovery/backup-lines.ts');
      const { countsOf } = await import('../../packages/admin/accounts/backup.ts');
      const backup = await admin.backup.export();
      await writeNewFile(callersPath(file, env), backupLines(backup));
      const counts = countsOf(backup);
      return { json: { file, ...counts }, text: `Exported ${renderImported(counts)}.` };
    });

  program
    .command('import')
    .description('create the plans and accounts of a file that "export" wrote; changes nothing that exists')
    .argument('<file>', 'the file', fileName)
    .option('--check', 'only check the file against the table')
    .notes(
      `The whole file is checked before the first write. A plan or account that exists must equal the file, apart from its usage
and its members; if one differs, nothing is imported. One that is equal stays as it is. After an interruption, run it again.`,
    )
    .examples('import accounts.jsonl --check --local')
    .onAccounts(async ({ admin }, file: string, { check = false }: { check?: boolean }) => {
      const { parseLines } = await import('../recovery/backup-lines.ts');
      const { readTextFile } = await import('../recovery/sets.ts');
      const backup = parseLines(file, await readTextFile(callersPath(file, env)));
      const { unchanged, ...counts } = await admin.backup.import(backup, { checkOnly: check });
      const text = `${check ? 'Would import' : 'Imported'} ${renderImported(counts)}; ${unchanged} already there.`;
      return { json: { ...counts, unchanged }, text };
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

type CreateOptions = { local?: true; data?: string; stack?: string; to: string; publicKey: string };

/** `backup`: sets with all that a service can't be restored without. */
export function addBackupSetCommands(program: CliCommand): void {
  const { terminal } = program;
  const backup = program
    .command('backup')
    .description('backup sets: accounts and secrets, encrypted to your key, and where the snapshots are');

  backup
    .command('create')
    .description('write a backup set')
    .location('What to back up:')
    .requiredOption('--to <where>', 'a folder or s3://BUCKET/PREFIX, in another account or region at best')
    .requiredOption('--public-key <file>', 'the public key that the set is encrypted to: RSA, PEM')
    .notes(
      `A deployment with the field "backup" writes one every day. Make a pair of keys, and keep the private one outside AWS:
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072 -out backup-private.pem
  openssl pkey -in backup-private.pem -pubout -out backup-public.pem`,
    )
    .examples('backup create --to sets --public-key backup-public.pem --local')
    .does(async ({ to, publicKey, ...options }: CreateOptions) => {
      if (!options.local && options.stack === undefined)
        throw new UsageError('Name what to back up: --local for the running "npm start", or --stack NAME.');
      const { createSet } = await import('../recovery/sets.ts');
      const key = callersPath(publicKey, terminal.env);
      const { name, index } = await createSet(options, terminal.env, { to: placeOf(to, terminal), publicKey: key });
      return { json: { set: name, ...index }, text: `Wrote ${name}: ${describe(index)}.` };
    });

  backup
    .command('list')
    .description('list the backup sets at a place, the newest first')
    .requiredOption('--from <where>', 'a folder or s3://BUCKET/PREFIX')
    .does(async ({ from }: { from: string }) => {
      const { listSets } = await import('../recovery/sets.ts');
      const sets = await listSets(placeOf(from, terminal));
      const rows = sets.map(({ set, ...index }) => [set, index.created, describe(index)]);
      const text = rows.length === 0 ? `There is no backup set in ${from}.` : table(['set', 'created', 'holds'], rows);
      return { json: sets, text };
    });

  backup
    .command('check')
    .description('open a set with the private key and compare its contents with its index; restores nothing')
    .requiredOption('--from <set>', 'a set, or a place, of which the newest is taken')
    .requiredOption('--private-key <file>', 'the private key of the set: RSA, PEM')
    .does(async ({ from, privateKey }: { from: string; privateKey: string }) => {
      const { openSet } = await import('../recovery/sets.ts');
      const keyFile = callersPath(privateKey, terminal.env);
      const { index, name } = await openSet({ from: placeOf(from, terminal), privateKey: keyFile });
      const text = `${name || from} is complete: ${describe(index)}. The key opens it.`;
      return { json: { set: name, ...index }, text };
    });
}

/** A folder is relative to where npm was run. */
export function placeOf(where: string, { env }: Terminal): string {
  return where.startsWith('s3://') ? where : callersPath(where, env);
}

function describe({ counts, snapshots, deployment, region }: SetIndex): string {
  const { plans, accounts, activeKeys, members } = counts;
  const [newest] = snapshots;
  const register = newest ? `the register of ${newest.peildatum}` : 'no register yet';
  return `${deployment} in ${region}, ${plans} plans, ${accounts} accounts, ${activeKeys} active keys, ${members} members, ${register}`;
}
