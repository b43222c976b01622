/**
 * Builds the package into `dist`: for each of its exports one file of JavaScript, and one of types that refers to no
 * other file of this repository. `npm run build` in this folder.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { packageScripts } from './scripts.ts';

const folder = import.meta.dirname;
const root = resolve(folder, '../..');
const dist = join(folder, 'dist');
/** Where `tsconfig.json` puts the types of every file that one of the exports refers to. */
const types = join(dist, 'types');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const [name, script] of Object.entries(await packageScripts())) writeFileSync(join(dist, name), script);

const { status, error } = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '--project', join(folder, 'tsconfig.json')],
  { stdio: 'inherit' },
);
if (error) throw error;
if (status !== 0)
  throw new Error('The types have errors. Correct what "npm run check:types" reports, then build again.');
for (const name of ['index', 'loads', 'statements', 'access']) {
  joinTypes(`packages/admin/${name}.d.ts`, `${name}.d.ts`);
  // The same types: TypeScript reads them as types of a CommonJS module.
  copyFileSync(join(dist, `${name}.d.ts`), join(dist, `${name}.d.cts`));
}
rmSync(types, { recursive: true });

copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));

/** Writes the types that `entry` exports, and those that they refer to, into one file. */
function joinTypes(entry: string, file: string): void {
  const mainEntryPointFilePath = join(types, entry);
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath,
      compiler: {
        overrideTsconfig: {
          compilerOptions: { target: 'es2024', module: 'nodenext', types: ['node'], strict: true, skipLibCheck: true },
          files: [mainEntryPointFilePath],
        },
      },
      dtsRollup: { enabled: true, untrimmedFilePath: join(dist, file) },
    },
  });
  const problems: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      message.handled = true;
      if (message.logLevel === 'error' || message.messageId === 'ae-forgotten-export') problems.push(message.text);
    },
  });
  if (!succeeded || problems.length > 0) {
    throw new Error(
      `The types of ${file} are not complete: export these in packages/admin/index.ts.\n${problems.join('\n')}`,
    );
  }
}
