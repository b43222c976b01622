import { join, resolve } from 'node:path';
import { installTools } from '../../test/support/install-tools.ts';

const folder = resolve(import.meta.dirname, '../../node_modules/.cache/ci-tools');

/**
 * Where a file of one of the tools is, which are installed now if they were not.
 * @param path within `node_modules`, as `knip/bin/knip.js`
 * @throws Error where neither the registry nor the cache of npm has them
 */
export async function toolPath(path: string): Promise<string> {
  if (!(await installTools(import.meta.dirname, folder))) {
    throw new Error(
      'The tools of .ci/tools could not be installed: the npm registry does not answer. Try again online.',
    );
  }
  return join(folder, 'node_modules', path);
}
