import type { Command } from 'commander';
import { UsageError } from '../connect/errors.ts';
import type { SetIndex } from '../recovery/backup-set.ts';
import { callersPath, checkLocation, printResult, type Terminal, withDataset } from './command.ts';
import { table } from './table.ts';

type CreateOptions = {
  json?: true;
  local?: true;
  data?: string;
  stack?: string;
  to: string;
  publicKey: string;
};

const example = 'npx bag-adres';

/** `backup`: sets with all that a service can't be restored without. */
export function addBackupSetCommands(program: Command, terminal: Terminal): void {
  const backup = program
    .command('backup')
    .description('backup sets: accounts and secrets, encrypted to your key, and where the snapshots are');

  withDataset(backup.command('create'))
    .description('write a backup set')
    .requiredOption('--to <where>', 'a folder or s3://BUCKET/PREFIX, in another account or region at best')
    .requiredOption('--public-key <file>', 'the public key that the set is encrypted to: RSA, PEM')
    .addHelpText(
      'after',
      `
A deployment with the field "backup" writes one every day. Make a pair of keys, and keep the private one outside AWS:
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072 -out backup-private.pem
  openssl pkey -in backup-private.pem -pubout -out backup-public.pem

Example:
  ${example} backup create --to sets --public-key backup-public.pem --local`,
    )
    .action(async ({ to, publicKey, ...options }: CreateOptions) => {
      checkLocation(options);
      if (!options.local && options.stack === undefined)
        throw new UsageError('Name what to back up: --local for the running "npm start", or --stack NAME.');
      const { collectSet, openSets, readKeyFile } = await import('../recovery/sets.ts');
      const { writeBackupSet } = await import('../recovery/backup-set.ts');
      const key = await readKeyFile(callersPath(publicKey, terminal.env));
      const contents = await collectSet(options, terminal.env);
      const { name, index } = await writeBackupSet(await openSets(placeOf(to, terminal)), contents, key);
      printResult(terminal, options, { json: { set: name, ...index }, text: `Wrote ${name}: ${describe(index)}.` });
    });

  backup
    .command('list')
    .description('list the backup sets at a place, the newest first')
    .requiredOption('--from <where>', 'a folder or s3://BUCKET/PREFIX')
    .option('--json', 'print JSON, for scripts')
    .action(async ({ from, ...options }: { from: string; json?: true }) => {
      const { listSets, openSets } = await import('../recovery/sets.ts');
      const { readSetIndex } = await import('../recovery/backup-set.ts');
      const store = await openSets(placeOf(from, terminal));
      const sets: { set: string; index: SetIndex }[] = [];
      for (const set of await listSets(store)) sets.push({ set, index: await readSetIndex(store, set) });
      const rows = sets.map(({ set, index }) => [set, index.created, describe(index)]);
      const text = rows.length === 0 ? `There is no backup set in ${from}.` : table(['set', 'created', 'holds'], rows);
      printResult(terminal, options, { json: sets.map(({ set, index }) => ({ set, ...index })), text });
    });

  backup
    .command('check')
    .description('open a set with the private key and compare its contents with its index; restores nothing')
    .requiredOption('--from <set>', 'a set, or a place, of which the newest is taken')
    .requiredOption('--private-key <file>', 'the private key of the set: RSA, PEM')
    .option('--json', 'print JSON, for scripts')
    .action(async ({ from, privateKey, ...options }: { from: string; privateKey: string; json?: true }) => {
      const { openForRestore } = await import('../recovery/restore-account.ts');
      const keyFile = callersPath(privateKey, terminal.env);
      const { index, name } = await openForRestore({ from: placeOf(from, terminal), privateKey: keyFile });
      const text = `${name || from} is complete: ${describe(index)}. The key opens it.`;
      printResult(terminal, options, { json: { set: name, ...index }, text });
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
