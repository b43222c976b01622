import { mapConcurrently } from '../../core/concurrency.ts';
import type { AdresseerbaarVoorkomen } from '../bag/voorkomen.ts';
import { keylessLines, keyOfMissing, numOf, objectIdAt, partOfKeyAt } from '../dataset/adres-objects.ts';
import { KeysOfNums } from '../dataset/keys-of-nums.ts';
import { extractDate, type Load, startOf } from '../dataset/load.ts';
import { bucketOf, LinesByNumber } from '../dataset/object-rows.ts';
import { type AdresObjectResult, adresObjectLayer } from '../dataset/object-segment.ts';
import { withoutPostcode } from '../dataset/objects.ts';
import { type ByteRanges, bytesOf } from '../dataset/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import { concurrentReads, getJson, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { extractedSource, type ObjectSource, readRows, storedSource } from './extract.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepOfItems } from './step.ts';

/** One bucket to join: some of the nummeraanduidingen, by the last digits of their identificaties. */
export type BucketItem = { bucket: string };

type StoredRows = { key: string; ranges: ByteRanges };

/** What there is of a bucket: keys of nummeraanduidingen, and lines of objects. */
export type Bucket = {
  keys: StoredRows[];
  rows: StoredRows[];
  /** Every occurrence of the objects of which the lines may lack some: they replace those lines. */
  divided: AdresseerbaarVoorkomen[][];
};

/**
 * Gives the lines of adresseerbare objecten the keys of the nummeraanduidingen that they name, so that the objects of
 * an address are stored where it is. Skips a bucket that is already joined. Holds the lines of one bucket.
 */
export async function joinBucket(storage: Storage, loadId: string, bucket: string): Promise<void> {
  if (await storage.open(paths.joinedRanges(loadId, bucket))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const items = await getJson<BucketItem[]>(storage, paths.buckets(loadId));
  const { keys, rows, divided } = await getJson<Bucket>(storage, paths.bucket(loadId, bucket));
  const read: Buffer[] = [];
  await eachPiece(storage, keys, (bytes) => read.push(bytes, betweenPieces));
  const keysOf = new KeysOfNums(Buffer.concat(read.slice(0, -1)));
  for (const bytes of read) if (bytes !== betweenPieces) releaseMemory(bytes);
  const lines = new LinesByNumber();
  const replaced = new KeysOfNums(bytesOf(divided.map(([one]) => one?.identificatie ?? '')));
  await eachPiece(storage, rows, (bytes) => {
    addLines(lines, keysOf, bytes, replaced);
    releaseMemory(bytes);
  });
  for (const occurrences of divided) {
    for (const [num, ofNum] of keylessLines(occurrences, extractDate(load))) {
      if (bucketOf(num, items.length) === Number(bucket)) addLines(lines, keysOf, bytesOf(ofNum));
    }
  }
  const { packed, ranges } = lines.pack();
  await putPacked(storage, paths.joined(loadId, bucket), packed);
  await putJson(storage, paths.joinedRanges(loadId, bucket), ranges);
}

const betweenPieces = Buffer.from('\n');
const [tab, lineEnd] = [0x09, 0x0a];

/** Adds the lines in `bytes` with their keys, but for those of `replaced` objects. */
function addLines(
  lines: LinesByNumber,
  keysOf: KeysOfNums,
  bytes: Buffer,
  replaced = new KeysOfNums(bytesOf([])),
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    end = bytes.indexOf(lineEnd, start);
    if (end < 0) end = bytes.length;
    if (replaced.each(view, start + objectIdAt, () => undefined) > 0) continue;
    const length = end - start;
    const count = keysOf.each(view, start, (keys, at, keyEnd) => {
      const target = lines.next(partOfKeyAt(keys, at));
      target.copy(keys, at, keyEnd - at);
      target.memory[target.length++] = tab;
      target.copy(view, start, length);
    });
    if (count > 0) continue;
    const line = bytes.toString('latin1', start, end);
    lines.write(Number(withoutPostcode), `${keyOfMissing(numOf(line))}\t${line}`);
  }
}

async function eachPiece(
  storage: Storage,
  stored: readonly StoredRows[],
  work: (lines: Buffer) => void,
): Promise<void> {
  await mapConcurrently(stored, concurrentReads, async ({ key, ranges }) => {
    for (const { lines } of await readRows(storage, key, ranges)) work(await lines());
  });
}

/** The adresseerbare objecten of a segment that a load starts with, before any mutation of it is applied. */
export async function objectenSource(
  storage: Storage,
  load: Load,
  segment: string,
): Promise<ObjectSource<AdresObjectResult>> {
  if (load.kind !== 'extract') {
    const { id = '', objecten } = startOf(load)?.snapshot ?? {};
    const isThere = objecten?.includes(segment) ?? false;
    return storedSource(storage, paths.snapshotObjecten(id, segment), adresObjectLayer, isThere);
  }
  const items = await getJson<BucketItem[]>(storage, paths.buckets(load.id));
  const rows = await mapConcurrently(items, concurrentReads, async ({ bucket }) => ({
    key: paths.joined(load.id, bucket),
    ranges: await getJson<ByteRanges>(storage, paths.joinedRanges(load.id, bucket)),
  }));
  return extractedSource(storage, rows, segment);
}

/** Joins the buckets. */
export const step: StepOfItems<BucketItem> = {
  share: async () => undefined,
  async each({ storage, onDone }, { load }, { bucket }) {
    await joinBucket(storage, load, bucket);
    onDone({ rows: 1 });
    return { bucket };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('join', step);
