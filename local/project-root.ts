import { resolve } from 'node:path';

/** The folder that package.json lies in. */
export const projectRoot = resolve(import.meta.dirname, '..');
