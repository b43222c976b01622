/**
 * `npm start`, on every platform. On Linux, glibc gives each thread up to 128 MB of address space to keep freed memory
 * in, unless this variable bounds that before the process starts: the process replaces itself with one that has it, so
 * no second one stays.
 */
import { fileURLToPath } from 'node:url';
import { nodeProblem } from './node-version.js';

const args = process.argv.slice(2);
process.argv.splice(
  1,
  process.argv.length,
  fileURLToPath(new URL('launch.js', import.meta.url)),
  'local/start.ts',
  ...args,
);
if (process.platform === 'linux' && process.env.MALLOC_ARENA_MAX === undefined && nodeProblem() === undefined) {
  const env = { ...process.env, MALLOC_ARENA_MAX: '2' };
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env);
}
await import('./launch.js');
