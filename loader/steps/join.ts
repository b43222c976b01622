import { mapConcurrently } from '../../core/concurrency.ts';
import type { AdresseerbaarVoorkomen } from '../bag/voorkomen.ts';
import { keylessLines, keyOfMissing, numOf, objectIdOf, partOfKey } from '../dataset/adres-objects.ts';
import { extractDate, type Load, startOf } from '../dataset/load.ts';
import { bucketOf, LinesByNumber } from '../dataset/object-rows.ts';
import { type AdresObjectResult, adresObjectLayer } from '../dataset/object-segment.ts';
import { type ByteRanges, linesOf } from '../dataset/stored-form.ts';
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
  const keysOf = new Map<string, string[]>();
  await eachLine(storage, keys, (line) => {
    const num = numOf(line);
    const key = line.slice(num.length);
    const known = keysOf.get(num);
    if (!known) keysOf.set(num, [key]);
    else if (!known.includes(key)) known.push(key);
  });
  const lines = new LinesByNumber();
  const add = (num: string, line: string) => {
    for (const key of keysOf.get(num) ?? [keyOfMissing(num)]) lines.write(Number(partOfKey(key)), `${key}\t${line}`);
  };
  const replaced = new Set(divided.map(([one]) => one?.identificatie));
  await eachLine(storage, rows, (line) => {
    if (!replaced.has(objectIdOf(line))) add(numOf(line), line);
  });
  for (const occurrences of divided) {
    for (const [num, ofNum] of keylessLines(occurrences, extractDate(load))) {
      if (bucketOf(num, items.length) === Number(bucket)) for (const line of ofNum) add(num, line);
    }
  }
  const { packed, ranges } = lines.pack();
  await putPacked(storage, paths.joined(loadId, bucket), packed);
  await putJson(storage, paths.joinedRanges(loadId, bucket), ranges);
}

async function eachLine(storage: Storage, stored: readonly StoredRows[], work: (line: string) => void): Promise<void> {
  await mapConcurrently(stored, concurrentReads, async ({ key, ranges }) => {
    for (const { lines } of await readRows(storage, key, ranges)) for (const line of linesOf(await lines())) work(line);
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
