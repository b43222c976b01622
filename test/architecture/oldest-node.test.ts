import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** What the programs of the installed package start with; `bin/installed.js` loads one of them. */
const entries = ['bin/bag-adres.ts', 'bin/app.ts', 'bin/constructs.ts'];

/** What Node 24 exports and Node 22.12 does not. */
const lacking: Record<string, readonly string[]> = {
  assert: ['Assert', 'partialDeepStrictEqual'],
  'assert/strict': ['Assert', 'partialDeepStrictEqual'],
  crypto: ['argon2', 'argon2Sync', 'decapsulate', 'encapsulate', 'randomUUIDv7'],
  dns: ['resolveTlsa'],
  'dns/promises': ['resolveTlsa'],
  fs: ['Utf8Stream', 'mkdtempDisposableSync'],
  'fs/promises': ['mkdtempDisposable'],
  http: ['setGlobalProxyFromEnv'],
  module: ['findPackageJSON', 'getSourceMapsSupport', 'registerHooks', 'setSourceMapsSupport', 'stripTypeScriptTypes'],
  net: ['BoundSocket'],
  perf_hooks: ['eventLoopUtilization', 'timerify'],
  process: ['execve', 'ref', 'threadCpuUsage', 'unref'],
  'stream/consumers': ['bytes'],
  tls: ['getCACertificates', 'getCertificateCompressionAlgorithms', 'setDefaultCACertificates'],
  url: ['URLPattern', 'fileURLToPathBuffer'],
  util: ['convertProcessSignalToExitCode', 'diff', 'setTraceSigInt'],
  v8: ['getCppHeapStatistics', 'isStringOneByteRepresentation', 'startCpuProfile'],
  worker_threads: ['isInternalThread', 'locks', 'threadName'],
  zlib: [
    ...['ZstdCompress', 'ZstdDecompress', 'createZstdCompress', 'createZstdDecompress'],
    ...['zstdCompress', 'zstdCompressSync', 'zstdDecompress', 'zstdDecompressSync'],
  ],
};
const lackingModules = ['sqlite'];

/** An import of values; of a default import or a namespace a missing member is `undefined`, which code can test. */
const importing =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)([^'"`;]*?)\bfrom\s*'([^']+)'|(?<!typeof )\bimport\(\s*'([^']+)'/g;

/** Each name that the text imports from a module of Node that Node 22.12 lacks. */
function missingIn(text: string): string[] {
  return importsOf(text).flatMap(({ names, from }) => {
    const module = from.replace(/^node:/, '');
    if (lackingModules.includes(module)) return [from];
    return names.filter((name) => lacking[module]?.includes(name)).map((name) => `${name} of ${from}`);
  });
}

function importsOf(text: string): { names: string[]; from: string }[] {
  return [...text.matchAll(importing)].map(([, clause = '', from, dynamic]) => {
    const named = /\{([\s\S]*)\}/.exec(clause)?.[1] ?? '';
    const names = named.split(',').map((part) => part.trim().replace(/\s+as\s[\s\S]*$/, ''));
    return { names: names.filter((name) => !name.startsWith('type ')), from: from ?? dynamic ?? '' };
  });
}

/** The files that the installed programs load, now or when a command needs them. */
function filesOf(start: string[]): string[] {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    const own = importsOf(readFileSync(join(root, file), 'utf8')).filter(({ from }) => /^\..*\.[jt]s$/.test(from));
    for (const { from } of own) visit(relative('.', join(dirname(file), from)));
  };
  for (const file of start) visit(file);
  return [...reached];
}

describe('the installed package on Node 22.12', () => {
  it('imports no name from a module of Node that Node 22.12 lacks', () => {
    const files = filesOf(entries);
    expect(files).toContain('loader/register/stored-form.ts');
    const missing = files.flatMap((file) =>
      missingIn(readFileSync(join(root, file), 'utf8')).map((name) => `${file}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it.each([
    ["import zlib, { crc32, zstdCompressSync as pack } from 'node:zlib';", ['zstdCompressSync of node:zlib']],
    ["import {\n  readFileSync,\n  Utf8Stream,\n} from 'node:fs';", ['Utf8Stream of node:fs']],
    ["return await import('node:sqlite');", ['node:sqlite']],
    ["function sqlite(): typeof import('node:sqlite') {", []],
    ["import { type ZstdCompress, crc32 } from 'node:zlib';\nimport type { ZstdCompress } from 'node:zlib';", []],
  ])('finds in %j %j', (text, missing) => {
    expect(missingIn(text)).toEqual(missing);
  });

  it('knows only modules that Node has', () => {
    for (const module of Object.keys(lacking)) expect(builtinModules).toContain(module);
  });
});
