import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync, type OutputFile } from 'esbuild';

/** What Lambda has to be told to run a bundle. */
export const BUNDLE_HANDLER = 'index.handler';

/** The root of the project: paths in a bundle are relative to it, so that it is the same wherever it is made. */
const root = resolve(import.meta.dirname, '..');

export type BundleOptions = {
  /** The module with the handler, relative to the root of the project. */
  entry: string;
  /** Names the source map. */
  name: string;
  /** Whether a dependency is CommonJS and requires Node's own modules, which an ES module can't do by itself. */
  requires?: boolean;
};

/**
 * The code of one Lambda: a single minified ES module, made by esbuild in this process, so no Docker. The same sources
 * give the same bytes on every machine. Its source map stays out of the package: `cdk.out/source-maps/NAME.mjs.map`.
 */
export function bundle({ entry, ...options }: BundleOptions): Code {
  const path = resolve(root, entry);
  return Code.fromAsset(dirname(path), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never pulled: the local bundling below always takes the job.
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle(outputDirectory) {
          build({ entry: path, ...options }, outputDirectory);
          return true;
        },
      },
    },
  });
}

/** The files of a bundle, `index.mjs` and its source map, in memory; `entry` is absolute here. */
export function compile({ entry, requires }: Pick<BundleOptions, 'entry' | 'requires'>): OutputFile[] {
  return buildSync({
    entryPoints: [entry],
    absWorkingDir: root,
    outfile: 'index.mjs',
    write: false,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    sourcemap: 'external',
    logLevel: 'error',
    ...(requires && { banner: { js: requireBanner } }),
  }).outputFiles;
}

function build({ entry, name, requires }: BundleOptions, outputDirectory: string): void {
  const maps = join(dirname(outputDirectory), 'source-maps');
  mkdirSync(maps, { recursive: true });
  for (const { path, contents, text } of compile({ entry, requires })) {
    if (!requires && path.endsWith('.mjs') && text.includes('Dynamic require of'))
      throw new Error(`A dependency of ${entry} requires modules at run time: bundle ${name} with \`requires: true\`.`);
    writeFileSync(
      path.endsWith('.map') ? join(maps, `${name}.mjs.map`) : join(outputDirectory, basename(path)),
      contents,
    );
  }
}

const requireBanner = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";
