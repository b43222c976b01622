import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';

/** Another process that is still running holds the lock. */
export class LockHeldError extends Error {
  override name = 'LockHeldError';
  readonly pid: number;

  constructor(file: string, pid: number) {
    super(`${file} is held by process ${pid}`);
    this.pid = pid;
  }
}

/**
 * Takes the lock that `file` stands for and gives what releases it. One of a process that is gone is taken over, also
 * where its process id has been given out again.
 * @throws LockHeldError
 */
export async function acquireLock(file: string): Promise<() => Promise<void>> {
  const own = `${file}.${randomUUID()}`;
  await writeFile(own, `${holder(process.pid)}`);
  try {
    for (;;) {
      // A link either makes the lock, whole, or fails: no process ever sees one half written.
      if (await linked(own, file)) return () => rm(file, { force: true });
      const found = await readFile(file, 'utf8').catch(() => undefined);
      if (found === undefined) continue;
      const pid = Number.parseInt(found, 10);
      if (holder(pid) === found) throw new LockHeldError(file, pid);
      await removeStale(file, found);
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Two may find the same stale lock: the later must not take away the lock that the earlier has made since. */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return; // Someone else was faster.
  }
  if ((await readFile(aside, 'utf8')) !== stale) await linked(aside, file);
  await rm(aside);
}

/** A process as the lock names it: its id, and where the system tells it the moment it started; none for one that is gone. */
function holder(pid: number): string | undefined {
  return isRunning(pid) ? `${pid} ${startOf(pid)}` : undefined;
}

/** Whether there is a process with this id, ours to signal or not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function startOf(pid: number): string {
  try {
    // The 22nd field; the 2nd, in parentheses, may hold spaces.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
