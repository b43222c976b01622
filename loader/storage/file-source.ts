import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SourceVersion } from '../dataset/source-version.ts';
import { fileAccess, type RandomAccess } from '../pipeline/random-access.ts';
import { type Source, SourceChangedError, SourceError } from './source.ts';

/** An extract in a file on this machine; `null` when it is still `known`. @throws SourceError */
export async function fileSource(path: string, known?: SourceVersion): Promise<Source | null> {
  const version = await versionOf(path);
  if (known && sameFile(known, version)) return null;
  const access = await fileAccess(version.location);
  return {
    version,
    access: unchanged(access, version),
    stream: () => createReadStream(version.location, { highWaterMark: 1 << 20 }),
    close: () => access.close(),
  };
}

/** Checks with every read that the file was not written in between: copying one over another keeps the same file. */
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
  try {
    const { size, mtimeMs } = await stat(location);
    return { location, size, etag: null, lastModified: new Date(mtimeMs).toISOString() };
  } catch (error) {
    throw new SourceError(`There is no extract at ${location}.`, { cause: error });
  }
}

function sameFile(a: SourceVersion, b: SourceVersion): boolean {
  return a.location === b.location && a.size === b.size && a.lastModified === b.lastModified;
}
