import { globSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { configurations } from '../../../tools/judges/templates/configurations.ts';
import { openHandlers, synthesizeInstalled } from '../../../tools/package/handlers.ts';
import { buildPackage } from '../../../tools/release/build-package.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { isFullSweep } from '../../support/sweep.ts';

// Inside the project, so that the package finds what npm would install beside it.
const work = resolve('node_modules/.cache', `handlers-${process.pid}`);
const installed = join(work, 'bag-adres');
const assemblies = folderForNow('bag-adres-handlers-');

beforeAll(async () => {
  if (isFullSweep) await buildPackage(installed, '1.0.0');
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe('the package of a release', () => {
  inSweep.each(Object.keys(configurations))(
    'has the handler of every function of the configuration %s',
    async (name) => {
      const out = join(assemblies, name);
      await synthesizeInstalled(installed, out, configurations[name] ?? {}, work);
      const { opened, faults } = await openHandlers(out);
      expect(faults).toEqual([]);
      expect(opened).toBeGreaterThan(10);
    },
  );

  inSweep('without which a function is a fault that names its module', async () => {
    const out = join(assemblies, 'objecten');
    for (const module of globSync('asset.*/join.mjs', { cwd: out })) rmSync(join(out, module));
    const { faults } = await openHandlers(out);
    expect(faults).toEqual([expect.stringMatching(/loader\.template\.json StepsJoin.*join\.mjs does not exist/)]);
  });
});
