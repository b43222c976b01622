import { resolve } from 'node:path';
import { build, type OutputFile } from 'esbuild';

/**
 * The JavaScript of the package, one file for each of its exports, by file name. Other packages are imported, not included;
 * those of which nothing is used are left out.
 */
export async function packageScripts(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: resolve(import.meta.dirname, '../..'),
    entryPoints: { index: 'packages/admin/index.ts', access: 'lib/portal/portal-access.ts' },
    outdir: 'packages/admin/dist',
    write: false,
    bundle: true,
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
