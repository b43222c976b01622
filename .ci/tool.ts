/**
 * Runs a tool that only the checks, the browser tests and the release need, with the given
 * arguments: `node local/launch.js .ci/tool.ts biome check .`. The tools are 170 packages, so
 * `npm ci` leaves them to the first use, or to `npm run tools`.
 */
import { spawnSync } from 'node:child_process';
import { strykerPath, toolPath } from './tools/installed.ts';

const tools: Readonly<Record<string, () => Promise<string>>> = {
  biome: () => toolPath('@biomejs/biome/bin/biome'),
  cdk: () => toolPath('aws-cdk/bin/cdk'),
  knip: () => toolPath('knip/bin/knip.js'),
  stryker: () => strykerPath('@stryker-mutator/core/bin/stryker.js'),
  tsc: () => toolPath('typescript/bin/tsc'),
};

const [, , name = '', ...options] = process.argv;
if (name === 'install') {
  await toolPath('');
  process.exit();
}
const { [name]: installed } = tools;
if (installed === undefined) {
  console.error(`Name one of the tools, or "install": ${Object.keys(tools).join(', ')}.`);
  process.exit(2);
}
const { status, error } = spawnSync(process.execPath, [await installed(), ...options], {
  stdio: 'inherit',
});
if (error) throw error;
process.exitCode = status ?? 1;
