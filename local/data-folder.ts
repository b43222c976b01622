import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { allOfDatabase } from './engine/database-files.ts';
import { acquireLock, LockHeldError } from './lock.ts';
import { stateFile } from './state.ts';

/** The folder can't be used; the message says why. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

/** A data folder, ours until it is released. */
export interface DataFolder {
  readonly path: string;
  /** Of the embedded engine. */
  readonly databaseFile: string;
  readonly storageFolder: string;
  readonly demoFile: string;
  /** What the functions write. */
  readonly logFile: string;
  release(): Promise<void>;
}

/** What stays the same between two starts on the same data. */
export type Identity = z.infer<typeof identitySchema>;

const identitySchema = z.object({
  checksumSecret: z.string(),
  /** Ends the names of the tables, so that two data folders can share one engine. */
  suffix: z.string(),
  demoKey: z.string().optional(),
});

/**
 * Makes the folder where there is none and takes it for this process.
 * @throws DataFolderError where another process has it, or it can't be written
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  try {
    await makeFolder(path);
    const release = await acquireLock(join(path, 'lock'));
    return {
      path,
      databaseFile: join(path, 'dynamodb.db'),
      storageFolder: join(path, 'loads'),
      demoFile: join(path, 'demo-extract.zip'),
      logFile: join(path, 'functions.log'),
      release,
    };
  } catch (error) {
    if (error instanceof LockHeldError) {
      const hint = 'Stop that one first, or choose another folder with --data DIR.';
      throw new DataFolderError(`Another npm start (process ${error.pid}) already uses ${path}. ${hint}`);
    }
    throw new DataFolderError(`The data folder ${path} can't be used: ${(error as Error).message}`, { cause: error });
  }
}

/** With those around it. Not by Node's `recursive`, which never ends where no folder can be, as under `/proc`. */
async function makeFolder(path: string): Promise<void> {
  const around = dirname(path);
  const isAlone = await stat(around).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
  if (isAlone) await makeFolder(around);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) await mkdir(path);
}

/** Removes all that a start leaves in the folder, and nothing that someone else put there. */
export async function emptyDataFolder(folder: DataFolder): Promise<void> {
  const database = allOfDatabase(folder.databaseFile);
  const files = [folder.demoFile, folder.logFile, identityFile(folder.path), stateFile(folder.path)];
  for (const item of [...database, ...files, folder.storageFolder]) await rm(item, { recursive: true, force: true });
}

/** Reads the identity of the folder, or gives it one. */
export async function identityOf({ path }: DataFolder): Promise<Identity> {
  const text = await readFile(identityFile(path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) {
    try {
      return identitySchema.parse(JSON.parse(text));
    } catch {
      throw new DataFolderError(`${identityFile(path)} is damaged. Start with --fresh to begin again.`);
    }
  }
  const identity = { checksumSecret: randomBytes(32).toString('hex'), suffix: randomBytes(3).toString('hex') };
  await writeIdentity(path, identity);
  return identity;
}

/** Replaces the identity at once, for this user's eyes only: it holds a secret and the key of the demo account. */
export async function writeIdentity(path: string, identity: Identity): Promise<void> {
  const draft = `${identityFile(path)}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, identityFile(path));
}

const identityFile = (path: string) => join(path, 'identity.json');
