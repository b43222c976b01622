import { join, resolve } from 'node:path';
import { installTools } from '../../test/support/install-tools.ts';

const folder = resolve(import.meta.dirname, '../../node_modules/.cache/package-tools');

/**
 * Where Verdaccio, publint and attw are: 400 packages that only these checks need, so `npm ci` does
 * not install them. Undefined where neither the registry nor the cache of npm has them.
 */
export async function installPackageTools(): Promise<string | undefined> {
  const isInstalled = await installTools(join(import.meta.dirname, 'tools'), folder);
  return isInstalled ? join(folder, 'node_modules/.bin') : undefined;
}
