import { resolve } from 'node:path';
import { build, type OutputFile, transform } from 'esbuild';

/**
 * The JavaScript of the package by file name: one file for each export and one for the shared code,
 * so that only one `AdminError` exists, each as an ES module and as CommonJS. Other packages are
 * imported, not included; unused packages are left out.
 */
export async function packageScripts(): Promise<Record<string, string>> {
  const modules = await esModules();
  const commonJs = Object.entries(modules).map(async ([name, script]) => [
    commonJsName(name),
    await asCommonJs(script),
  ]);
  return { ...modules, ...Object.fromEntries(await Promise.all(commonJs)) };
}

/** `index.cjs` for `index.js`. */
const commonJsName = (name: string): string => name.replace(/\.js$/, '.cjs');

async function asCommonJs(script: string): Promise<string> {
  const { code } = await transform(script, { format: 'cjs', platform: 'node', target });
  return code.replace(/require\("(\.\/[^"]+)"\)/g, (_, path) => `require("${commonJsName(path)}")`);
}

/** The oldest Node that current versions of the AWS SDK run on. */
const target = 'node20';

async function esModules(): Promise<Record<string, string>> {
  const built = await Promise.all([
    bundle({
      index: 'packages/admin/index.ts',
      loads: 'packages/admin/loads.ts',
      statements: 'packages/admin/statements.ts',
    }),
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
    chunkNames: 'shared-[hash]',
    platform: 'node',
    target,
    format: 'esm',
    logLevel: 'error',
    plugins: [
      { name: 'packages', setup: ({ onResolve }) => onResolve({ filter: /^[^.]/ }, external) },
    ],
  });
  return Object.fromEntries(
    outputFiles.map(({ path, text }: OutputFile) => [path.split('/').at(-1) ?? '', text]),
  );
}

function external({ kind, path }: { kind: string; path: string }) {
  return kind === 'entry-point' ? undefined : { path, external: true, sideEffects: false };
}
