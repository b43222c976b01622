import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { type Engine, EngineError, startEngine, startEngineAt } from './engine.ts';

/** SQLite's files next to the database, with writes that are not in it yet. */
const journalEndings = ['-wal', '-shm', '-journal'];

/** The new database while it is written. It never has to be kept. */
export function newDatabaseFile(databaseFile: string): string {
  return `${databaseFile}.import`;
}

/**
 * The complete new database. Once a file has this name, it replaces the old one, at the next start
 * at the latest.
 */
function importedFile(databaseFile: string): string {
  return `${databaseFile}.imported`;
}

/** All files that belong to the database, including files that an interrupted import left. */
export function databasePaths(databaseFile: string): string[] {
  const files = ['', ...journalEndings].map((ending) => databaseFile + ending);
  return [...files, importedFile(databaseFile), newDatabaseFile(databaseFile)];
}

/**
 * Replaces the database by `newFile`, durably and atomically even if we are killed. No engine may
 * be using either.
 */
export async function replaceDatabase(databaseFile: string, newFile: string): Promise<void> {
  const file = await open(newFile);
  await file.sync();
  await file.close();
  await rename(newFile, importedFile(databaseFile));
  await finishImport(databaseFile);
}

/** Completes or discards an interrupted import. Call it before an engine starts. */
export async function finishImport(databaseFile: string): Promise<void> {
  if (existsSync(importedFile(databaseFile))) {
    // SQLite would apply the old database's journal to the new one.
    for (const ending of journalEndings) await rm(databaseFile + ending, { force: true });
    await rename(importedFile(databaseFile), databaseFile);
  }
  await rm(newDatabaseFile(databaseFile), { force: true });
}

/** The embedded engine on a file that can be replaced while the engine is paused. */
export interface PausableEngine extends Engine {
  /**
   * Stops the engine, runs `work`, and starts the engine again at the same endpoint, also when the
   * work fails. The signal is aborted when `stop` is called meanwhile.
   */
  pause(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

/**
 * Starts the embedded engine on a file, after completing or discarding an interrupted import.
 * @param meanwhile called each time when its process was started, which takes a moment to answer
 * @throws EngineMissingError, EngineError
 */
export async function startPausableEngine(
  file: string,
  meanwhile?: () => void,
): Promise<PausableEngine> {
  await finishImport(file);
  let engine = await startEngine(file, meanwhile);
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
        engine = await startEngineAt(endpoint, file, meanwhile);
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
