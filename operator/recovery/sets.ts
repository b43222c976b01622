import { readFile } from 'node:fs/promises';
import { openStorage } from '../../loader/storage/open.ts';
import { paths, type Storage } from '../../loader/storage/storage.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { type ConnectionOptions, openAdmin, readSecret } from '../connect/admin.ts';
import { findDeployment, readPortal } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { countBackup, parseLines, renderCounts } from './backup-lines.ts';
import { openBackupSet, readSetIndex, type SetIndex, writeBackupSet } from './backup-set.ts';

export type FromSet = {
  /** A set, or a place with sets, of which the newest is taken. */
  from: string;
  privateKey: string;
};

/** The names of the sets in a storage, the newest first. */
async function setsIn(store: Storage): Promise<string[]> {
  const found = (await store.list('')).flatMap((key) => /^(.+\/)set\.json$/.exec(key)?.[1] ?? []);
  const timeIn = (set: string) => set.split('/').at(-2) ?? '';
  return found.toSorted((a, b) => (timeIn(a) < timeIn(b) ? 1 : -1));
}

/** The sets at a place (`s3://bucket/prefix` or a folder), the newest first. @throws BackupSetError */
export async function listSets(place: string): Promise<({ set: string } & SetIndex)[]> {
  const store = await openStorage(place);
  const sets: ({ set: string } & SetIndex)[] = [];
  for (const set of await setsIn(store)) sets.push({ set, ...(await readSetIndex(store, set)) });
  return sets;
}

/** A set that was opened and compared with its index. @throws BackupSetError, CommandError */
export async function openSet({ from, privateKey }: FromSet) {
  const key = await readTextFile(privateKey);
  const store = await openStorage(from.endsWith('/') ? from : `${from}/`);
  const name = (await store.get('set.json')) ? '' : (await setsIn(store))[0];
  if (name === undefined) throw new CommandError('no_set', `There is no backup set in ${from}.`);
  const opened = await openBackupSet(store, name, key);
  const backup = parseLines(`${from}/${name}accounts`, opened.accounts);
  const [held, said] = [renderCounts(countBackup(backup)), renderCounts(opened.index.counts)];
  if (held !== said)
    throw new CommandError('set_differs', `The set holds ${held}, its index says ${said}. Use another set.`);
  return { ...opened, name, backup };
}

/** Reads a file: a key in PEM form, an export. @throws CommandError */
export async function readTextFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError('file', `Can't read ${file}: ${error.message}`, { cause: error });
  });
}

/** Writes a set of the local run or of a deployment to a place, encrypted to the key in a file. */
export async function createSet(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
  { to, publicKey }: { to: string; publicKey: string },
) {
  const key = await readTextFile(publicKey);
  const { admin, client, close } = await openAdmin(options, env);
  try {
    const backup = await admin.backup.export();
    const parts = options.local ? await localParts(options.data) : await stackParts(`${options.stack}`);
    const manifest = await (await openStorage(parts.register)).get(paths.manifest);
    const region = options.local ? 'local' : await client.config.region();
    return await writeBackupSet(
      await openStorage(to),
      { ...parts, region, manifest, created: new Date(), backup },
      key,
    );
  } finally {
    close();
  }
}

async function localParts(data: string | undefined) {
  const { checksumSecret, storageFolder } = await readLocalState(data);
  return { deployment: 'local', checksumSecret, sessionSecret: null, register: storageFolder };
}

async function stackParts(stack: string) {
  const { name, output } = await findDeployment(stack, ['data', 'loader']);
  const session = await sessionSecretOf(name);
  return {
    deployment: name,
    checksumSecret: await readSecret(output('KeyChecksumSecretArn')),
    sessionSecret: session === undefined ? null : await readSecret(session),
    register: `s3://${output('SnapshotBucketName')}`,
  };
}

/** The session secret of the portal; none where there is no portal. */
export async function sessionSecretOf(name: string): Promise<string | undefined> {
  return (await readPortal(name))?.outputs.SessionSecretArn;
}
