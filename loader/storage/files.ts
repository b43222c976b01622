import { randomUUID } from 'node:crypto';
import { constants, createReadStream, readFileSync, statSync } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SourceVersion } from '../dataset/load.ts';
import { isRunning } from '../is-running.ts';
import { fileAccess, type RandomAccess } from '../zip/random-access.ts';
import { type Source, SourceChangedError, SourceError } from './source.ts';
import { ObjectChangedError, type Storage } from './storage.ts';

/** The name of a file that is being written, or whose process was killed; nothing refers to it. */
const unfinished = /\.(\d+)\.[0-9a-f-]{36}\.part$/;

/**
 * A storage in a folder: an object is a file, written under a temporary name and then renamed. The
 * unfinished file of a killed process is no object, so it is never listed; `delete` removes it with
 * the objects beside it.
 */
export function folderStorage(folder: string): Storage {
  const root = resolve(folder);
  const pathOf = (key: string) => {
    const path = join(root, key);
    if (!path.startsWith(root + sep)) throw new Error(`${key} is not a valid storage key`);
    return path;
  };
  const write = async (
    key: string,
    fill: (file: FileHandle) => Promise<void>,
    finish: (part: string, path: string) => Promise<void> = rename,
  ) => {
    const path = pathOf(key);
    const part = `${path}.${process.pid}.${randomUUID()}.part`;
    try {
      const file = await openNew(part);
      await fill(file).finally(() => file.close());
      await finish(part, path);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  };

  return {
    get: (key) => readNow(pathOf(key)).catch(nullWhenMissing),
    open: async (key) => {
      const path = pathOf(key);
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? unopenedFile(path, found.size) : null;
    },
    put: (key, bytes, expected) => {
      const fill = async (file: FileHandle) => {
        await file.writeFile(bytes);
        // A rename can reach the disk before the data does; a power failure must not leave an empty
        // manifest.
        await file.datasync();
        if (expected) await requireUnchanged(pathOf(key), key, expected);
      };
      if (expected !== null) return write(key, fill);
      return write(key, fill, create).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? new ObjectChangedError(key, { cause: error }) : error;
      });
    },
    putStream: (key, chunks) =>
      write(key, (file) => pipeline(chunks, file.createWriteStream({ flush: true }))),
    list: (prefix) => list(root, prefix),
    delete: async (keys) => {
      for (const key of keys) await unlink(pathOf(key)).catch(nullWhenMissing);
      for (const top of new Set(keys.map(topFolder))) {
        if (top !== '.') await removeUnfinished(pathOf(top));
      }
      for (const folder of new Set(keys.map((key) => dirname(pathOf(key))))) {
        await removeEmpty(folder, root);
      }
    },
  };
}

/** Waits for the disk, as `fileAccess` does. */
const readNow = async (path: string) => readFileSync(path);

/** Creates a file, and its folder if that is missing. */
async function openNew(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx').catch(nullWhenMissing);
  if (file) return file;
  await mkdir(dirname(path), { recursive: true });
  return open(path, 'wx');
}

/**
 * Never takes the place of a file, as a rename would. A disk without links, such as exFAT, gets a
 * copy.
 */
async function create(part: string, path: string): Promise<void> {
  await link(part, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw error;
    return copyFile(part, path, constants.COPYFILE_EXCL);
  });
  await unlink(part);
}

/** @throws ObjectChangedError */
async function requireUnchanged(path: string, key: string, expected: Uint8Array): Promise<void> {
  const found = await readNow(path).catch(nullWhenMissing);
  if (!found?.equals(expected)) throw new ObjectChangedError(key);
}

/** Opens the file for each read, so there is nothing to close. */
function unopenedFile(path: string, size: number): RandomAccess {
  return {
    size,
    isOwnMemory: true,
    async read(position, length) {
      const file = await fileAccess(path);
      try {
        return await file.read(position, length);
      } finally {
        await file.close();
      }
    },
  };
}

async function list(root: string, prefix: string): Promise<string[]> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
    nullWhenMissing,
  );
  const files = entries?.filter((entry) => entry.isFile() && !unfinished.test(entry.name)) ?? [];
  const keys = files.map(({ parentPath, name }) =>
    relative(root, join(parentPath, name)).replaceAll(sep, '/'),
  );
  return keys.filter((key) => key.startsWith(prefix)).sort();
}

/**
 * The folder of everything that is stored for one load or snapshot:
 * `snapshots/2026-01-08-3f9a2c1b04`.
 */
const topFolder = (key: string) => dirname(key.split('/').slice(0, 3).join('/'));

/** Removes what killed processes left of their writes, in a folder and those below it. */
async function removeUnfinished(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    nullWhenMissing,
  );
  for (const { name, parentPath } of entries ?? []) {
    const pid = unfinished.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await rm(join(parentPath, name), { force: true });
    await removeEmpty(parentPath, folder);
  }
}

/** Removes a folder that is empty now, and its parents up to `root`. */
async function removeEmpty(folder: string, root: string): Promise<void> {
  for (let path = folder; path !== root; path = dirname(path)) {
    const removed = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

function nullWhenMissing(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}

/** An extract in a file on this machine; `null` when it is still `known`. @throws SourceError */
export async function fileSource(path: string, known?: SourceVersion): Promise<Source | null> {
  const version = await versionOf(path);
  if (known && sameFile(known, version)) return null;
  const access = await fileAccess(version.location).catch((error) => {
    throw unreadable(version.location, error);
  });
  return {
    version,
    access: unchanged(access, version),
    stream: () => createReadStream(version.location, { highWaterMark: 1 << 20 }),
    close: () => access.close(),
  };
}

/**
 * Checks with every read that the file has not been written since: copying another file over it
 * keeps its inode.
 */
function unchanged(access: RandomAccess, version: SourceVersion): RandomAccess {
  return {
    size: access.size,
    isOwnMemory: true,
    async read(position, length) {
      const bytes = await access.read(position, length);
      if (!sameFile(version, await versionOf(version.location))) {
        throw new SourceChangedError(version.location);
      }
      return bytes;
    },
  };
}

async function versionOf(path: string): Promise<SourceVersion> {
  const location = resolve(path);
  const found = await stat(location).catch((error) => {
    throw unreadable(location, error);
  });
  if (found.isDirectory()) {
    throw new SourceError(`${location} is a folder; name the zip file of the extract.`);
  }
  if (!found.isFile()) {
    throw new SourceError(`${location} is not a regular file; name the zip file of the extract.`);
  }
  if (found.size === 0) throw new SourceError(`${location} is empty; download it again.`);
  return {
    location,
    size: found.size,
    etag: null,
    lastModified: new Date(found.mtimeMs).toISOString(),
  };
}

function unreadable(location: string, error: NodeJS.ErrnoException): SourceError {
  const says: Record<string, string> = {
    ENOENT: `There is no extract at ${location}. Check the path.`,
    EACCES: `${location} can't be read: permission denied. Make it readable (chmod u+r), or copy it to a place where you can read it.`,
  };
  const why =
    says[error.code ?? ''] ?? `${location} can't be read (${error.message}). Check the path.`;
  return new SourceError(why, { cause: error });
}

function sameFile(a: SourceVersion, b: SourceVersion): boolean {
  return a.location === b.location && a.size === b.size && a.lastModified === b.lastModified;
}
