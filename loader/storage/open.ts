import type { SourceVersion } from '../dataset/load.ts';
import { fileSource, folderStorage } from './files.ts';
import { httpSource } from './http-source.ts';
import { type Source, SourceError, SourceUnavailableError } from './source.ts';
import type { Storage } from './storage.ts';

/** The extract at a URL, in a bucket or in a file; `null` when it is still the `known` one. @throws SourceError */
export async function openSource(location: string, known?: SourceVersion): Promise<Source | null> {
  if (location === pdokExtract) return openFirst(await pdokExtracts(), (found) => httpSource(found, known));
  if (/^https?:\/\//i.test(location)) return httpSource(location, known);
  if (/^s3:\/\//i.test(location)) {
    const { s3Client, s3Source } = await import('./s3.ts');
    return s3Source(s3Client(), location, known);
  }
  return fileSource(location, known);
}

/** The storage at `s3://bucket/prefix` or in a folder. A string, so that it can be passed to a worker. */
export async function openStorage(location: string): Promise<Storage> {
  if (!location.startsWith('s3://')) return folderStorage(location);
  const { s3Client, s3Storage } = await import('./s3.ts');
  const { hostname, pathname } = new URL(location);
  const prefix = pathname.slice(1);
  return s3Storage(s3Client(), hostname, prefix && !prefix.endsWith('/') ? `${prefix}/` : prefix);
}

/** PDOK's Atom feeds with the link to the extract, the newest first. */
const feeds = [
  'https://service.pdok.nl/lv/bag/atom/bag.xml',
  'https://service.pdok.nl/kadaster/adressen/atom/v1_0/adressen.xml',
];

/** The known locations of the published extract, the newest first. */
const knownExtracts = [
  'https://service.pdok.nl/lv/bag/atom/downloads/lvbag-extract-nl.zip',
  'https://service.pdok.nl/kadaster/adressen/atom/v1_0/downloads/lvbag-extract-nl.zip',
];

/** The extract of the whole country, replaced every month. `openSource` finds its current URL. */
export const pdokExtract = knownExtracts[0] as string;

const extractLink = /\bhref\s*=\s*"([^"]+\/lvbag-extract-nl\.zip)"/gi;
const feedTimeoutMilliseconds = 10_000;

export type PdokOptions = { feeds?: readonly string[]; known?: readonly string[]; hosts?: RegExp };

/** The URLs to try for PDOK's extract: those in its feeds that can be read, then the known ones. */
export async function pdokExtracts(options: PdokOptions = {}): Promise<string[]> {
  const { hosts = /^https:\/\/(?:[a-z0-9-]+\.)*pdok\.nl\//i, known = knownExtracts } = options;
  const linked = await Promise.all((options.feeds ?? feeds).map((feed) => linksOf(feed)));
  // A feed must not direct a load to another host.
  return [...new Set([...linked.flat().filter((link) => hosts.test(link)), ...known])];
}

async function linksOf(feed: string): Promise<string[]> {
  try {
    const response = await fetch(feed, { signal: AbortSignal.timeout(feedTimeoutMilliseconds) });
    const text = await response.text();
    if (!response.ok) return [];
    return [...text.matchAll(extractLink)].map(([, href = '']) => new URL(href.replaceAll('&amp;', '&'), feed).href);
  } catch {
    return [];
  }
}

/** After an unavailable server, which may have it, no other is tried. @throws SourceError of the first location */
export async function openFirst<T>(locations: readonly string[], open: (location: string) => Promise<T>): Promise<T> {
  const errors: SourceError[] = [];
  for (const location of locations) {
    try {
      return await open(location);
    } catch (error) {
      if (!(error instanceof SourceError) || error instanceof SourceUnavailableError) throw error;
      errors.push(error);
    }
  }
  throw errors[0] ?? new SourceError('No URL of the extract is known. Set `source` in the configuration.');
}
