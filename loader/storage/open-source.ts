import type { SourceVersion } from '../dataset/source-version.ts';
import { fileSource } from './file-source.ts';
import { httpSource } from './http-source.ts';
import { s3Source } from './s3-source.ts';
import type { Source } from './source.ts';

/** The whole country's extract, replaced every month. */
export const pdokExtract = 'https://service.pdok.nl/kadaster/adressen/atom/v1_0/downloads/lvbag-extract-nl.zip';

/**
 * The extract at a URL, in a bucket (`s3://bucket/key`) or in a file; `null` when it is still the `known` one.
 * @throws SourceError
 */
export async function openSource(location: string, known?: SourceVersion): Promise<Source | null> {
  if (/^https?:\/\//i.test(location)) return httpSource(location, known);
  if (/^s3:\/\//i.test(location)) {
    const { s3Client } = await import('./s3-client.ts');
    return s3Source(s3Client(), location, known);
  }
  return fileSource(location, known);
}
