import { resolve } from 'node:path';
import { build, type OutputFile } from 'esbuild';

/**
 * The JavaScript of the package, one file for each of its exports, by file name, and one that two of them share: there is one
 * `AdminError`, wherever it comes from. Other packages are imported, not included; those of which nothing is used are left out.
 */
export async function packageScripts(): Promise<Record<string, string>> {
  const built = await Promise.all([
    bundle({ index: 'packages/admin/index.ts', loads: 'packages/admin/loads.ts' }),
    bundle({ access: 'packages/admin/access.ts' }),
  ]);
  return Object.assign({}, ...built);
}

async function bundle(entryPoints: Record<string, string>): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: resolve(import.meta.dirname, '../..'),
    entryPoints,
    outdir: 'packages/admin/dist',
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: 'shared',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    logLevel: 'error',
    plugins: [
      {
        name: 'packages',
        setup: ({ onResolve }) => onResolve({ filter: /^[^.]/ }, external),
      },
    ],
  });
  return Object.fromEntries(outputFiles.map(({ path, text }: OutputFile) => [path.split('/').at(-1) ?? '', text]));
}

function external({ kind, path }: { kind: string; path: string }) {
  return kind === 'entry-point' ? undefined : { path, external: true, sideEffects: false };
}
