import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installTools } from '../../test/support/install-tools.ts';

const cache = resolve(import.meta.dirname, '../../node_modules/.cache');
const folder = join(cache, 'ci-tools');

/** The path of a file of a tool, such as `knip/bin/knip.js`, if the tools are installed. */
export function installedTool(path: string): string | undefined {
  const file = join(folder, 'node_modules', path);
  return existsSync(file) ? file : undefined;
}

/**
 * Installs the tools if they are missing, and returns the path of a file of one of them.
 * @param path within `node_modules`, as `knip/bin/knip.js`
 * @throws Error if neither the registry nor npm's cache has them
 */
export function toolPath(path: string): Promise<string> {
  return installedPath(import.meta.dirname, folder, path);
}

/** The same for Stryker, which has as many packages as all others and is run by hand. */
export function strykerPath(path: string): Promise<string> {
  return installedPath(join(import.meta.dirname, 'stryker'), join(cache, 'stryker'), path);
}

async function installedPath(manifests: string, into: string, path: string): Promise<string> {
  if (!(await installTools(manifests, into))) {
    throw new Error(
      'The tools of .ci/tools could not be installed: the npm registry does not answer. Try again online.',
    );
  }
  return join(into, 'node_modules', path);
}
