import { fileLabel } from '../bag/extract-members.ts';
import { addProblem, emptyReport } from '../bag/problem-report.ts';
import { type ReadObjects, readAdresseerbareObjecten, readNummeraanduidingen } from '../bag/read-stands.ts';
import type { ObjectenKind } from '../bag/schema.ts';
import { extractDate, extractName, type Load, type Slice } from '../dataset/load.ts';
import { bucketOf, writeNum, writeObject } from '../register/record.ts';
import { RowsByNumber } from '../register/rows.ts';
import { releaseMemory } from '../release-memory.ts';
import { readZipMember } from '../storage/members.ts';
import { getJson, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import type { BucketItem, Extracted } from '../storage/work.ts';
import { withEntry } from '../zip/zip.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { Amount, StepOfItems } from './step.ts';

/**
 * Reads one slice of the extract, and stores the current and future occurrences by the buckets of their records. Skips
 * a slice that is already stored. Holds the rows of the slice: some MB.
 * @throws ExtractError
 */
export async function extractSlice(
  storage: Storage,
  loadId: string,
  slice: Slice,
  onRead: (amount: Amount) => void = () => undefined,
): Promise<void> {
  if (await storage.open(paths.extracted(loadId, slice.slice))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { length: buckets } = await getJson<BucketItem[]>(storage, paths.buckets(loadId));
  const rows = new RowsByNumber();
  const segments = new Set<number>();
  let count = 0;
  const kind = load.members[slice.member]?.kind as 'NUM' | ObjectenKind;
  const found =
    kind === 'NUM'
      ? await readSlice(storage, load, slice, readNummeraanduidingen, onRead, (num, span) => {
          const { bytes, identificatie, postcode } = num;
          writeNum(rows.of(bucketOf(bytes, identificatie, buckets)), num, span);
          if (postcode >= 0) segments.add(10 * (bytes[postcode] as number) + (bytes[postcode + 1] as number));
          count++;
        })
      : await readSlice(storage, load, slice, readAdresseerbareObjecten[kind], onRead, (object, span) => {
          writeObject(kind, rows.of(bucketOf(object.bytes, object.identificatie, buckets)), object, span);
          count++;
        });
  const { packed, ranges } = rows.pack();
  await putPacked(storage, paths.rows(loadId, slice.slice), packed);
  for (const piece of packed) releaseMemory(piece);
  const names = Array.from(segments, (codes) => String(codes - 11 * zero)).sort();
  const extracted: Extracted = { ...found, rows: count, ranges, segments: names };
  await putJson(storage, paths.extracted(loadId, slice.slice), extracted);
}

const zero = 0x30;

/** Reads the files of a slice. */
async function readSlice<T>(
  storage: Storage,
  load: Load,
  { member: index, files }: Slice,
  read: ReadObjects<T>,
  onRead: (amount: Amount) => void,
  add: Parameters<ReadObjects<T>>[3],
): Promise<Pick<Extracted, 'voorkomens' | 'problems' | 'last'>> {
  const problems = emptyReport();
  let voorkomens = 0;
  let last = { name: '', voorkomens: 0 };
  await readZipMember(storage, load, index, async (zip, member) => {
    for (const file of files) {
      const label = fileLabel(extractName(load), member, file);
      const counts = await withEntry(zip, file, label, (xml) =>
        read(xml, label, extractDate(load), add, { later: add }),
      );
      for (const problem of counts.problems) addProblem(problems, problem);
      voorkomens += counts.voorkomens;
      if (file.name > last.name) last = { name: file.name, voorkomens: counts.voorkomens };
      onRead({ bytes: file.compressedSize, rows: counts.voorkomens });
    }
  });
  return { voorkomens, problems, last };
}

/** Reads the slices. */
export const step: StepOfItems<Slice> = {
  share: async () => undefined,
  total: (slices) => ({
    bytes: slices.flatMap(({ files }) => files).reduce((sum, file) => sum + file.compressedSize, 0),
  }),
  async each({ storage, onDone }, { load }, slice) {
    await extractSlice(storage, load, slice, onDone);
    return { slice: slice.slice };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('extract', step);
