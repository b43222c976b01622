import type { RandomAccess } from '../zip/random-access.ts';
import { paths } from './paths.ts';

/** One stored object: its key (`snapshots/2021-10-15-3f9a2c1b/13`) and its size in bytes. */
export type StoredObject = { key: string; size: number };

/**
 * Where a load keeps its work: staged members, rows, snapshots, the manifest. An object appears whole or not at all,
 * so an object that exists is finished work, and a load that died goes on where it stopped.
 */
export interface Storage {
  /** The whole object, or `null` when there is none. */
  get(key: string): Promise<Buffer | null>;
  /** The object for reading by range, or `null` when there is none. */
  open(key: string): Promise<RandomAccess | null>;
  /**
   * Creates or replaces the object at once: a reader sees the old or the new, never a part. With `expected` only while the
   * object is still that, or not there for `null`.
   * @throws ObjectChangedError
   */
  put(key: string, bytes: Uint8Array, expected?: Uint8Array | null): Promise<void>;
  /** As `put`, of any length in bounded memory; nothing appears when `chunks` fails. */
  putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Every object whose key begins with `prefix`, by key. */
  list(prefix: string): Promise<StoredObject[]>;
  /** Removes the objects; one that is already gone is fine. */
  delete(keys: readonly string[]): Promise<void>;
}

/** Another load has replaced an object since this one read it. */
export class ObjectChangedError extends Error {
  override readonly name = 'ObjectChangedError';

  constructor(key: string, options?: ErrorOptions) {
    super(`Another load has changed ${key} since this one read it. Run this load again.`, options);
  }
}

/** An object that has to be there is not: the storage was emptied or is another one than the load began with. */
class MissingObjectError extends Error {
  override readonly name = 'MissingObjectError';

  constructor(key: string) {
    super(`The storage holds no ${key}. Run the load again; if it stays, the storage was emptied or is another one.`);
  }
}

/** An object does not hold what was stored in it. */
export class DamagedObjectError extends Error {
  override readonly name = 'DamagedObjectError';
  readonly key: string;

  constructor(key: string, options?: ErrorOptions) {
    const advice = key.startsWith(paths.loads)
      ? 'It is the work of a load: run the load again, which does that work anew.'
      : 'Restore it from a backup of the storage, or treat the storage as lost: docs/runbook.md#lost-table.';
    super(`The stored object ${key} is damaged. ${advice}`, options);
    this.key = key;
  }
}

/** What `unpack` makes of the object. @throws MissingObjectError, DamagedObjectError when it throws */
export async function getUnpacked<T>(
  storage: Storage,
  key: string,
  unpack: (bytes: Buffer) => T | Promise<T>,
): Promise<T> {
  const bytes = await getObject(storage, key);
  try {
    return await unpack(bytes);
  } catch (cause) {
    throw new DamagedObjectError(key, { cause });
  }
}

/** The whole object. @throws MissingObjectError */
export async function getObject(storage: Storage, key: string): Promise<Buffer> {
  const bytes = await storage.get(key);
  if (!bytes) throw new MissingObjectError(key);
  return bytes;
}

/** The object for reading by range. @throws MissingObjectError */
export async function openObject(storage: Storage, key: string): Promise<RandomAccess> {
  const access = await storage.open(key);
  if (!access) throw new MissingObjectError(key);
  return access;
}

/** Stores `value` as JSON. */
export async function putJson(storage: Storage, key: string, value: unknown): Promise<void> {
  await storage.put(key, Buffer.from(JSON.stringify(value)));
}

/** What `putJson` stored under this key. @throws MissingObjectError, DamagedObjectError */
export function getJson<T>(storage: Storage, key: string): Promise<T> {
  return getUnpacked(storage, key, (bytes) => JSON.parse(bytes.toString()) as T);
}
