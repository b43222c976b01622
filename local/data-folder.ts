import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { layoutFault, storedLayout } from '../core/tables.ts';
import { isRunning } from '../loader/is-running.ts';
import { databasePaths } from './engine/database-files.ts';
import { previousLogFile } from './log-file.ts';
import { acquireLock, LockHeldError } from './process-lock.ts';

/**
 * The folder that the user ran npm in, which relative paths refer to; npm itself runs us in the
 * root of the project.
 */
export function callersFolder(): string {
  return process.env.INIT_CWD ?? process.cwd();
}

/** The folder with package.json. */
export const projectRoot = resolve(import.meta.dirname, '..');

/** Whether this is the installed package, which has no local run of its own, and not a clone. */
const isInstalled = basename(dirname(projectRoot)) === 'node_modules';

/** The file in a data folder that `npm start` writes its demo to. */
export const demoExtractName = 'demo-extract.zip';

/** The data folder of the local run unless `--data` names another. */
export const defaultDataFolder = join(projectRoot, '.data');

/** The data folder can't be used; the message says why and what to do. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

/** A data folder, locked for this process until it is released. */
export type DataFolder = {
  readonly path: string;
  /** The database of the embedded engine. */
  readonly databaseFile: string;
  readonly storageFolder: string;
  readonly demoFile: string;
  readonly logFile: string;
  release(): Promise<void>;
};

/** The identity of a data folder, which later starts on the same data keep. */
export type FolderIdentity = {
  /** The layout of the data: `storedLayout` of the version that created the folder. */
  readonly layout: number;
  /** The suffix of the table names, so that several data folders can share one engine. */
  readonly suffix: string;
  readonly demoKey?: string;
};

/**
 * Creates the folder if needed and locks it for this process.
 * @throws DataFolderError when another process is using it, or it can't be written
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  try {
    await createFolder(path);
    const release = await acquireLock(join(path, 'folder.lock'));
    return {
      path,
      databaseFile: join(path, 'dynamodb.db'),
      storageFolder: join(path, 'loads'),
      demoFile: join(path, demoExtractName),
      logFile: join(path, 'functions.log'),
      release,
    };
  } catch (error) {
    if (error instanceof LockHeldError) {
      const hint = 'Stop it, or start a second service: npm start -- --data FOLDER --port 0';
      throw new DataFolderError(`Another npm start is using ${path}: ${error.holder}. ${hint}`);
    }
    throw new DataFolderError(
      `The data folder ${path} can't be used: ${(error as Error).message}. Choose another with --data FOLDER.`,
      { cause: error },
    );
  }
}

/**
 * Creates the folder and its parents. Not with Node's `recursive`, which loops forever under
 * `/proc`.
 */
async function createFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await createFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    // By another start at the same time.
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Where each kind of data is in a folder. */
const dataIn = ({ path, databaseFile, storageFolder }: DataFolder) => [
  ...databasePaths(databaseFile),
  storageFolder,
  join(path, 'statements'),
];

/**
 * Removes everything that a start creates in the folder, and nothing else, whatever its layout.
 * Returns the suffix of its tables, which another engine may hold, if its identity can be read.
 */
export async function emptyDataFolder(folder: DataFolder): Promise<string | undefined> {
  const { suffix } = parsed<FolderIdentity>((await identityText(folder)) ?? '') ?? {};
  const logs = [folder.logFile, previousLogFile(folder.logFile)];
  const files = [...logs, folder.demoFile, stateFile(folder.path)];
  // The identity last: data without one is refused.
  for (const item of [...dataIn(folder), ...files, identityFile(folder.path)]) {
    await rm(item, { recursive: true, force: true });
  }
  return typeof suffix === 'string' ? suffix : undefined;
}

const identityText = ({ path }: DataFolder) =>
  readFile(identityFile(path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/** The ways out for data that this version can't use. */
const otherData =
  'start with --fresh, which discards it, or with the version of bag-adres that stored it.';

/**
 * Reads the identity of the folder, or creates one for a folder without data.
 * @throws DataFolderError if the data has another layout or none; nothing is written then
 */
export async function readFolderIdentity(folder: DataFolder): Promise<FolderIdentity> {
  const { path } = folder;
  const text = await identityText(folder);
  const identity = text === undefined ? undefined : parsed<FolderIdentity>(text);
  if (text !== undefined && !identity) throw damaged(path);
  if (identity || dataIn(folder).some(existsSync)) {
    const fault = layoutFault(identity?.layout);
    if (fault) throw new DataFolderError(`The data in ${path} ${fault}: ${otherData}`);
  }
  if (identity) {
    if (typeof identity.suffix === 'string') return identity;
    throw damaged(path);
  }
  const created = { layout: storedLayout, suffix: randomBytes(3).toString('hex') };
  await writeIdentity(path, created);
  return created;
}

const damaged = (path: string) =>
  new DataFolderError(
    `${identityFile(path)} is damaged. Start with --fresh to discard the data and begin again.`,
  );

/**
 * Refuses data whose tables have other names than `wanted`: new tables beside them would hide it.
 * @param existing the tables of the folder
 * @throws DataFolderError
 */
export function requireOwnTables(
  { path }: DataFolder,
  wanted: readonly string[],
  existing: readonly string[],
): void {
  const others = existing.filter((name) => !wanted.includes(name));
  if (others.length === 0 || wanted.every((name) => existing.includes(name))) return;
  throw new DataFolderError(
    `The data in ${path} is in the tables ${others.join(' and ')}, but this version of bag-adres uses ${wanted.join(' and ')}: ${otherData}`,
  );
}

/**
 * Replaces the identity atomically, readable by its owner only: it holds the API key of the demo
 * account.
 */
export async function writeIdentity(path: string, identity: FolderIdentity): Promise<void> {
  const draft = `${identityFile(path)}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, identityFile(path));
}

const identityFile = (path: string) => join(path, 'identity.json');

/** The connection that a running `npm start` publishes for the command line. */
export type LocalState = {
  /** The layout of its data: `storedLayout` of its version. */
  readonly layout: number;
  /** The process id of `npm start`. */
  readonly pid: number;
  /** `http://127.0.0.1:3000` */
  readonly baseUrl: string;
  /**
   * The endpoint of the DynamoDB engine, and the secret that the embedded one requires; see
   * `localDynamoDb`.
   */
  readonly endpoint: string;
  readonly accessKeyId?: string | undefined;
  readonly addressesTable: string;
  readonly accountsTable: string;
  /** The loader's storage, with the snapshots and the manifest. */
  readonly storageFolder: string;
  /** The list in which `npm start` looks for days of mutations; absent if it follows none. */
  readonly mutations?: string | undefined;
  /** Whether addresses have their objects. */
  readonly objecten?: boolean | undefined;
};

/** No `npm start` is running on this data folder; the message says how to start it. */
export class NotRunningError extends Error {
  override name = 'NotRunningError';
}

/**
 * Reads the state of the `npm start` that is running on `dataFolder`.
 * @throws NotRunningError
 * @throws DataFolderError if that is of a version with another layout
 */
export async function readLocalState(dataFolder: string = defaultDataFolder): Promise<LocalState> {
  const folder = resolve(callersFolder(), dataFolder);
  const text = await readFile(stateFile(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') {
      throw new NotRunningError(
        `${dataFolder} is not a folder. Give --data the folder that npm start was started with.`,
      );
    }
    if (error.code === 'EACCES') {
      throw new NotRunningError(
        `${stateFile(folder)} may not be read by you. Use the account that runs npm start.`,
      );
    }
    return undefined;
  });
  const state = text === undefined ? undefined : parsed<LocalState>(text);
  if (state && Number.isInteger(state.pid) && isRunning(state.pid)) {
    const fault = layoutFault(state.layout);
    if (!fault) return state;
    throw new DataFolderError(
      `The data of the "npm start" on ${dataFolder} ${fault}: use the version of bag-adres that runs there.`,
    );
  }
  if (dataFolder === defaultDataFolder && isInstalled) {
    throw new NotRunningError(
      '--local is for the "npm start" of a clone of bag-adres: add --data and its folder .data.',
    );
  }
  const option = dataFolder === defaultDataFolder ? '' : ` -- --data ${dataFolder}`;
  throw new NotRunningError(
    `Nothing is running on ${dataFolder}. Start it in another terminal: npm start${option}`,
  );
}

/** Publishes the state for the command line, readable by its owner only. */
export async function writeLocalState(
  dataFolder: string,
  connection: Omit<LocalState, 'layout'>,
): Promise<void> {
  const state: LocalState = { layout: storedLayout, ...connection };
  await removeLocalState(dataFolder);
  await writeFile(stateFile(dataFolder), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** Removes the state when the service stops. */
export async function removeLocalState(dataFolder: string): Promise<void> {
  await rm(stateFile(dataFolder), { force: true });
}

/** The path of the state file. */
export function stateFile(dataFolder: string): string {
  return join(dataFolder, 'local.json');
}

/**
 * The value of a file that only `npm start` writes; `undefined` if it is no JSON or not an object.
 */
function parsed<Value extends object>(text: string): Value | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
