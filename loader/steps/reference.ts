import { isObjectenKind } from '../bag/elements.ts';
import { fileLabel, listXmlFiles, type Member, type MemberKind } from '../bag/extract-members.ts';
import { readGemeenteRelaties, relatieFile } from '../bag/gemeente-relaties.ts';
import { readWoonplaatsen, readXml } from '../bag/read-stands.ts';
import { dayOf, type OprVoorkomen, type WplVoorkomen } from '../bag/voorkomen.ts';
import { extractDate, extractName, type Load, type Slice } from '../dataset/load.ts';
import { ReferenceWriter } from '../register/reference-file.ts';
import { readZipMember } from '../storage/members.ts';
import { findJson, getJson, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { putBuckets } from '../storage/work.ts';
import { entryStream, withEntry } from '../zip/zip.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Step, StepContext } from './step.ts';

/** XML of one slice; the country's 16 GB make some 85 slices of 15 files. */
const usualSliceBytes = 192 * 1024 * 1024;

/**
 * XML of the nummeraanduidingen of one bucket; the country has the most buckets that there may be.
 */
const usualBucketBytes = 200 * 1024 * 1024;
const mostBuckets = 100;

/**
 * Divides the nummeraanduidingen, and the adresseerbare objecten of a load with these, into slices,
 * once; and their records into buckets.
 */
async function planSlices({ storage, options }: StepContext, loadId: string): Promise<Slice[]> {
  const { sliceBytes = usualSliceBytes, bucketBytes = usualBucketBytes } = options;
  const found = await findJson<Slice[]>(storage, paths.slices(loadId));
  if (found) return found;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const slices: Slice[] = [];
  let bytes = 0;
  // In the order of their kinds, so that the rows of a bucket come in the order of their records.
  for (const [member, { kind, name }] of membersOfRecords(load)) {
    const files = await readZipMember(storage, load, member, (zip) => listXmlFiles(zip, name));
    let room = 0;
    for (const file of files) {
      if (file === files[0] || file.size > room) {
        slices.push({ slice: String(slices.length).padStart(4, '0'), member, files: [] });
        room = sliceBytes;
      }
      slices.at(-1)?.files.push(file);
      room -= file.size;
      if (kind === 'NUM') bytes += file.size;
    }
  }
  const buckets = Math.max(1, Math.min(mostBuckets, Math.ceil(bytes / bucketBytes)));
  await putBuckets(storage, load, buckets);
  await putJson(storage, paths.slices(loadId), slices);
  return slices;
}

/** The members of nummeraanduidingen and adresseerbare objecten, with their indexes. */
function membersOfRecords({ members }: Load): [number, Member][] {
  const kinds: readonly MemberKind[] = ['NUM', 'LIG', 'STA', 'VBO'];
  return kinds.flatMap((kind) =>
    [...members.entries()].filter(([, member]) => member.kind === kind),
  );
}

/**
 * Reads the current streets and places, and their gemeenten, into one file that every worker can
 * use.
 */
async function reference(storage: Storage, loadId: string): Promise<void> {
  if (await storage.open(paths.reference(loadId))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const peildatum = extractDate(load);
  const file = new ReferenceWriter();
  const add = (voorkomen: OprVoorkomen | WplVoorkomen) => file.add(voorkomen);
  const addRelaties = (xml: Buffer, label: string) => {
    const { relaties, problems } = readGemeenteRelaties(xml, label, peildatum);
    const day = dayOf(peildatum);
    for (const relatie of relaties) if (relatie.eind > day) file.addRelatie(relatie);
    return { problems };
  };
  // Places first: the memory of their one large file is freed while the streets are read.
  for (const [index, member] of [...load.members.entries()].reverse()) {
    const { kind } = member;
    if (kind === 'NUM' || isObjectenKind(kind)) continue;
    await readZipMember(storage, load, index, async (zip) => {
      for (const entry of await listXmlFiles(zip, member.name)) {
        const label = fileLabel(extractName(load), member, entry);
        const read = {
          OPR: () =>
            withEntry(zip, entry, label, (xml) =>
              readXml.OPR(xml, label, peildatum, add, { later: add }),
            ),
          WPL: () =>
            readWoonplaatsen(entryStream(zip, entry, label), label, peildatum, add, { later: add }),
          [relatieFile]: () => withEntry(zip, entry, label, (xml) => addRelaties(xml, label)),
        };
        file.addProblems((await read[kind]()).problems);
      }
    });
  }
  await putPacked(storage, paths.reference(loadId), file.pack());
}

/** Reads streets and places, and plans the slices of the rest. */
export const step: Step = {
  async run(context, { load }) {
    await reference(context.storage, load);
    const slices = await planSlices(context, load);
    return { load, slices: slices.length };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('reference', step);
