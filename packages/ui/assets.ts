import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programStyle } from './samples.ts';

/** A file of the pages; in a bundle it is under the same name. */
export function readAsset(
  name: 'style.css' | 'copy.js' | 'chart.js' | 'programs.js' | 'send.js' | 'reference.js',
): string {
  return readFileSync(join(import.meta.dirname, 'assets', name), 'utf8');
}

/** The style sheet in the colour of an operator. */
export const styleSheet = (colour: string): string =>
  `:root{--brand:${colour}}${readAsset('style.css')}${programStyle}`;

/** The icon of every page: the logo as a `data:` URL, or a house in the colour of the operator. */
export function icon({ logo, colour }: { logo?: string | undefined; colour: string }): string {
  const image = logo
    ? `<image width="16" height="16" href="${logo}"/>`
    : `<path fill="${colour}" d="M8 1 1 7h2v8h4v-5h2v5h4V7h2z"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${image}</svg>`;
}

/** The icon as a part of the page, so that no request is made for it. */
export const iconUrl = (given: Parameters<typeof icon>[0]): string =>
  `data:image/svg+xml,${encodeURIComponent(icon(given))}`;
