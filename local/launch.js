#!/usr/bin/env node
/**
 * Runs a TypeScript entry of this project, or says which Node it needs:
 * `node local/launch.js bin/app.ts`. Without an entry it is the command line:
 * `npx bag-adres plan list --local`.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keepCompiledCode } from './compile-cache.js';
import { requireNode } from './node-version.js';

requireNode();
keepCompiledCode();
// An import of node:http reads all of its exports, and these load undici, for a quarter of the CPU
// with which `npm start` starts (decision 0107).
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) {
  Reflect.deleteProperty(process.getBuiltinModule('node:http'), name);
}
const root = resolve(import.meta.dirname, '..');
const [, , first = ''] = process.argv;
const named = first.endsWith('.ts') ? first : undefined;
const entry = resolve(root, named ?? 'bin/bag-adres.ts');
process.argv.splice(1, named ? 2 : 1, entry);
await import(pathToFileURL(entry).href);
