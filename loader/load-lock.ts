import { hostname } from 'node:os';
import { type LoadLock, LockedError } from './storage/address-table.ts';

const heldSeconds = 60;
const renewedMilliseconds = 20_000;

/** Names this process as the owner of a lock: another one here can tell whether it is still alive. */
export function processOwner(suffix: string): string {
  return `${hostname()}:${process.pid}:${suffix}`;
}

/**
 * Works under the lock, which is renewed meanwhile and given back at the end. The lock of a process of this machine
 * that is gone is taken over at once; another's is waited for by whoever runs the load again.
 * @throws LockedError
 */
export async function withLock<T>(lock: LoadLock, owner: string, work: () => Promise<T>): Promise<T> {
  await takeLock(lock, { owner, seconds: heldSeconds, isGone: isProcessGone });
  // A renewal that fails is no reason to stop: every file of changes checks the lock before it writes.
  const renewal = setInterval(() => void lock.acquire(owner, heldSeconds).catch(() => undefined), renewedMilliseconds);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await lock.release(owner).catch(() => undefined); // else it ends by itself
  }
}

type Taking = {
  owner: string;
  seconds: number;
  /** Whether nothing of this other owner is left that could write. */
  isGone: (owner: string) => boolean | Promise<boolean>;
};

/** Takes the lock, from an owner that is gone if it has to. @throws LockedError, and what `isGone` throws */
export async function takeLock(lock: LoadLock, { owner, seconds, isGone }: Taking): Promise<void> {
  try {
    await lock.acquire(owner, seconds);
  } catch (error) {
    if (!(error instanceof LockedError) || !error.owner || !(await isGone(error.owner))) throw error;
    await lock.release(error.owner);
    await lock.acquire(owner, seconds);
  }
}

function isProcessGone(owner: string): boolean {
  const [host, pid] = owner.split(':');
  if (host !== hostname() || !pid || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
