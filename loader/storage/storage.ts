import { crc32 } from 'node:zlib';
import { manifestKeys, storagePrefixes } from '../names.ts';
import { checkedJson, parseCheckedJson, UnknownFormError } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import type { RandomAccess } from '../zip/random-access.ts';

const { loads, snapshots, mutations } = storagePrefixes;

/** The kinds of records in a folder's buckets. */
export type RecordKinds = 'nummeraanduidingen' | 'objecten';

/**
 * The keys of the storage. Everything under `loads/` is work that can be removed when the load is
 * published.
 */
export const paths = {
  ...manifestKeys,
  ...storagePrefixes,
  snapshotOf: (snapshot: string) => `${snapshots}${snapshot}/`,
  snapshot: (snapshot: string, segment: string) => `${snapshots}${snapshot}/${segment}`,
  /** The records behind those lines, by bucket. */
  records: (snapshot: string, kinds: RecordKinds, bucket: string) =>
    `${snapshots}${snapshot}/${kinds}/${bucket}`,
  /** The streets and places behind them. */
  snapshotReference: (snapshot: string) => `${snapshots}${snapshot}/reference`,
  /**
   * The days' changes by woonplaats since the last extract or approval; absent right after either.
   */
  snapshotSums: (snapshot: string) => `${snapshots}${snapshot}/sums`,
  /**
   * A whole extract from a server without Range support, or a municipality's inner zip that was
   * deflated.
   */
  incoming: (name: string) => `${loads}incoming/${name}`,
  workOf: (load: string) => `${loads}${load}/`,
  load: (load: string) => `${loads}${load}/load.json`,
  member: (load: string, index: number, name: string) => `${loads}${load}/members/${index}-${name}`,
  reference: (load: string) => `${loads}${load}/reference`,
  /** A JSON array of `Slice`: the items of the map over the extract. */
  slices: (load: string) => `${loads}${load}/slices.json`,
  /** The rows that a worker read from a slice, by bucket. */
  rows: (load: string, slice: string) => `${loads}${load}/rows/${slice}`,
  extracted: (load: string, slice: string) => `${loads}${load}/extracted/${slice}.json`,
  /** What `mutate` found, and the records of a bucket that it changes. */
  mutated: (load: string) => `${loads}${load}/mutated.json`,
  changedRecords: (load: string, kinds: RecordKinds, bucket: string) =>
    `${loads}${load}/days/${kinds}/${bucket}`,
  /**
   * A JSON array of `{"bucket": "007"}`: the items of the map that joins, and of that over
   * adresseerbare objecten.
   */
  buckets: (load: string) => `${loads}${load}/buckets.json`,
  objectBuckets: (load: string) => `${loads}${load}/object-buckets.json`,
  /**
   * The findings of joining a bucket, and the rows that it sends to other buckets or to segments.
   */
  joined: (load: string, kinds: RecordKinds, bucket: string) =>
    `${loads}${load}/joined/${kinds}/${bucket}.json`,
  joinedRows: (load: string, kinds: RecordKinds, bucket: string) =>
    `${loads}${load}/joined/${kinds}/${bucket}`,
  isRows: (key: string) => /\/(rows|joined\/\w+)\/\d+$/.test(key),
  /**
   * A delivery of mutations; its CRC-32 tells a corrected one from the first, and a damaged copy.
   */
  mutationFile: (name: string, crc: number) => `${mutations}${name}-${hex(crc)}`,
  /** The deliveries at each location when they were last read. */
  mutationsFound: `${mutations}found.json`,
  /** A JSON array of `{"segment": "13"}`: the items of the map that merges. */
  segments: (load: string) => `${loads}${load}/segments.json`,
  changes: (load: string, name: string) => `${loads}${load}/changes/${name}`,
  changesAll: (load: string) => `${loads}${load}/changes/`,
  /** A part of the changes as CSV, zipped, for people. */
  changesCsv: (load: string, name: string) => `${loads}${load}/csv/${name}`,
  merged: (load: string, segment: string) => `${loads}${load}/merged/${segment}.json`,
  proposal: (load: string) => `${loads}${load}/proposal.json`,
  /** A JSON array of `{"changes": "13-000"}`: the items of the map that applies. */
  changeFiles: (load: string) => `${loads}${load}/changes.json`,
  applied: (load: string, changes: string) => `${loads}${load}/applied/${changes}`,
  appliedAll: (load: string) => `${loads}${load}/applied/`,
} as const;

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** Whether these bytes have the CRC-32 in a name that `mutationFile` made. */
export function isDelivery(key: string, bytes: Uint8Array): boolean {
  return key.endsWith(`-${hex(crc32(bytes))}`);
}

/**
 * How many objects a step reads at once: most are small, and S3 answers each after tens of
 * milliseconds.
 */
export const concurrentReads = 16;

/**
 * An object appears whole or not at all, so what exists is complete, and an interrupted load
 * continues from it.
 */
export type Storage = {
  /** The whole object, or `null` if it does not exist. */
  get(key: string): Promise<Buffer | null>;
  /** The object for reading by range, or `null` if it does not exist. */
  open(key: string): Promise<RandomAccess | null>;
  /**
   * If `expected` is given, the object must still have these bytes (`null`: not exist). @throws
   * ObjectChangedError
   */
  put(key: string, bytes: Uint8Array, expected?: Uint8Array | null): Promise<void>;
  /** Stores chunks of any total length in bounded memory; creates nothing when `chunks` fails. */
  putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * The key of every object that begins with `prefix`, such as `snapshots/2021-10-15-3f9a2c1b/13`,
   * in order.
   */
  list(prefix: string): Promise<string[]>;
  /** Removes the objects, and ignores missing ones. */
  delete(keys: readonly string[]): Promise<void>;
};

/** Another load has replaced an object since this one read it. */
export class ObjectChangedError extends Error {
  override readonly name = 'ObjectChangedError';

  constructor(key: string, options?: ErrorOptions) {
    super(`Another load has changed ${key} since this one read it. Run this load again.`, options);
  }
}

/** An object is missing or damaged. The message says which, and what to do. */
export class UnusableObjectError extends Error {
  readonly key: string;

  constructor(key: string, what: string, options?: ErrorOptions) {
    super(`${what} ${adviceOn(key)}`, options);
    this.key = key;
  }
}

/** A required object does not exist: it was removed, or the load began with another storage. */
export class MissingObjectError extends UnusableObjectError {
  override readonly name = 'MissingObjectError';

  constructor(key: string) {
    super(key, `The storage has no ${key}.`);
  }
}

/** An object's contents have changed since they were stored. */
export class DamagedObjectError extends UnusableObjectError {
  override readonly name = 'DamagedObjectError';

  constructor(key: string, options?: ErrorOptions) {
    super(key, `The stored object ${key} is damaged.`, options);
  }
}

/**
 * An object was stored by another version of the program, in a form that this one does not read.
 */
export class OtherVersionError extends UnusableObjectError {
  override readonly name = 'OtherVersionError';

  constructor(key: string, cause: UnknownFormError) {
    super(
      key,
      `Another version of bag-adres stored ${key}: ${cause.message}. Use that version, or:`,
      { cause },
    );
  }
}

/** The command that creates the object again. */
function adviceOn(key: string): string {
  const [folder, name, ...rest] = key.split('/');
  if (`${folder}/` === paths.loads) {
    return name === 'incoming'
      ? 'It is a copy of the extract: run the load again, which makes a new copy.'
      : `It is the work of load ${name}: run the load again. If that fails too, run "load discard ${name}" first.`;
  }
  if (`${folder}/` === paths.mutations) {
    return 'It is a copy of a delivery: run the load again, which downloads it again.';
  }
  if (`${folder}/` === paths.snapshots && rest.length === 1 && rest[0] !== 'reference') {
    return 'If that snapshot is live, run "load repair", which rebuilds it from the table; you can\'t roll back to another one.';
  }
  if (`${folder}/` === paths.snapshots) {
    return 'Only mutations need it: run "load run --again" with a full extract, which makes a new snapshot.';
  }
  return 'Restore it from a backup of the storage, or follow docs/runbook.md#restore-a-table for a lost snapshot bucket.';
}

/**
 * The result of `work`, which decodes bytes of the object. @throws DamagedObjectError,
 * OtherVersionError
 */
export async function unpacked<T>(key: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof UnknownFormError
      ? new OtherVersionError(key, cause)
      : new DamagedObjectError(key, { cause });
  }
}

/**
 * The object, decoded by `unpack`. @throws MissingObjectError, DamagedObjectError when that throws
 */
export async function getUnpacked<T>(
  storage: Storage,
  key: string,
  unpack: (bytes: Buffer) => T | Promise<T>,
): Promise<T> {
  const found = await findUnpacked(storage, key, unpack);
  if (found === null) throw new MissingObjectError(key);
  return found;
}

/**
 * Reads and unpacks an object; `null` if it does not exist. @throws DamagedObjectError when
 * `unpack` throws
 */
export async function findUnpacked<T>(
  storage: Storage,
  key: string,
  unpack: (bytes: Buffer) => T | Promise<T>,
): Promise<T | null> {
  const bytes = await storage.get(key);
  return bytes && unpacked(key, () => unpack(withoutMark(key, bytes)));
}

const mark = Buffer.from('\0key', 'latin1');

/**
 * Stores bytes with a checksum of their own, marked with their key: under another they count as
 * damaged.
 */
export async function putPacked(
  storage: Storage,
  key: string,
  bytes: Uint8Array | Uint8Array[],
): Promise<void> {
  const all = Buffer.concat([...(Array.isArray(bytes) ? bytes : [bytes]), mark, checksumOf(key)]);
  await storage.put(key, all).then(() => releaseMemory(all));
}

/**
 * @throws Error when the bytes are marked with another key; JSON has no mark, as its checksum
 * covers the key
 */
function withoutMark(key: string, bytes: Buffer): Buffer {
  const end = bytes.length - mark.length - 4;
  if (end < 0 || !bytes.subarray(end, end + mark.length).equals(mark)) return bytes;
  if (!bytes.subarray(end + mark.length).equals(checksumOf(key))) {
    throw new Error('this was stored under another key');
  }
  return bytes.subarray(0, end);
}

function checksumOf(key: string): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(crc32(key));
  return bytes;
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

/** Stores `value` as JSON with a checksum. */
export async function putJson(storage: Storage, key: string, value: unknown): Promise<void> {
  await storage.put(key, checkedJson(value, key));
}

/** What `putJson` stored under this key. @throws MissingObjectError, DamagedObjectError */
export function getJson<T>(storage: Storage, key: string): Promise<T> {
  return getUnpacked(storage, key, (bytes) => parseCheckedJson<T>(bytes, key));
}

/** Reads a JSON object; `null` if it does not exist. @throws DamagedObjectError */
export async function findJson<T>(storage: Storage, key: string): Promise<T | null> {
  return findUnpacked(storage, key, (bytes) => parseCheckedJson<T>(bytes, key));
}

/** Reads a JSON object; `null` if it does not exist, or can't be used. */
export function findUsableJson<T>(storage: Storage, key: string): Promise<T | null> {
  return findJson<T>(storage, key).catch((error) => {
    if (error instanceof UnusableObjectError) return null;
    throw error;
  });
}
