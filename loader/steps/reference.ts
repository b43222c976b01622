import { fileLabel, listXmlFiles, type Member } from '../bag/extract-members.ts';
import type { StandVisit } from '../bag/interpret-stand.ts';
import type { Problem } from '../bag/problem-report.ts';
import { readOpenbareRuimten, readWoonplaatsen } from '../bag/read-stands.ts';
import type { OpenbareRuimte, Woonplaats } from '../bag/voorkomen.ts';
import { changedSince, extractDate, extractName, type Load, type Part } from '../dataset/load.ts';
import { type ReferenceMemory, ReferenceWriter, readReferenceFile } from '../dataset/reference-file.ts';
import { findJson, getJson, getUnpacked, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { entryStream, withEntry, type ZipEntry } from '../zip/zip.ts';
import { lambdaStep } from './lambda-step.ts';
import { readZipMember } from './stage.ts';
import type { Step } from './step.ts';

/** XML of one part; the country's 16 GB make some 125 parts of ten files. */
const usualPartBytes = 128 * 1024 * 1024;

/** Divides the nummeraanduidingen into parts, once, and returns them. */
export async function planParts(storage: Storage, loadId: string, partBytes = usualPartBytes): Promise<Part[]> {
  const found = await findJson<Part[]>(storage, paths.parts(loadId));
  if (found) return found;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const parts: Part[] = [];
  for (const [index, { kind, name }] of load.members.entries()) {
    if (kind !== 'NUM') continue;
    const files = await readZipMember(storage, load, index, (zip) => listXmlFiles(zip, name));
    for (const group of inParts(files, partBytes)) {
      parts.push({ part: String(parts.length).padStart(4, '0'), member: index, files: group });
    }
  }
  await putJson(storage, paths.parts(loadId), parts);
  return parts;
}

/** Reads the current streets and places into one file that every worker can use. */
export async function reference(storage: Storage, loadId: string): Promise<void> {
  if (await storage.open(paths.reference(loadId))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const peildatum = extractDate(load);
  const since = changedSince(load);
  const file = new ReferenceWriter();
  const addStreet: StandVisit<OpenbareRuimte> = (street, span) => file.addStreet(street, span);
  const addPlace: StandVisit<Woonplaats> = (place, span) => file.addPlace(place, span);
  // Places first: the memory of their one large file is freed while the streets are read.
  for (const [index, member] of [...load.members.entries()].reverse()) {
    if (member.kind === 'NUM') continue;
    await readZipMember(storage, load, index, async (zip) => {
      for (const entry of await listXmlFiles(zip, member.name)) {
        const label = fileLabel(extractName(load), member, entry);
        const { problems, changed } =
          member.kind === 'OPR'
            ? await withEntry(zip, entry, label, (xml) =>
                readOpenbareRuimten(xml, label, peildatum, addStreet, { later: addStreet, since }),
              )
            : await readWoonplaatsen(entryStream(zip, entry, label), label, peildatum, addPlace, {
                later: addPlace,
                since,
              });
        file.addProblems(problems);
        file.addChanged(changed);
        file.endGroup();
      }
    });
  }
  file.addProblems(await severalCurrent(load, file.pack()));
  await putPacked(storage, paths.reference(loadId), file.pack());
}

/** The streets and places on the peildatum, for `mergeSegment`; none for a rollback, which derives nothing. */
export async function readReference(storage: Storage, loadId: string): Promise<ReferenceMemory | undefined> {
  const { peildatum, kind, days } = await getJson<Load>(storage, paths.load(loadId));
  if (kind === 'rollback') return undefined;
  const path = kind === 'mutations' || days.length > 0 ? paths.mutatedReference(loadId) : paths.reference(loadId);
  const { streets, places } = await getUnpacked(storage, path, (bytes) => readReferenceFile(bytes, peildatum));
  return { streets, places };
}

/** Every occurrence of a street or place that is not used because another current one of the same object counts. */
async function severalCurrent(load: Load, packed: Buffer): Promise<Problem[]> {
  const { severalCurrent: found } = await readReferenceFile(packed, extractDate(load));
  return (['OPR', 'WPL'] as const).flatMap((kind) => {
    const file = fileLabel(extractName(load), load.members.find((member) => member.kind === kind) as Member);
    return found[kind].map((identificatie) => ({ kind: 'several_current' as const, file, identificatie }));
  });
}

function* inParts(files: ZipEntry[], partBytes: number): Generator<ZipEntry[]> {
  let part: ZipEntry[] = [];
  let bytes = 0;
  for (const file of files) {
    if (part.length > 0 && bytes + file.size > partBytes) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(file);
    bytes += file.size;
  }
  if (part.length > 0) yield part;
}

/** Reads streets and places, and plans the parts of the rest. */
export const step: Step = {
  async run({ storage, options }, { load }) {
    await reference(storage, load);
    const parts = await planParts(storage, load, options.partBytes);
    return { load, parts: parts.length };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('reference', step);
