import { readFile } from 'node:fs/promises';
import { openStorage } from '../../loader/storage/open.ts';
import { paths, type Storage } from '../../loader/storage/storage.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { type ConnectionOptions, openAdmin, readSecret } from '../connect/admin.ts';
import { findDeployment, readPortal } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { readSetIndex, type SetContents, type SetIndex, type SetStore } from './backup-set.ts';

/** A place with backup sets: `s3://bucket/prefix` or a folder, which another account or region can be. */
export async function openSets(location: string): Promise<SetStore & Pick<Storage, 'list'>> {
  return openStorage(location);
}

/** The sets at a place, the newest first. */
export async function listSets(store: Pick<Storage, 'list'>): Promise<string[]> {
  const found = (await store.list('')).flatMap(({ key }) => /^(.+\/)set\.json$/.exec(key)?.[1] ?? []);
  return found.toSorted((a, b) => (timeIn(a) < timeIn(b) ? 1 : -1));
}

const timeIn = (set: string) => set.split('/').at(-2) ?? '';

/** The place and the name of the set that `from` names: a set itself, or a place, of which the newest is taken. */
export async function findSet(from: string): Promise<{ store: SetStore; name: string; index: SetIndex }> {
  const whole = from.endsWith('/') ? from : `${from}/`;
  const store = await openSets(whole);
  if (await store.get('set.json')) return { store, name: '', index: await readSetIndex(store, '') };
  const [newest] = await listSets(store);
  if (newest === undefined) throw new CommandError('no_set', `There is no backup set in ${from}.`);
  return { store, name: newest, index: await readSetIndex(store, newest) };
}

/** Reads a file: a key in PEM form, an export. @throws CommandError */
export async function readTextFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError('file', `Can't read ${file}: ${error.message}`, { cause: error });
  });
}

/** Collects what a set holds, of the local run or of a deployment. */
export async function collectSet(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<SetContents> {
  const { admin, client, close } = await openAdmin(options, env);
  try {
    const backup = await admin.backup.export();
    const { register, ...rest } = options.local ? await localParts(options.data) : await stackParts(`${options.stack}`);
    const manifest = await (await openStorage(register)).get(paths.manifest);
    const region = options.local ? 'local' : await client.config.region();
    return { ...rest, region, register, manifest, created: new Date(), backup };
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
