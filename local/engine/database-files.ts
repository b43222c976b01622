import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { type Engine, EngineError, startEngine, startEngineOn } from './engine.ts';

/** What the engine keeps beside its database: writes that are not in it yet. */
const besides = ['-wal', '-shm', '-journal'];

/** The folder that an import into the database works in; nothing in it is worth keeping. */
export function importFolder(databaseFile: string): string {
  return `${databaseFile}.import`;
}

/** The database that takes the place of the one there. Once it has this name it is whole, and it will. */
function importedFile(databaseFile: string): string {
  return `${databaseFile}.imported`;
}

/** All files and folders that belong to the database, also those of an import that died. */
export function allOfDatabase(databaseFile: string): string[] {
  const files = ['', ...besides].map((ending) => databaseFile + ending);
  return [...files, importedFile(databaseFile), importFolder(databaseFile)];
}

/** Puts `newFile` in the place of the database, for good, though it dies at any moment. No engine may use either. */
export async function replaceDatabase(databaseFile: string, newFile: string): Promise<void> {
  const file = await open(newFile);
  await file.sync();
  await file.close();
  await rename(newFile, importedFile(databaseFile));
  await finishImport(databaseFile);
}

/** Ends what an import that died has left, well or as if it never began. To be done before an engine starts. */
export async function finishImport(databaseFile: string): Promise<void> {
  if (existsSync(importedFile(databaseFile))) {
    // Those of the old database would be taken for writes to the new one.
    for (const ending of besides) await rm(databaseFile + ending, { force: true });
    await rename(importedFile(databaseFile), databaseFile);
  }
  await rm(importFolder(databaseFile), { recursive: true, force: true });
}

/** The embedded engine on a file, which can be taken away from it for a while. */
export interface PausableEngine extends Engine {
  /**
   * Stops the engine, does the work, and starts the engine again at the same endpoint, also when the work fails. The
   * signal is aborted when the engine shall end for good meanwhile.
   */
  pause(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

/**
 * Starts the embedded engine on a file, after an import that died there is finished or forgotten.
 * @throws EngineMissingError, EngineError
 */
export async function startPausableEngine(file: string): Promise<PausableEngine> {
  await finishImport(file);
  let engine = await startEngine(file);
  const { endpoint } = engine;
  const stopping = new AbortController();
  let paused: Promise<void> | undefined;
  const ended = Promise.withResolvers<void>();
  const watch = () => {
    void engine.ended.then(() => {
      if (!paused) ended.resolve();
    });
  };
  watch();

  const pause = async (work: (signal: AbortSignal) => Promise<void>) => {
    await engine.stop();
    try {
      stopping.signal.throwIfAborted();
      await work(stopping.signal);
    } finally {
      if (!stopping.signal.aborted) {
        engine = await startEngineOn(Number(new URL(endpoint).port), file);
        watch();
      }
    }
  };
  return {
    endpoint,
    ended: ended.promise,
    async pause(work) {
      paused = pause(work);
      try {
        await paused;
      } finally {
        paused = undefined;
      }
    },
    async stop() {
      stopping.abort(new EngineError('The embedded DynamoDB engine was stopped.'));
      await paused?.catch(() => undefined);
      await engine.stop();
      ended.resolve();
    },
  };
}
