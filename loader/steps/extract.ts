import { toAddressRow } from '../bag/address-row.ts';
import { fileLabel, type Member } from '../bag/extract-members.ts';
import { addProblem, emptyReport, isProblem } from '../bag/problem-report.ts';
import { readNummeraanduidingen } from '../bag/read-nummeraanduidingen.ts';
import type { Nummeraanduiding } from '../bag/voorkomen.ts';
import { extractName, type Load, type PartCounts } from '../dataset/load.ts';
import { type ReferenceMemory, referenceAt } from '../dataset/reference-file.ts';
import { type Segments, ShardedRows } from '../dataset/shard.ts';
import type { Amount } from '../progress.ts';
import { paths } from '../storage/paths.ts';
import { getJson, openObject, putJson, type Storage } from '../storage/storage.ts';
import { withEntry } from '../zip/zip-entry.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Part } from './reference.ts';
import { readReference } from './reference.ts';

/** What `extractPart` leaves beside the rows; its being there says that the part is finished. */
export type Extracted = PartCounts & { segments: Segments };

/**
 * Reads one part of the nummeraanduidingen and stores its addresses by shard. A part that is already there is left as
 * it is. `memory` is what `readReference` gives. Holds the rows of the part: some MB.
 * @throws ExtractError
 */
export async function extractPart(
  storage: Storage,
  loadId: string,
  { part, member: index, files }: Part,
  memory: ReferenceMemory,
  onRead: (amount: Amount) => void = () => undefined,
): Promise<void> {
  if (await storage.open(paths.extracted(loadId, part))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const reference = referenceAt(memory);
  const member = load.members[index] as Member;
  const zip = await openObject(storage, paths.member(loadId, index, member.name));

  const rows = new ShardedRows();
  const problems = emptyReport();
  let voorkomens = 0;
  let addresses = 0;
  let label = '';
  const visit = (nummeraanduiding: Nummeraanduiding) => {
    const outcome = toAddressRow(nummeraanduiding, reference, label);
    if (isProblem(outcome)) return addProblem(problems, outcome);
    rows.add(outcome);
    addresses++;
  };
  for (const file of files) {
    label = fileLabel(extractName(load), member, file);
    const counts = await withEntry(zip, file, label, (xml) =>
      readNummeraanduidingen(xml, label, load.peildatum, visit),
    );
    for (const problem of counts.problems) addProblem(problems, problem);
    voorkomens += counts.voorkomens;
    onRead({ bytes: file.compressedSize, rows: counts.voorkomens });
  }
  const { bytes, segments } = rows.pack();
  await storage.put(paths.rows(loadId, part), bytes);
  const extracted: Extracted = { voorkomens, addresses, problems, segments };
  await putJson(storage, paths.extracted(loadId, part), extracted);
}

/** The streets and places of the load that this worker is at: 18 MB, read once a worker. */
let held: { load: string; reference: ReferenceMemory } | undefined;

/** Reads a batch of parts. */
export const handler = /* @__PURE__ */ lambdaStep('extract', async ({ Items, BatchInput: { load } }, { storage }) => {
  if (held?.load !== load) held = { load, reference: await readReference(storage, load) };
  for (const part of Items) await extractPart(storage, load, part, held.reference);
  return { parts: Items.map(({ part }) => part) };
});
