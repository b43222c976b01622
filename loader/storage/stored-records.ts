/** The stored records that a load begins with, from its extract or from the snapshot that days are applied to. */

import { mapConcurrently } from '../../core/concurrency.ts';
import { type Load, type Snapshot, startOf } from '../dataset/load.ts';
import { inOrder } from '../register/join-records.ts';
import { bucketOf } from '../register/record.ts';
import { nameOfNumber, unpackRecords } from '../register/rows.ts';
import { type ByteRanges, unpackLineBytes } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import {
  concurrentReads,
  DamagedObjectError,
  findUnpacked,
  getUnpacked,
  openObject,
  paths,
  type RecordKinds,
  type Storage,
  unpacked,
} from './storage.ts';

/** The rows that a worker stored: their key, and the range for each destination. */
export type StoredRows = { key: string; ranges: ByteRanges };

/** The rows for one destination, from all workers in order, in memory of their own. */
export async function gatherRows(storage: Storage, stored: readonly StoredRows[], place: string): Promise<Buffer> {
  const read = await mapConcurrently(stored, concurrentReads, async ({ key, ranges }) => {
    const [position, length] = ranges[place] ?? [0, 0];
    if (length === 0) return [];
    const packed = await openObject(storage, key);
    if (position + length > packed.size) throw new DamagedObjectError(key);
    return [{ key, bytes: await packed.read(position, length) }];
  });
  const pieces: Buffer[] = [];
  for (const { key, bytes } of read.flat()) pieces.push(await unpacked(key, () => unpackLineBytes(bytes)));
  const [only = Buffer.alloc(0), ...others] = pieces;
  if (others.length === 0) return only;
  const all = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) at += piece.copy(all, at);
  pieces.forEach(releaseMemory);
  return all;
}

/** The source of the records that a load begins with. `rows`: the rows that workers read from an extract. */
export type RecordSource = { load: Load; rows: readonly StoredRows[] };

/**
 * The records of a bucket before any day of the load, or the occurrences that its extract has, in lines of their own.
 */
export async function recordsBefore(
  storage: Storage,
  { load, rows }: RecordSource,
  kinds: RecordKinds,
  bucket: string,
): Promise<Buffer> {
  if (load.kind === 'extract') return inOrder(await gatherRows(storage, rows, bucket));
  return getUnpacked(storage, paths.records(startOf(load)?.snapshot.id ?? '', kinds, bucket), unpackRecords);
}

/** The bucket of a record by its name. */
export const bucketOfName = (name: string, buckets: number) => bucketOf(Buffer.from(name, 'latin1'), 1, buckets);

/** The keys of all records of a snapshot. */
export function recordKeys({ id, buckets, objecten }: Snapshot): string[] {
  const kinds: RecordKinds[] = ['nummeraanduidingen', ...(objecten ? (['objecten'] as const) : [])];
  const names = Array.from({ length: buckets }, (_, bucket) => nameOfNumber(bucket));
  return kinds.flatMap((kind) => names.map((bucket) => paths.records(id, kind, bucket)));
}

/** The records of a bucket that days change. */
export async function changedRecords(
  storage: Storage,
  load: string,
  kinds: RecordKinds,
  bucket: string,
): Promise<Buffer> {
  const found = await findUnpacked(storage, paths.changedRecords(load, kinds, bucket), unpackRecords);
  return found ?? Buffer.alloc(0);
}
