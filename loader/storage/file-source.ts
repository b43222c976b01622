import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SourceVersion } from '../dataset/manifest.ts';
import { fileAccess, type RandomAccess } from '../zip/random-access.ts';
import { type Source, SourceChangedError, SourceError } from './source.ts';

/** An extract in a file on this machine; `null` when it is still `known`. @throws SourceError */
export async function fileSource(path: string, known?: SourceVersion): Promise<Source | null> {
  const version = await versionOf(path);
  if (known && sameFile(known, version)) return null;
  const access = await fileAccess(version.location).catch((error) => {
    throw unreadable(version.location, error);
  });
  return {
    version,
    isRemote: false,
    access: unchanged(access, version),
    stream: () => createReadStream(version.location, { highWaterMark: 1 << 20 }),
    close: () => access.close(),
  };
}

/** Checks with every read that the file has not been written since: copying another file over it keeps its inode. */
function unchanged(access: RandomAccess, version: SourceVersion): RandomAccess {
  return {
    size: access.size,
    async read(position, length) {
      const bytes = await access.read(position, length);
      if (!sameFile(version, await versionOf(version.location))) throw new SourceChangedError(version.location);
      return bytes;
    },
  };
}

async function versionOf(path: string): Promise<SourceVersion> {
  const location = resolve(path);
  const found = await stat(location).catch((error) => {
    throw unreadable(location, error);
  });
  if (found.isDirectory()) throw new SourceError(`${location} is a folder; name the zip file of the extract.`);
  if (!found.isFile()) throw new SourceError(`${location} is not a regular file; name the zip file of the extract.`);
  if (found.size === 0) throw new SourceError(`${location} is empty; download it again.`);
  return { location, size: found.size, etag: null, lastModified: new Date(found.mtimeMs).toISOString() };
}

function unreadable(location: string, error: NodeJS.ErrnoException): SourceError {
  const says: Record<string, string> = {
    ENOENT: `There is no extract at ${location}. Check the path.`,
    EACCES: `${location} can't be read: permission denied. Make it readable (chmod u+r), or copy it to a place where you can read it.`,
  };
  const why = says[error.code ?? ''] ?? `${location} can't be read (${error.message}). Check the path.`;
  return new SourceError(why, { cause: error });
}

function sameFile(a: SourceVersion, b: SourceVersion): boolean {
  return a.location === b.location && a.size === b.size && a.lastModified === b.lastModified;
}
