/**
 * Builds the package into `dist`: for each of its exports one file of JavaScript, and one of types
 * that refers to no other file of this repository. `npm run build` in this folder.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toolPath } from '../../.ci/tools/installed.ts';
import { packageScripts } from './scripts.ts';

const folder = import.meta.dirname;
const root = resolve(folder, '../..');
const dist = join(folder, 'dist');
/** Where `tsconfig.json` puts the types of every file that one of the exports refers to. */
const types = join(dist, 'types');
const apiExtractor = await toolPath('@microsoft/api-extractor/bin/api-extractor');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const [name, script] of Object.entries(await packageScripts())) {
  writeFileSync(join(dist, name), script);
}

const { status, error } = spawnSync(
  process.execPath,
  [await toolPath('typescript/bin/tsc'), '--project', join(folder, 'tsconfig.json')],
  { stdio: 'inherit' },
);
if (error) throw error;
if (status !== 0) {
  throw new Error(
    'The types have errors. Correct what "npm run check:types" reports, then build again.',
  );
}
for (const name of ['index', 'loads', 'statements', 'access']) {
  joinTypes(`packages/admin/${name}.d.ts`, `${name}.d.ts`);
  // The same types: TypeScript reads them as types of a CommonJS module.
  copyFileSync(join(dist, `${name}.d.ts`), join(dist, `${name}.d.cts`));
}
rmSync(types, { recursive: true });

copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));

/** Writes the types that `entry` exports, with the types that they refer to, into one file. */
function joinTypes(entry: string, file: string): void {
  const mainEntryPointFilePath = join(types, entry);
  const configuration = join(types, 'api-extractor.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      projectFolder: folder,
      mainEntryPointFilePath,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2024',
            module: 'nodenext',
            types: ['node'],
            strict: true,
            skipLibCheck: true,
          },
          files: [mainEntryPointFilePath],
        },
      },
      apiReport: { enabled: false },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: join(dist, file) },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: 'none' },
          'ae-forgotten-export': { logLevel: 'error' },
        },
      },
    }),
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [apiExtractor, 'run', '--local', '--config', configuration],
    { encoding: 'utf8' },
  );
  if (status !== 0) {
    throw new Error(
      `The types of ${file} are not complete: export these in packages/admin/index.ts.\n${stdout}${stderr}`,
    );
  }
}
