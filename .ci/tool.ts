/**
 * Runs a tool that only the checks, the browser tests and the release need, with the given
 * arguments: `node local/launch.js .ci/tool.ts biome check .`. The tools are 170 packages, so
 * `npm ci` leaves them to the first use, or to `npm run tools`.
 */
import { spawnSync } from 'node:child_process';
import { toolPath } from './tools/installed.ts';

const paths: Readonly<Record<string, string>> = {
  biome: '@biomejs/biome/bin/biome',
  cdk: 'aws-cdk/bin/cdk',
  knip: 'knip/bin/knip.js',
  tsc: 'typescript/bin/tsc',
};

const [, , name = '', ...options] = process.argv;
if (name === 'install') {
  await toolPath('');
  process.exit();
}
const path = paths[name];
if (path === undefined) {
  console.error(`Name one of the tools, or "install": ${Object.keys(paths).join(', ')}.`);
  process.exit(2);
}
const { status, error } = spawnSync(process.execPath, [await toolPath(path), ...options], {
  stdio: 'inherit',
});
if (error) throw error;
process.exitCode = status ?? 1;
