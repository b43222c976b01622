import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installTools } from '../../test/support/install-tools.ts';

const folder = resolve(import.meta.dirname, '../../node_modules/.cache/ci-tools');

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
export async function toolPath(path: string): Promise<string> {
  if (!(await installTools(import.meta.dirname, folder))) {
    throw new Error(
      'The tools of .ci/tools could not be installed: the npm registry does not answer. Try again online.',
    );
  }
  return join(folder, 'node_modules', path);
}
