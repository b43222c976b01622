#!/usr/bin/env node
/**
 * Runs a TypeScript entry of this project, or says which Node it needs: `node local/launch.js bin/smoke.ts --help`.
 * Without an entry it is the command line: `node local/launch.js plan list --local`.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keepCompiledCode } from './compile-cache.js';
import { requireNode } from './node-version.js';

requireNode();
keepCompiledCode();
const root = resolve(import.meta.dirname, '..');
const isEntry = process.argv[2]?.endsWith('.ts');
const entry = resolve(root, isEntry ? process.argv[2] : 'bin/bag-adres.ts');
process.argv.splice(1, isEntry ? 2 : 1, entry);
await import(pathToFileURL(entry).href);
