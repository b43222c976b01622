/**
 * The stored records that a load begins with, from its extract or from the snapshot that days are
 * applied to, and joining them bucket by bucket.
 */

import { crc32 } from 'node:zlib';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { packSegment, unpackSegment } from '../addresses/line-segment.ts';
import type { Line } from '../addresses/lines.ts';
import { addProblem, emptyReport, type Problem } from '../bag/problem-report.ts';
import { extractName, type Load, type Snapshot, startOf } from '../dataset/load.ts';
import { inOrder, joinRecords, type RecordVisit } from '../register/join-records.ts';
import {
  bucketOf,
  keyOfNum,
  parseRecord,
  type RegisterVoorkomen,
  recordsWith,
} from '../register/record.ts';
import { occurrencesIn, relatiesIn, unpackReference } from '../register/reference-file.ts';
import { nameOfNumber, packRecords, RowsByNumber, unpackRecords } from '../register/rows.ts';
import type { ByteRanges } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import {
  concurrentReads,
  DamagedObjectError,
  findUnpacked,
  getJson,
  getUnpacked,
  openObject,
  paths,
  putJson,
  putPacked,
  type RecordKinds,
  type Storage,
  UnusableObjectError,
} from './storage.ts';
import { type BucketItem, extractedSlices, type Joined } from './work.ts';

/** The rows that a worker stored: their key, and the range for each destination. */
export type StoredRows = { key: string; ranges: ByteRanges };

/**
 * The rows for one destination, from all workers in order, in memory of their own. @throws
 * DamagedObjectError
 */
export async function gatherRows(
  storage: Storage,
  stored: readonly StoredRows[],
  place: string,
): Promise<Buffer> {
  let length = 0;
  const wanted = stored.flatMap(({ key, ranges: { [place]: range } }) => {
    if (!range) return [];
    const start = length;
    length += range[1];
    return [{ key, range, start }];
  });
  const all = Buffer.allocUnsafeSlow(length);
  await forEachConcurrently(
    wanted,
    concurrentReads,
    async ({ key, range: [position, count, checksum], start }) => {
      const object = await openObject(storage, key);
      const rows = position + count > object.size ? null : await object.read(position, count);
      if (rows === null || crc32(rows) !== checksum) throw new DamagedObjectError(key);
      rows.copy(all, start);
      if (object.isOwnMemory) releaseMemory(rows);
    },
  );
  return all;
}

/**
 * The source of the records that a load begins with. `rows`: the rows that workers read from an
 * extract.
 */
export type RecordSource = { load: Load; rows: readonly StoredRows[] };

/**
 * The records of a bucket before any day of the load, or the occurrences that its extract has, in
 * lines of their own.
 */
export async function recordsBefore(
  storage: Storage,
  { load, rows }: RecordSource,
  kinds: RecordKinds,
  bucket: string,
): Promise<Buffer> {
  if (load.kind === 'extract') return inOrder(await gatherRows(storage, rows, bucket));
  return getUnpacked(
    storage,
    paths.records(startOf(load)?.snapshot.id ?? '', kinds, bucket),
    unpackRecords,
  );
}

/**
 * The lines of a segment of a snapshot. @throws MissingObjectError, DamagedObjectError,
 * OtherVersionError
 */
export async function snapshotLines(
  storage: Storage,
  { id, segments }: Pick<Snapshot, 'id' | 'segments'>,
  segment: string,
): Promise<Line[]> {
  return segments.includes(segment)
    ? getUnpacked(storage, paths.snapshot(id, segment), unpackSegment)
    : [];
}

export async function putSnapshotLines(
  storage: Storage,
  id: string,
  segment: string,
  lines: Line[],
): Promise<void> {
  await putPacked(storage, paths.snapshot(id, segment), packSegment(lines));
}

/** The records under a key; none if they are missing. */
async function recordsAt(storage: Storage, key: string): Promise<Buffer> {
  return (await findUnpacked(storage, key, unpackRecords)) ?? Buffer.alloc(0);
}

/** The occurrences of the named records of a snapshot, of nummeraanduidingen first. */
export async function recordsNamed(
  storage: Storage,
  { id, buckets }: Snapshot,
  names: Iterable<string>,
): Promise<RegisterVoorkomen[]> {
  const found: RegisterVoorkomen[] = [];
  for (const name of [...names].sort(
    (a, b) => Number(b.startsWith('N')) - Number(a.startsWith('N')),
  )) {
    const kinds = name.startsWith('N') ? 'nummeraanduidingen' : 'objecten';
    const bucket = nameOfNumber(bucketOf(Buffer.from(name, 'latin1'), 1, buckets));
    const records = await recordsAt(storage, paths.records(id, kinds, bucket));
    for (const record of recordsWith(records, `${name}\t`)) found.push(...parseRecord(record));
  }
  return found;
}

/** The nummeraanduidingen of a snapshot with any occurrence that gives the key. */
export async function numsNaming(
  storage: Storage,
  snapshot: Snapshot,
  key: string,
): Promise<string[]> {
  const found: string[] = [];
  for (const bucket of recordKeys(snapshot, ['nummeraanduidingen'])) {
    const all = recordsWith(await recordsAt(storage, bucket), key).flatMap(parseRecord);
    for (const voorkomen of all) {
      if (voorkomen.kind === 'NUM' && keyOfNum(voorkomen) === key)
        found.push(voorkomen.identificatie);
    }
  }
  return found;
}

/**
 * The occurrences and relations of the streets and places of a snapshot; none if they are missing.
 */
export async function streetsAndPlaces(storage: Storage, { id }: Snapshot) {
  const file = await findUnpacked(storage, paths.snapshotReference(id), unpackReference);
  return { occurrences: file ? occurrencesIn(file) : [], relaties: file ? relatiesIn(file) : [] };
}

export function recordKeys(
  { id, buckets, objecten }: Snapshot,
  kinds: RecordKinds[] = ['nummeraanduidingen', ...(objecten ? (['objecten'] as const) : [])],
): string[] {
  const names = Array.from({ length: buckets }, (_, bucket) => nameOfNumber(bucket));
  return kinds.flatMap((kind) => names.map((bucket) => paths.records(id, kind, bucket)));
}

/** The keys of what mutations need of a snapshot and can't be read. */
export async function unusableObjects(storage: Storage, snapshot: Snapshot): Promise<string[]> {
  const unusable: string[] = [];
  const check = async (key: string, decode: (bytes: Buffer) => unknown) => {
    await getUnpacked(storage, key, decode).catch((error) => {
      if (!(error instanceof UnusableObjectError)) throw error;
      unusable.push(key);
    });
  };
  await check(paths.snapshotReference(snapshot.id), unpackReference);
  for (const key of recordKeys(snapshot)) await check(key, unpackRecords);
  return unusable;
}

/** The input for joining buckets, read once. */
export type JoinInput = RecordSource & { buckets: number };

/**
 * The load, and the source of its extract's records: nummeraanduidingen or adresseerbare objecten.
 */
export async function joinInput(
  storage: Storage,
  loadId: string,
  kinds: RecordKinds,
): Promise<JoinInput> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { length: buckets } = await getJson<BucketItem[]>(storage, paths.buckets(loadId));
  const slices = (await extractedSlices(storage, load)).filter(
    ({ member }) => (load.members[member]?.kind === 'NUM') === (kinds === 'nummeraanduidingen'),
  );
  return {
    load,
    buckets,
    rows: slices.map(({ slice, ranges }) => ({ key: paths.rows(loadId, slice), ranges })),
  };
}

/** The visitor of a bucket's records; `end` is called after the last. */
export type Sending = Omit<RecordVisit, 'several'> & { end?(): Problem[]; reach?: Set<string> };

/**
 * Makes the records of a bucket, and sends rows of the records that count. Skips a bucket that is
 * already joined.
 */
export async function joinBucket(
  storage: Storage,
  { load, ...source }: RecordSource,
  kinds: RecordKinds,
  bucket: string,
  send: (rows: RowsByNumber) => Sending | Promise<Sending>,
): Promise<void> {
  if (await storage.open(paths.joined(load.id, kinds, bucket))) return;
  const lines = await recordsBefore(storage, { load, ...source }, kinds, bucket);
  const changed = await recordsAt(storage, paths.changedRecords(load.id, kinds, bucket));
  const rows = new RowsByNumber();
  const problems = emptyReport();
  const file = extractName(load);
  const { end, reach = new Set(), ...visit } = await send(rows);
  const { records, count, repeated } = joinRecords(lines, changed, load.peildatum, {
    ...visit,
    several: (identificatie) =>
      addProblem(problems, { kind: 'several_current', file, identificatie }),
  });
  for (const problem of end?.() ?? []) addProblem(problems, problem);
  const stored = packRecords(records);
  [records, lines].forEach(releaseMemory);
  await putPacked(storage, paths.records(load.id, kinds, bucket), stored);
  const { pieces, ranges } = rows.pieces();
  await putPacked(storage, paths.joinedRows(load.id, kinds, bucket), pieces);
  pieces.forEach(releaseMemory);
  const joined: Joined = { problems, records: count, repeated, ranges, reach: [...reach].sort() };
  await putJson(storage, paths.joined(load.id, kinds, bucket), joined);
}

/** The location of the rows that joining sent. */
export function rowsOf(
  load: string,
  kinds: RecordKinds,
  joined: readonly (Joined & BucketItem)[],
): StoredRows[] {
  return joined.map(({ bucket, ranges }) => ({
    key: paths.joinedRows(load, kinds, bucket),
    ranges,
  }));
}
