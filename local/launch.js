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
const root = resolve(import.meta.dirname, '..');
const [, , first = ''] = process.argv;
const named = first.endsWith('.ts') ? first : undefined;
const entry = resolve(root, named ?? 'bin/bag-adres.ts');
process.argv.splice(1, named ? 2 : 1, entry);
await import(pathToFileURL(entry).href);
