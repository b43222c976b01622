import type { SourceVersion } from '../dataset/manifest.ts';
import { fileSource } from './file-source.ts';
import { folderStorage } from './folder-storage.ts';
import { httpSource } from './http-source.ts';
import { openFirst, pdokExtract, pdokExtracts } from './pdok.ts';
import { s3Source } from './s3.ts';
import type { Source } from './source.ts';
import type { Storage } from './storage.ts';

/**
 * The extract at a URL, in a bucket (`s3://bucket/key`) or in a file; `null` when it is still the `known` one.
 * @throws SourceError
 */
export async function openSource(location: string, known?: SourceVersion): Promise<Source | null> {
  if (location === pdokExtract) return openFirst(await pdokExtracts(), (found) => httpSource(found, known));
  if (/^https?:\/\//i.test(location)) return httpSource(location, known);
  if (/^s3:\/\//i.test(location)) {
    const { s3Client } = await import('./s3.ts');
    return s3Source(s3Client(), location, known);
  }
  return fileSource(location, known);
}

/** The storage at `s3://bucket/prefix` or in a folder. A string, so that it can be passed to a worker. */
export async function openStorage(location: string): Promise<Storage> {
  if (!location.startsWith('s3://')) return folderStorage(location);
  const { s3Client } = await import('./s3.ts');
  const { s3Storage } = await import('./s3.ts');
  const { hostname, pathname } = new URL(location);
  const prefix = pathname.slice(1);
  return s3Storage(s3Client(), hostname, prefix && !prefix.endsWith('/') ? `${prefix}/` : prefix);
}
