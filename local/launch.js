#!/usr/bin/env node
/**
 * Runs a TypeScript entry of this project, or says which Node it needs: `node local/launch.js bin/smoke.ts --help`.
 * Without an entry it is the command line: `npx bag-adres plan list --local`; `npx bag-adres smoke` is the smoke test.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keepCompiledCode } from './compile-cache.js';
import { requireNode } from './node-version.js';

requireNode();
keepCompiledCode();
const root = resolve(import.meta.dirname, '..');
const [, , first = ''] = process.argv;
const named = first === 'smoke' ? 'bin/smoke.ts' : first.endsWith('.ts') ? first : undefined;
const entry = resolve(root, named ?? 'bin/bag-adres.ts');
process.argv.splice(1, named ? 2 : 1, entry);
const [, , group, command] = process.argv;
if (entry.endsWith('bag-adres.ts') && group === 'usage' && command === 'export') {
  const { runInSmallHeap } = await import('./small-heap.js');
  runInSmallHeap(entry);
} else await import(pathToFileURL(entry).href);
