import { fileLabel } from '../bag/extract-members.ts';
import { addProblem, emptyReport } from '../bag/problem-report.ts';
import { readNummeraanduidingen } from '../bag/read-nummeraanduidingen.ts';
import type { Nummeraanduiding, Span } from '../bag/voorkomen.ts';
import { unpackLines } from '../dataset/lines.ts';
import { extractDate, extractName, type Load, type Part, type PartCounts } from '../dataset/load.ts';
import { type Edges, ObjectRows } from '../dataset/object-rows.ts';
import type { ObjectLine } from '../dataset/objects.ts';
import type { Segments } from '../dataset/shard.ts';
import type { Amount } from '../progress.ts';
import {
  DamagedObjectError,
  getJson,
  openObject,
  paths,
  putJson,
  putPacked,
  type Storage,
  unpacked,
} from '../storage/storage.ts';
import { withEntry } from '../zip/zip.ts';
import { lambdaStep } from './lambda-step.ts';
import { readMember } from './stage.ts';

/**
 * What `extractPart` stores beside the object lines (`objects` is their number); if it exists, the part is finished.
 */
export type Extracted = PartCounts & Edges & { objects: number; segments: Segments };

/**
 * Reads one part of the nummeraanduidingen and stores the occurrences that count now or later. Skips a part that is
 * already stored. Holds the lines of the part: some MB.
 * @throws ExtractError
 */
export async function extractPart(
  storage: Storage,
  loadId: string,
  { part, member: index, files }: Part,
  onRead: (amount: Amount) => void = () => undefined,
): Promise<void> {
  if (await storage.open(paths.extracted(loadId, part))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const peildatum = extractDate(load);
  const rows = new ObjectRows(peildatum);
  const problems = emptyReport();
  let voorkomens = 0;
  const add = (num: Nummeraanduiding, span: Span) => rows.add(num, span);
  await readMember(storage, load, index, async (zip, member) => {
    for (const file of files) {
      const label = fileLabel(extractName(load), member, file);
      const counts = await withEntry(zip, file, label, (xml) =>
        readNummeraanduidingen(xml, label, peildatum, add, { later: add }),
      );
      for (const problem of counts.problems) addProblem(problems, problem);
      voorkomens += counts.voorkomens;
      onRead({ bytes: file.compressedSize, rows: counts.voorkomens });
    }
  });
  const edges = rows.end();
  const { bytes, segments } = rows.pack();
  await putPacked(storage, paths.rows(loadId, part), bytes);
  const extracted: Extracted = { voorkomens, problems, ...edges, objects: rows.count, segments };
  await putJson(storage, paths.extracted(loadId, part), extracted);
}

/** The lines in one segment of what a worker packed. @throws MissingObjectError, DamagedObjectError */
export async function readRows(
  storage: Storage,
  key: string,
  [position, length]: [position: number, length: number],
): Promise<ObjectLine[]> {
  const packed = await openObject(storage, key);
  if (position + length > packed.size) throw new DamagedObjectError(key);
  const bytes = await packed.read(position, length);
  return unpacked(key, () => unpackLines(bytes));
}

/** Reads a batch of parts. */
export const handler = /* @__PURE__ */ lambdaStep('extract', async ({ Items, BatchInput: { load } }, { storage }) => {
  for (const part of Items) await extractPart(storage, load, part);
  return { parts: Items.map(({ part }) => part) };
});
