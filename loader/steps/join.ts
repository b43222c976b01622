import { mapConcurrently } from '../../core/concurrency.ts';
import type { AdresObjectBytes } from '../bag/adres-object-bytes.ts';
import type { StandVisit } from '../bag/interpret-stand.ts';
import { readAdresseerbareObjecten } from '../bag/read-stands.ts';
import type { ObjectenKind } from '../bag/schema.ts';
import { joinObjecten } from '../dataset/join-objecten.ts';
import { extractDate, type Load, type Part, startOf } from '../dataset/load.ts';
import { AdresObjectRows } from '../dataset/object-rows.ts';
import { type AdresObjectResult, adresObjectLayer, type Edits } from '../dataset/object-segment.ts';
import { withoutPostcode } from '../dataset/objects.ts';
import { type PartsOfNums, partsOfNums } from '../dataset/parts-of-nums.ts';
import { bytesOf, linesOf, unpackLineBytes } from '../dataset/stored-form.ts';
import type { Amount } from '../progress.ts';
import { releaseMemory } from '../release-memory.ts';
import { concurrentReads, findJson, getJson, getUnpacked, paths, type Storage, unpacked } from '../storage/storage.ts';
import type { Collected } from './collect.ts';
import { extractedSource, type ObjectSource, putExtracted, readPart, rowsOf, storedSource } from './extract.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepOfItems } from './step.ts';

/**
 * Reads one part of the adresseerbare objecten, and stores the current and future occurrences with the parts that their
 * nummeraanduidingen are in. Skips a part that is already stored. Holds the lines of the part: some MB.
 * @throws ExtractError
 */
export async function joinPart(
  storage: Storage,
  loadId: string,
  part: Part,
  nums: PartsOfNums,
  onRead: (amount: Amount) => void = () => undefined,
): Promise<void> {
  if (await storage.open(paths.extracted(loadId, part.part))) return;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const kind = load.members[part.member]?.kind as ObjectenKind;
  const rows = new AdresObjectRows(extractDate(load), kind, nums);
  const add: StandVisit<AdresObjectBytes> = (object, span) => rows.add(object, span);
  const counts = await readPart(storage, load, part, readAdresseerbareObjecten[kind], add, onRead);
  await putExtracted(storage, loadId, part, rows, { ...counts, ...rows.end() });
}

/** The parts of the nummeraanduidingen of an extract. */
async function readNums(storage: Storage, loadId: string): Promise<PartsOfNums> {
  const parts = await getJson<Part[]>(storage, paths.parts(loadId));
  const held = await mapConcurrently(parts, concurrentReads, async ({ part }) => {
    const key = paths.nums(loadId, part);
    return { key, packed: await getUnpacked(storage, key, (bytes) => bytes) };
  });
  return partsOfNums(async (add) => {
    for (const { key, packed } of held) {
      const entries = await unpacked(key, () => unpackLineBytes(packed));
      add(entries);
      releaseMemory(entries);
    }
  });
}

/**
 * The adresseerbare objecten of a segment that a load starts with, before any mutation of it is applied. `nums` are its
 * nummeraanduidingen at that time.
 */
export async function objectenSource(
  storage: Storage,
  load: Load,
  segment: string,
  nums: Pick<ObjectSource, 'text'>,
): Promise<ObjectSource<AdresObjectResult>> {
  if (load.kind !== 'extract') {
    const { id = '', objecten } = startOf(load)?.snapshot ?? {};
    const isThere = objecten?.includes(segment) ?? false;
    return storedSource(storage, paths.snapshotObjecten(id, segment), adresObjectLayer, isThere);
  }
  const { objectParts = [] } = await getJson<Collected>(storage, paths.collected(load.id));
  const edits = (await findJson<Edits>(storage, paths.objectenEdits(load.id, segment))) ?? {};
  const rows = await rowsOf(storage, load.id, objectParts, segment);
  return extractedSource(async (part) => {
    let keyless = await rows(part);
    const edit = edits[part];
    if (edit) {
      const removed = new Set(edit.remove);
      keyless = bytesOf([...linesOf(keyless).filter((line) => !removed.has(line)), ...edit.add]);
    }
    const joined = joinObjecten(await nums.text(part), keyless, part === withoutPostcode);
    releaseMemory(keyless);
    return joined;
  });
}

/** Reads the parts, to where the addresses of their objects are: a table of 76 MB, made once. */
export const step: StepOfItems<Part, unknown, PartsOfNums> = {
  share: readNums,
  async each({ storage, onDone }, { load }, part, nums) {
    await joinPart(storage, load, part, nums, onDone);
    return { part: part.part };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('join', step);
