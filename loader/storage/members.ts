/**
 * An extract while a load reads it: at its source, or as copies of it and of its members in the
 * storage.
 */

import { crc32 } from 'node:zlib';
import { retryWithBackoff } from '../../core/retry.ts';
import type { Member, Spool } from '../bag/extract-members.ts';
import { digestOf, type Load, type SourceVersion } from '../dataset/load.ts';
import { ExtractError } from '../load-error.ts';
import type { RandomAccess } from '../zip/random-access.ts';
import { type Source, SourceError } from './source.ts';
import { DamagedObjectError, openObject, paths, type Storage } from './storage.ts';

/**
 * Copies a deflated inner zip to the storage, once per extract. `reused` gets the keys of copies of
 * earlier runs.
 */
function storageSpool(storage: Storage, version: SourceVersion, reused: string[]): Spool {
  return async (stream, name, size) => {
    const key = paths.incoming(`${digestOf([version, name, size])}-${name}`);
    const kept = await storage.open(key);
    if (kept) {
      stream.destroy();
      reused.push(key);
      return kept;
    }
    await storage.putStream(key, stream);
    return openObject(storage, key);
  };
}

const wholeAttempts = 3;

/** The remaining time of a step without a time limit. */
export const unlimited = () => Number.POSITIVE_INFINITY;

/**
 * Reads the extract by range, or from a copy where its server has no ranges. Damaged copies are
 * made again.
 */
export async function readExtract<T>(
  storage: Storage,
  source: Source,
  read: (access: RandomAccess, spool: Spool) => Promise<T>,
): Promise<T> {
  const { version } = source;
  const whole = paths.incoming(`${digestOf(version)}.zip`);
  const isVersioned = version.etag !== null || version.lastModified !== null;
  const attempt = async (reused: string[]) => {
    const isKept = !source.access && isVersioned && (await storage.open(whole)) !== null;
    if (isKept) reused.push(whole);
    const access = source.access ?? (await download(storage, source, whole, isKept));
    return read(access, storageSpool(storage, version, reused));
  };
  const reused: string[] = [];
  try {
    return await attempt(reused);
  } catch (error) {
    if (!source.access && error instanceof ExtractError) await storage.delete([whole]);
    if (reused.length === 0 || error instanceof SourceError) throw error;
    await storage.delete(reused);
    return attempt([]);
  }
}

async function download(
  storage: Storage,
  source: Source,
  key: string,
  isKept: boolean,
): Promise<RandomAccess> {
  const copy = () => storage.putStream(key, source.stream());
  if (!isKept) {
    await retryWithBackoff(copy, {
      attempts: wholeAttempts,
      firstPauseMilliseconds: 0,
      retryIf: () => true,
    });
  }
  return openObject(storage, key);
}

/**
 * Passes the staged zip of one member to `read`. A failure is blamed on the copy if its bytes have
 * changed, else on the extract. @throws MissingObjectError, DamagedObjectError, ExtractError
 */
export async function readZipMember<T>(
  storage: Storage,
  load: Load,
  index: number,
  read: (zip: RandomAccess, member: Member) => Promise<T>,
): Promise<T> {
  const member = load.members[index] as Member;
  const key = paths.member(load.id, index, member.name);
  const zip = await openObject(storage, key);
  try {
    return await read(zip, member);
  } catch (error) {
    const { size, crc32: expected } = member.path.at(-1) ?? {};
    if (zip.size === size && (await checksumOf(zip)) === expected) throw error;
    throw new DamagedObjectError(key, { cause: error });
  }
}

const checkedBytes = 8 * 1024 * 1024;

async function checksumOf(access: RandomAccess): Promise<number> {
  let checksum = 0;
  for (let at = 0; at < access.size; at += checkedBytes) {
    checksum = crc32(await access.read(at, Math.min(checkedBytes, access.size - at)), checksum);
  }
  return checksum;
}
