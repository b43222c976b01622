import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type BundleName, type BundleSource, bundles } from './bundles.ts';

/**
 * The root of the project: paths in a bundle are relative to it, so that it is the same wherever it
 * is made.
 */
const root = resolve(import.meta.dirname, '../..');

/**
 * The bundles of a release, which an installed package has instead of their sources: the same bytes
 * for everyone.
 */
const releasedBundles = join(root, 'bundles');
export const isReleased = existsSync(releasedBundles);

/**
 * Replacements in a bundle for modules that are slow to load (decision 0107). Importing a module of
 * Node reads every export once, and some exports load large parts of Node that nothing here needs.
 * The SDK's chain of credentials looks in places that no Lambda has, and with it come the clients
 * of SSO and STS.
 */
const aliases = Object.fromEntries(
  Object.entries({
    'node:http': 'http.cjs',
    'node:process': 'process.cjs',
    '@aws-sdk/credential-provider-node': 'credentials.js',
  }).map(([module, file]) => [module, join(import.meta.dirname, 'aliases', file)]),
);

/**
 * Files of the operator, by their names in the bundle; relative to the folder of `cdk.json`, the
 * working folder of the app.
 */
export type OperatorFiles = Readonly<Record<string, string>>;

/**
 * The code of one Lambda, or of Lambdas that share most of it: minified ES modules, made by esbuild
 * in this process, so no Docker. The same sources give the same bytes on every machine. Source maps
 * stay out of the package: they are in `cdk.out/source-maps/NAME`.
 */
export function bundle(name: BundleName, operatorFiles: OperatorFiles = {}): Code {
  const source: BundleSource = bundles[name];
  const folder = isReleased
    ? releasedBundles
    : dirname(resolve(root, Object.values(source.entries)[0] ?? ''));
  return Code.fromAsset(folder, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never pulled: the local bundling below always succeeds.
      image: DockerImage.fromRegistry('none'),
      // The CDK treats two assets of one folder with equal options as the same: this makes them
      // different.
      command: [JSON.stringify({ name, operatorFiles })],
      local: {
        tryBundle(outputDirectory) {
          if (isReleased) cpSync(join(releasedBundles, name), outputDirectory, { recursive: true });
          else {
            writeBundle(name, source, outputDirectory);
          }
          copyFiles(operatorFiles, process.cwd(), outputDirectory);
          return true;
        },
      },
    },
  });
}

/**
 * Writes a bundle without the operator's files to `outputDirectory`, and its source maps to
 * `source-maps/NAME` next to it.
 */
export function writeBundle(name: string, source: BundleSource, outputDirectory: string): void {
  const { entries, files = {}, requires = false } = source;
  // Loaded here because an installed package has no esbuild, and needs none.
  const { buildSync }: typeof import('esbuild') = createRequire(import.meta.url)('esbuild');
  process.env.GOGC ??= '400'; // esbuild collects garbage less often: a fifth less CPU for 110 MB more.
  const { outputFiles } = buildSync({
    entryPoints: { ...entries },
    absWorkingDir: root,
    // Nothing is written there; paths in the source maps are relative to it.
    outdir: root,
    outExtension: { '.js': '.mjs' },
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    alias: aliases,
    legalComments: 'none',
    sourcemap: 'external',
    logLevel: 'error',
    ...(requires && { banner: { js: requireBanner } }),
  });
  const maps = join(dirname(outputDirectory), 'source-maps', name);
  rmSync(maps, { recursive: true, force: true }); // of modules that other sources led to
  mkdirSync(maps, { recursive: true });
  for (const { path, contents, text } of outputFiles) {
    if (!requires && path.endsWith('.mjs') && text.includes('Dynamic require of')) {
      throw new Error(
        `A dependency of ${name} requires modules at run time: bundle it with \`requires: true\`.`,
      );
    }
    writeFileSync(join(path.endsWith('.map') ? maps : outputDirectory, basename(path)), contents);
  }
  copyFiles(files, root, outputDirectory);
}

function copyFiles(files: Readonly<Record<string, string>>, from: string, to: string): void {
  for (const [file, source] of Object.entries(files)) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(resolve(from, source), join(to, file), { recursive: true });
  }
}

const requireBanner =
  "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";
