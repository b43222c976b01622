import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { isRunning } from '../loader/is-running.ts';

/** npm runs us in the root of the project; a relative path is one of the folder that npm was run in. */
export function callersFolder(): string {
  return process.env.INIT_CWD ?? process.cwd();
}

/** The folder that package.json lies in. */
export const projectRoot = resolve(import.meta.dirname, '..');

/** Where the local run keeps its data unless `--data` says otherwise. */
export const defaultDataFolder = join(projectRoot, '.data');

/** What the running `npm start` tells the command line. */
export type LocalState = z.infer<typeof localStateSchema>;

const localStateSchema = z.object({
  /** The process of `npm start`. */
  pid: z.int(),
  /** `http://127.0.0.1:3000` */
  baseUrl: z.string(),
  /** Of the DynamoDB engine; for the client see `localDynamoDb`. */
  endpoint: z.string(),
  addressesTable: z.string(),
  accountsTable: z.string(),
  checksumSecret: z.string(),
  /** The loader's storage: snapshots and the manifest. */
  storageFolder: z.string(),
});

/** Nothing is running on this data; the message says how to start it. */
export class NotRunningError extends Error {
  override name = 'NotRunningError';
}

/**
 * Reads what the `npm start` on `dataFolder` has to tell.
 * @throws NotRunningError
 */
export async function readLocalState(dataFolder: string = defaultDataFolder): Promise<LocalState> {
  const text = await readFile(stateFile(resolve(callersFolder(), dataFolder)), 'utf8').catch(() => undefined);
  const state = text === undefined ? undefined : localStateSchema.safeParse(parsed(text)).data;
  if (state !== undefined && isRunning(state.pid)) return state;
  const option = dataFolder === defaultDataFolder ? '' : ` -- --data ${dataFolder}`;
  throw new NotRunningError(`Nothing is running on ${dataFolder}. Start it, in another terminal: npm start${option}`);
}

/** Writes it for the command line, for this user's eyes only. */
export async function writeLocalState(dataFolder: string, state: LocalState): Promise<void> {
  await removeLocalState(dataFolder);
  await writeFile(stateFile(dataFolder), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

export async function removeLocalState(dataFolder: string): Promise<void> {
  await rm(stateFile(dataFolder), { force: true });
}

/** The file that it lies in. */
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
