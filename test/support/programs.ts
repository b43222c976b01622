import { spawnSync } from 'node:child_process';

/** Whether this machine has a program: it then runs with these options. */
export const runs = (program: string, ...options: string[]): boolean =>
  spawnSync(program, options, { stdio: 'ignore' }).status === 0;
