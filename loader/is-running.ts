import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether there is a process with this id on this machine, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * When a process began, as the system tells it, without colons: a later one with the same id has
 * another value.
 */
export function processStart(pid: number): string {
  try {
    // The 22nd field, in ticks since the machine began; the second is a name in brackets, which may
    // hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return fields?.[19] ?? '';
  } catch {
    return startOfPs(pid);
  }
}

function startOfPs(pid: number): string {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return text.trim().replaceAll(/[^\w]+/g, '-');
  } catch {
    return '';
  }
}
