import { readFile } from 'node:fs/promises';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { openStorage } from '../../loader/storage/open.ts';
import { paths, type Storage } from '../../loader/storage/storage.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { backupLines, countBackup } from '../../packages/admin/backup-lines.ts';
import { type ConnectionOptions, openAdmin } from '../connect/admin.ts';
import { clientConfig, deploymentStacks, findDeployment, readPortal } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { readSetIndex, type SetContents, type SetIndex, type SetStore } from './backup-set.ts';
import { registerPart } from './register.ts';

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

/** Reads a key file (PEM). @throws CommandError */
export async function readKeyFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError('file', `Can't read ${file}: ${error.message}`, { cause: error });
  });
}

/** Collects what a set holds, of the local run or of a deployment. */
export async function collectSet(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<SetContents> {
  const { admin, close } = await openAdmin(options, env);
  try {
    const backup = await admin.backup.export();
    const rest = options.local ? await localParts(options.data) : await stackParts(`${options.stack}`);
    return { ...rest, created: new Date(), accounts: backupLines(backup), counts: countBackup(backup) };
  } finally {
    close();
  }
}

type OtherParts = Omit<SetContents, 'created' | 'accounts' | 'counts'>;

async function localParts(data: string | undefined): Promise<OtherParts> {
  const { checksumSecret, storageFolder } = await readLocalState(data);
  const loads = await registerParts(await openStorage(storageFolder), storageFolder);
  return { deployment: 'local', region: 'local', checksumSecret, sessionSecret: null, ...loads };
}

async function stackParts(stack: string): Promise<OtherParts> {
  const { name } = deploymentStacks(stack);
  const { output } = await findDeployment(stack, ['data', 'loader']);
  const secrets = new SecretsManagerClient(clientConfig);
  try {
    const read = async (SecretId: string) =>
      (await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '';
    const session = await sessionSecretOf(name);
    const bucket = `s3://${output('SnapshotBucketName')}`;
    return {
      deployment: name,
      region: await secrets.config.region(),
      checksumSecret: await read(output('KeyChecksumSecretArn')),
      sessionSecret: session === undefined ? null : await read(session),
      ...(await registerParts(await openStorage(bucket), bucket)),
    };
  } finally {
    secrets.destroy();
  }
}

/** The session secret of the portal; none where there is no portal, or one of an older version. */
export async function sessionSecretOf(name: string): Promise<string | undefined> {
  return (await readPortal(name))?.outputs.SessionSecretArn;
}

async function registerParts(storage: Storage, location: string): Promise<Pick<SetContents, 'manifest' | 'snapshots'>> {
  return registerPart(await storage.get(paths.manifest), location);
}
