import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { isRunning } from '../loader/is-running.ts';

/** The folder that the user ran npm in, which relative paths refer to; npm itself runs us in the root of the project. */
export function callersFolder(): string {
  return process.env.INIT_CWD ?? process.cwd();
}

/** The folder with package.json. */
export const projectRoot = resolve(import.meta.dirname, '..');

/** The file in a data folder that `npm start` writes its demo to. */
export const demoExtractName = 'demo-extract.zip';

/** The data folder of the local run unless `--data` names another. */
export const defaultDataFolder = join(projectRoot, '.data');

/** What a running `npm start` publishes for the command line. */
export type LocalState = z.infer<typeof localStateSchema>;

const localStateSchema = z.object({
  /** The process id of `npm start`. */
  pid: z.int(),
  /** `http://127.0.0.1:3000` */
  baseUrl: z.string(),
  /** The endpoint of the DynamoDB engine, and the secret that it asks for if it is the embedded one; see `localDynamoDb`. */
  endpoint: z.string(),
  accessKeyId: z.string().optional(),
  addressesTable: z.string(),
  accountsTable: z.string(),
  checksumSecret: z.string(),
  /** The loader's storage, with the snapshots and the manifest. */
  storageFolder: z.string(),
  /** Where `npm start` looks for days of mutations; absent where it follows none. */
  mutations: z.string().optional(),
});

/** No `npm start` is running on this data folder; the message says how to start it. */
export class NotRunningError extends Error {
  override name = 'NotRunningError';
}

/**
 * Reads the state of the `npm start` that is running on `dataFolder`.
 * @throws NotRunningError
 */
export async function readLocalState(dataFolder: string = defaultDataFolder): Promise<LocalState> {
  const folder = resolve(callersFolder(), dataFolder);
  const text = await readFile(stateFile(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR')
      throw new NotRunningError(
        `${dataFolder} is not a folder. Give --data the folder that npm start was started with.`,
      );
    if (error.code === 'EACCES')
      throw new NotRunningError(`${stateFile(folder)} may not be read by you. Use the account that runs npm start.`);
    return undefined;
  });
  const state = text === undefined ? undefined : localStateSchema.safeParse(parsed(text)).data;
  if (state !== undefined && isRunning(state.pid)) return state;
  const option = dataFolder === defaultDataFolder ? '' : ` -- --data ${dataFolder}`;
  throw new NotRunningError(`Nothing is running on ${dataFolder}. Start it in another terminal: npm start${option}`);
}

/** Publishes the state for the command line, readable by its owner only. */
export async function writeLocalState(dataFolder: string, state: LocalState): Promise<void> {
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
