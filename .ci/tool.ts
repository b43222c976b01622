/**
 * Runs a tool that only the checks and the release need, with the given arguments: `node local/launch.js .ci/tool.ts
 * biome check .`. The tools are 150 packages, so `npm ci` leaves them to the first use.
 */
import { spawnSync } from 'node:child_process';
import { toolPath } from './tools/installed.ts';

const paths: Readonly<Record<string, string>> = {
  biome: '@biomejs/biome/bin/biome',
  knip: 'knip/bin/knip.js',
};

const [, , name = '', ...options] = process.argv;
const path = paths[name];
if (path === undefined) {
  console.error(`Name one of the tools: ${Object.keys(paths).join(', ')}.`);
  process.exit(2);
}
const { status, error } = spawnSync(process.execPath, [await toolPath(path), ...options], { stdio: 'inherit' });
if (error) throw error;
process.exitCode = status ?? 1;
