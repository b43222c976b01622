import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of the pages; in a bundle it is under the same name. */
export function readAsset(name: 'style.css' | 'copy.js' | 'chart.js' | 'reference.js'): string {
  return readFileSync(join(import.meta.dirname, 'assets', name), 'utf8');
}

/** The style sheet in the colour of an operator. */
export const styleSheet = (colour: string): string => `:root{--brand:${colour}}${readAsset('style.css')}`;
