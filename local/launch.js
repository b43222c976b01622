#!/usr/bin/env node
/**
 * Runs a TypeScript entry of this project, or says which Node it needs: `node local/launch.js bin/app.ts`.
 * Without an entry it is the command line: `npx bag-adres plan list --local`.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { keepCompiledCode } from './compile-cache.js';
import { requireNode } from './node-version.js';

requireNode();
keepCompiledCode();
const root = resolve(import.meta.dirname, '..');
const [, , first = ''] = process.argv;
const named = first.endsWith('.ts') ? first : undefined;
const entry = resolve(root, named ?? 'bin/bag-adres.ts');
process.argv.splice(1, named ? 2 : 1, entry);
const [, , group, command] = process.argv;
if (entry.endsWith('bag-adres.ts') && group === 'usage' && command === 'export') {
  runInSmallHeap();
} else await import(pathToFileURL(entry).href);

/**
 * Runs the entry in a thread that collects its garbage early: 130 MB instead of 330 for the usage of 20,000 accounts, of
 * which an export holds 25 MB. Node takes such a limit for a thread only, or on its own command line.
 */
function runInSmallHeap() {
  const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 160 };
  const thread = new Worker(entry, { argv: process.argv.slice(2), resourceLimits });
  thread.once('exit', (code) => {
    process.exitCode ??= code;
  });
  process.stdout.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    // Without its reader it ends as others do of SIGPIPE.
    process.exitCode = error.code === 'EPIPE' ? 141 : 1;
    if (process.exitCode === 1) process.stderr.write(`bag-adres: Can't write the result: ${error.message}.\n`);
    void thread.terminate();
  });
}
