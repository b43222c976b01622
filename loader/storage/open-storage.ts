import { folderStorage } from './folder-storage.ts';
import type { Storage } from './storage.ts';

/** The storage at `s3://bucket/prefix` or in a folder. A text, so that a worker can be told which one. */
export async function openStorage(location: string): Promise<Storage> {
  if (!location.startsWith('s3://')) return folderStorage(location);
  const { s3Client } = await import('./s3-client.ts');
  const { s3Storage } = await import('./s3-storage.ts');
  const { hostname, pathname } = new URL(location);
  const prefix = pathname.slice(1);
  return s3Storage(s3Client(), hostname, prefix && !prefix.endsWith('/') ? `${prefix}/` : prefix);
}
