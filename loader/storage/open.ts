import type { SourceVersion } from '../dataset/load.ts';
import { fileSource, folderStorage } from './files.ts';
import { httpSource } from './http-source.ts';
import { type Source, SourceError, SourceUnavailableError } from './source.ts';
import type { Storage } from './storage.ts';

/**
 * The extract at a URL, in a bucket or in a file; `null` when it is still the `known` one. @throws
 * SourceError
 */
export async function openSource(location: string, known?: SourceVersion): Promise<Source | null> {
  if (location === pdokExtract) return openFirst(pdokExtracts, (found) => httpSource(found, known));
  if (/^https?:\/\//i.test(location)) return httpSource(location, known);
  if (/^s3:\/\//i.test(location)) {
    const { s3Client, s3Source } = await import('./s3.ts');
    return s3Source(s3Client(), location, known);
  }
  return fileSource(location, known);
}

/**
 * The storage at `s3://bucket/prefix` or in a folder. A string, so that it can be passed to a
 * worker.
 */
export async function openStorage(location: string): Promise<Storage> {
  if (!location.startsWith('s3://')) return folderStorage(location);
  const { s3Client, s3Storage } = await import('./s3.ts');
  const { hostname, pathname } = new URL(location);
  const prefix = pathname.slice(1);
  return s3Storage(s3Client(), hostname, prefix && !prefix.endsWith('/') ? `${prefix}/` : prefix);
}

/**
 * The locations of the published extract of the whole country, which is replaced every month: the
 * newest first.
 */
const pdokExtracts = [
  'https://service.pdok.nl/lv/bag/atom/downloads/lvbag-extract-nl.zip',
  'https://service.pdok.nl/kadaster/adressen/atom/v1_0/downloads/lvbag-extract-nl.zip',
];

/** Names that extract; `openSource` tries its locations in turn. */
export const pdokExtract = pdokExtracts[0] as string;

/**
 * After an unavailable server, which may have it, no other is tried. @throws SourceError of the
 * first location
 */
export async function openFirst<T>(
  locations: readonly string[],
  open: (location: string) => Promise<T>,
): Promise<T> {
  const errors: SourceError[] = [];
  for (const location of locations) {
    try {
      return await open(location);
    } catch (error) {
      if (!(error instanceof SourceError) || error instanceof SourceUnavailableError) throw error;
      errors.push(error);
    }
  }
  throw (
    errors[0] ??
    new SourceError('No URL of the extract is known. Set `source` in the configuration.')
  );
}
