import { closeSync, openSync, realpathSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';

/** Another process holds the lock. The message names it. */
export class LockHeldError extends Error {
  override name = 'LockHeldError';
  /** `process 4711 on laptop, since 2026-01-08 12:00 UTC`, as far as the holder could note it. */
  readonly holder: string;

  constructor(file: string, holder: string) {
    super(`${file} is locked by ${holder}`);
    this.holder = holder;
  }
}

/**
 * Takes an exclusive lock on `file`, which is created if needed and never removed, and returns a
 * function that releases it. The lock is one of the operating system on the file itself: it holds
 * whatever path leads there and in whatever container, a suspended holder keeps it, and it ends
 * with its process, however that ends. SQLite takes it for us, as Node has no call for it.
 * @throws LockHeldError
 */
export async function acquireLock(file: string): Promise<() => Promise<void>> {
  createFile(file);
  // Loaded on first use: an older Node 24 warns that this module is experimental, even if no lock
  // is needed.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  // SQLite refuses some links, so it gets the real path.
  const database = new DatabaseSync(realpathSync(file), { timeout: 0 });
  try {
    // Takes the lock of a writer, and writes nothing.
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    throw new LockHeldError(file, await holderOf(file));
  }
  held.add(database);
  const since = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const holder = `process ${process.pid} on ${hostname()}, since ${since} UTC`;
  await writeFile(holderFile(file), holder, { mode: 0o600 });
  return async () => {
    await rm(holderFile(file), { force: true });
    held.delete(database);
    database.close();
  };
}

/**
 * Keeps the locks of callers who drop their release function: a garbage-collected database is
 * closed.
 */
const held = new Set<object>();

/**
 * An existing file is not opened: closing any handle of a file releases all locks that this process
 * has on it.
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** SQLITE_BUSY: another connection holds the lock. */
const sqliteBusy = 5;

/** In a separate file, because reading the locked one would release the lock. */
const holderFile = (file: string) => `${file}.holder`;

async function holderOf(file: string): Promise<string> {
  const text = await readFile(holderFile(file), 'utf8').catch(() => '');
  return text === '' ? 'another process' : text;
}
