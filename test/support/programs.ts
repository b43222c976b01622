import { execFileSync, spawnSync } from 'node:child_process';

/** Whether this machine has a program: it then runs with these options. */
export const runs = (program: string, ...options: string[]): boolean =>
  spawnSync(program, options, { stdio: 'ignore' }).status === 0;

/**
 * What runs Python: a version manager puts a shell script in its place, which takes ten times as
 * long as Python.
 */
export const python = pythonItself();

function pythonItself(): string {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'python3'; // Which is then found to be missing.
  }
}
