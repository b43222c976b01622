import { type CanonicalStand, fieldIndexes } from '../bag/canonical-stand.ts';
import type { ObjectenKind } from '../bag/elements.ts';
import { fileLabel } from '../bag/extract-members.ts';
import { addProblem, emptyReport, type ReadCounts } from '../bag/problem-report.ts';
import { readXml } from '../bag/read-stands.ts';
import { extractDate, extractName, type Load, type Slice } from '../dataset/load.ts';
import { zero } from '../register/layouts.ts';
import {
  bucketOf,
  occurrenceLine,
  type RegisterVoorkomen,
  writeOccurrence,
} from '../register/record.ts';
import { RowsByNumber } from '../register/rows.ts';
import { segmentOf } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import { readZipMember } from '../storage/members.ts';
import { getJson, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import type { BucketItem, Extracted } from '../storage/work.ts';
import { withEntry } from '../zip/zip.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { Amount, StepContext, StepInput, StepOfItems } from './step.ts';

/**
 * Reads one slice of the extract, and stores the current and future occurrences by the buckets of
 * their records. Skips a slice that is already stored. Holds the rows of the slice: some MB.
 * @throws ExtractError
 */
async function extractSlice(
  { storage, onDone }: StepContext,
  { load: loadId }: StepInput,
  slice: Slice,
): Promise<{ slice: string }> {
  const result = { slice: slice.slice };
  if (await storage.open(paths.extracted(loadId, slice.slice))) return result;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { length: buckets } = await getJson<BucketItem[]>(storage, paths.buckets(loadId));
  const rows = new RowsByNumber();
  const hasSegment = new Uint8Array(100);
  const kind = load.members[slice.member]?.kind as 'NUM' | ObjectenKind;
  const add = (voorkomen: RegisterVoorkomen) => {
    rows
      .of(bucketOf(Buffer.from(voorkomen.identificatie), 0, buckets))
      .write(occurrenceLine(voorkomen), 'latin1');
    if (voorkomen.kind === 'NUM' && voorkomen.postcode !== null) {
      hasSegment[Number(segmentOf(voorkomen.postcode))] = 1;
    }
  };
  const addCanonical = (kind: 'NUM' | 'VBO') => {
    const { identificatie, postcode } = fieldIndexes(kind, 'identificatie', 'postcode');
    return (stand: CanonicalStand) => {
      const { bytes, starts } = stand;
      writeOccurrence(
        kind,
        rows.of(bucketOf(bytes, starts[identificatie] as number, buckets)),
        stand,
      );
      const at = starts[postcode] ?? -1;
      if (at >= 0) {
        hasSegment[10 * (bytes[at] as number) + (bytes[at + 1] as number) - 11 * zero] = 1;
      }
    };
  };
  const found = await readSlice(storage, load, slice, onDone, (xml, label) =>
    readXml[kind](xml, label, extractDate(load), add, {
      later: add,
      ...((kind === 'NUM' || kind === 'VBO') && { visitCanonical: addCanonical(kind) }),
    }),
  );
  const { pieces, ranges } = rows.pieces();
  await putPacked(storage, paths.rows(loadId, slice.slice), pieces);
  pieces.forEach(releaseMemory);
  const segments = Array.from(hasSegment.keys(), String).filter(
    (segment) => hasSegment[Number(segment)] === 1,
  );
  const extracted: Extracted = { ...found, ranges, segments };
  await putJson(storage, paths.extracted(loadId, slice.slice), extracted);
  return result;
}

async function readSlice(
  storage: Storage,
  load: Load,
  { member: index, files }: Slice,
  onRead: (amount: Amount) => void,
  read: (xml: Buffer, label: string) => ReadCounts,
): Promise<Pick<Extracted, 'voorkomens' | 'problems' | 'last'>> {
  const problems = emptyReport();
  let voorkomens = 0;
  let last = { name: '', voorkomens: 0 };
  await readZipMember(storage, load, index, async (zip, member) => {
    for (const file of files) {
      const label = fileLabel(extractName(load), member, file);
      const counts = await withEntry(zip, file, label, (xml) => read(xml, label));
      for (const problem of counts.problems) addProblem(problems, problem);
      voorkomens += counts.voorkomens;
      if (file.name > last.name) last = { name: file.name, voorkomens: counts.voorkomens };
      onRead({ bytes: file.compressedSize, rows: counts.voorkomens });
    }
  });
  return { voorkomens, problems, last };
}

export const step: StepOfItems<Slice> = {
  share: async () => undefined,
  total: (slices) => ({
    bytes: slices.flatMap(({ files }) => files).reduce((sum, file) => sum + file.compressedSize, 0),
  }),
  each: extractSlice,
};

export const handler = /* @__PURE__ */ lambdaOfItems('extract', step);
