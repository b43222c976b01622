import { mapConcurrently } from '../../core/concurrency.ts';
import { isObjectenKind } from '../bag/elements.ts';
import { fileLabel, type MemberKind } from '../bag/extract-members.ts';
import { gemeenteProblems, relatieFile } from '../bag/gemeente-relaties.ts';
import {
  addProblem,
  emptyReport,
  type Problem,
  type ProblemReport,
} from '../bag/problem-report.ts';
import { type AnyVoorkomen, dayOf, type GemeenteRelatie } from '../bag/voorkomen.ts';
import {
  extractName,
  type Load,
  type SetAsideObject,
  type SetAsideOfDay,
  startOf,
} from '../dataset/load.ts';
import { ExtractError } from '../load-error.ts';
import {
  applyMutations,
  type MutationDay,
  type Objects,
  objectKey,
  type Register,
  remembered,
  withinRegister,
} from '../mutations/apply-mutations.ts';
import { readCopy } from '../mutations/delivery-copies.ts';
import { endOfLine } from '../register/join-records.ts';
import { nameLayout, zero } from '../register/layouts.ts';
import {
  bucketOf,
  keyOfNum,
  parseRecord,
  type RecordLine,
  type RegisterVoorkomen,
  recordName,
  recordOf,
} from '../register/record.ts';
import {
  occurrencesIn,
  type ReferenceFile,
  ReferenceWriter,
  referenceOn,
  relatiesIn,
  unpackReference,
} from '../register/reference-file.ts';
import { placesOf, type StreetFilter, streetAt, streetsOf } from '../register/reference-lines.ts';
import { nameOfNumber, packRecords } from '../register/rows.ts';
import { lineBytes, segmentOf } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import {
  findJson,
  getJson,
  getUnpacked,
  paths,
  putJson,
  putPacked,
  type RecordKinds,
  type Storage,
} from '../storage/storage.ts';
import { readManifest } from '../storage/stored-loads.ts';
import { type JoinInput, joinInput, recordsBefore } from '../storage/stored-register.ts';
import {
  extractedSlices,
  type Mutated,
  putBuckets,
  putSegments,
  type SegmentItem,
} from '../storage/work.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Step } from './step.ts';

/** Finds the records that mutations name, and stores the changed records. @throws ExtractError */
async function mutate(storage: Storage, loadId: string): Promise<{ segments: number }> {
  const wanted = await getJson<Load>(storage, paths.load(loadId));
  const earlier = await findJson<Mutated>(storage, paths.mutated(loadId));
  if (earlier) {
    // A proposal may have been here, and `discover` has described the load again since.
    if (earlier.stopped !== undefined) {
      await putJson(storage, paths.load(loadId), cut(wanted, earlier));
    }
    return { segments: (await getJson<SegmentItem[]>(storage, paths.segments(loadId))).length };
  }
  const { named, load } = await objectsNamed(storage, wanted);
  if (load.kind === 'mutations') {
    await putBuckets(storage, load, startOf(load)?.snapshot.buckets ?? 1);
  }
  const source = await joinInput(storage, loadId, 'nummeraanduidingen');
  const before = await getUnpacked(storage, referenceBefore(load), unpackReference);
  const objects = await findObjects(storage, source, before, named);
  const applied = await applyDays(storage, load, objects, before);
  const { changed, relaties, problems, unsettled } = applied;
  if (load.stopped !== undefined) await putJson(storage, paths.load(loadId), load);

  const records = [...objects].filter(([key]) => changed.has(key) && !/^(?:OPR|WPL) /.test(key));
  const reach = await putChanged(storage, source, records);
  const after = rewritten(before, named, objects, relaties, load.peildatum);
  for (const problem of problemsIn(load, after.file)) addProblem(problems, problem);
  await putPacked(storage, paths.snapshotReference(loadId), after.pack());
  const items = await putSegments(storage, loadId, [
    ...(await segmentsBefore(storage, load)),
    ...reach,
  ]);
  const result: Mutated = {
    mutations: applied.mutations,
    problems,
    setAside: applied.setAside.filter(({ count }) => count > 0),
    unsettled: remembered(await withAddresses(storage, source, before, unsettled)),
    applied: load.days.length,
    ...(load.stopped !== undefined && { stopped: load.stopped }),
  };
  await putJson(storage, paths.mutated(loadId), result);
  return items;
}

/** The objects that the days name, and the load up to a day that can't be read. */
async function objectsNamed(
  storage: Storage,
  load: Load,
): Promise<{ named: Set<string>; load: Load }> {
  const named = new Set<string>();
  for (const [at, file] of load.days.entries()) {
    try {
      for (const object of (await readCopy(storage, file, load)).named) named.add(object);
    } catch (error) {
      return { named, load: stoppedAt(load, at, error) };
    }
  }
  return { named, load };
}

/** The effect of all days of a load. */
type AppliedDays = {
  /** The keys of the objects. */
  changed: ReadonlySet<string>;
  /** A count, without adresseerbare objecten. */
  mutations: number;
  setAside: SetAsideOfDay[];
  unsettled: SetAsideObject[];
  problems: ProblemReport;
  /** All that hold after the last day. */
  relaties: readonly GemeenteRelatie[];
};

/** Applies the days to `objects`, one after the other: together they take too much memory. */
async function applyDays(
  storage: Storage,
  load: Load,
  objects: Objects,
  before: ReferenceFile,
): Promise<AppliedDays> {
  const concerning = load.extract?.isNational
    ? null
    : withinRegister(registerOf(objects, before, load));
  const places = placesOf(before.places).map(({ identificatie }) => identificatie);
  const unsettled = new Map(
    (await earlierSetAside(storage, load)).map((object) => [object.object, object]),
  );
  const changed = new Set<string>();
  const setAside: SetAsideOfDay[] = [];
  const problems = emptyReport();
  let mutations = 0;
  let relaties = relatiesIn(before);
  for (const file of load.days) {
    const read = (await readCopy(storage, file, load)).contents();
    const { gemeenten, problems: ofDay, relaties: ofAll, ...contents } = read;
    relaties = ofAll ?? relaties;
    const day: MutationDay = { ...contents, file: file.name, isOwnArea: gemeenten.length > 0 };
    const concerned = concerning?.(day) ?? day.mutations;
    setAside.push(applyMutations(objects, { ...day, mutations: concerned }, unsettled));
    const own = new Set([...places, ...concerned.map(({ identificatie }) => identificatie)]);
    for (const problem of ofDay) {
      if (!concerning || own.has(problem.identificatie)) addProblem(problems, problem);
    }
    for (const mutation of concerned) changed.add(objectKey(mutation));
    mutations += concerned.filter(({ kind }) => !isObjectenKind(kind)).length;
  }
  return { changed, mutations, setAside, unsettled: [...unsettled.values()], problems, relaties };
}

/**
 * The segments that addresses may be in before any day, including live segments that they may have
 * left.
 */
async function segmentsBefore(storage: Storage, load: Load): Promise<string[]> {
  const extracted = await extractedSlices(storage, load);
  const reach = load.kind === 'mutations' ? startOf(load)?.snapshot.reach : [];
  return [
    ...(load.base?.snapshot.segments ?? []),
    ...(reach ?? []),
    ...extracted.flatMap(({ segments }) => segments),
  ];
}

/**
 * Objects that earlier days set aside. An extract settles them, and days that are applied again are
 * judged again.
 */
async function earlierSetAside(
  storage: Storage,
  { kind, start, base }: Load,
): Promise<SetAsideObject[]> {
  if (kind !== 'mutations' || start) return [];
  const { published, pending } = await readManifest(storage);
  return [pending, published].find((entry) => entry?.load === base?.load)?.setAside ?? [];
}

/** Counts the addresses of streets and places that are set aside: a woonplaats may be a city. */
async function withAddresses(
  storage: Storage,
  source: JoinInput,
  reference: ReferenceFile,
  objects: readonly SetAsideObject[],
): Promise<SetAsideObject[]> {
  const idsOf = (kind: string) =>
    objects.flatMap(({ object }) => (object.startsWith(kind) ? object.slice(4) : []));
  const streets = new Set(idsOf('OPR'));
  const places = new Set(idsOf('WPL'));
  if (streets.size + places.size === 0) return [...objects];
  const isConcerned: StreetFilter = (lines, start) => places.has(streetAt.woonplaats(lines, start));
  const placeOf = new Map(
    streetsOf(reference.streets, isConcerned).map(
      (street) => [street.identificatie, street.woonplaats] as const,
    ),
  );
  const found = new Map<string, Set<string>>();
  const isOn = (street: string) => streets.has(street) || placeOf.has(street);
  for await (const record of recordsOf(storage, source, 'nummeraanduidingen')) {
    for (const voorkomen of parseRecord(record)) {
      if (
        voorkomen.kind !== 'NUM' ||
        voorkomen.postcode === null ||
        !isOn(voorkomen.openbareRuimte)
      )
        continue;
      for (const key of [
        `OPR ${voorkomen.openbareRuimte}`,
        `WPL ${placeOf.get(voorkomen.openbareRuimte)}`,
      ]) {
        found.set(key, (found.get(key) ?? new Set()).add(voorkomen.identificatie));
      }
    }
  }
  return objects.map((object) => ({
    ...object,
    addresses: found.get(object.object)?.size ?? object.addresses,
  }));
}

/**
 * The load with the days before `error`. @throws error if no day comes before it, or an extract
 * needs all its days
 */
function stoppedAt(load: Load, applied: number, error: unknown): Load {
  if (
    !(error instanceof ExtractError) ||
    applied < Math.max(1, load.leastDays ?? 1) ||
    load.kind !== 'mutations'
  ) {
    throw error;
  }
  return cut(load, { applied, stopped: error.message });
}

function cut(load: Load, { applied, stopped }: Pick<Mutated, 'applied' | 'stopped'>): Load {
  const days = load.days.slice(0, applied);
  return {
    ...load,
    days,
    peildatum: days.at(-1)?.tot ?? load.peildatum,
    ...(stopped !== undefined && { stopped }),
  };
}

/**
 * The wanted ones of the records, or occurrences in lines of their own, that the load begins with.
 */
async function* recordsOf(
  storage: Storage,
  source: JoinInput,
  kinds: RecordKinds,
  isWanted: (lines: Buffer, start: number) => boolean = () => true,
): AsyncGenerator<RecordLine> {
  const input = kinds === 'objecten' ? await joinInput(storage, source.load.id, kinds) : source;
  for (let bucket = 0; bucket < source.buckets; bucket++) {
    const lines = await recordsBefore(storage, input, kinds, nameOfNumber(bucket));
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      end = endOfLine(lines, start);
      if (isWanted(lines, start)) yield lines.toString('latin1', start, end);
    }
    releaseMemory(lines);
  }
}

/** The occurrences of the named objects, by `objectKey`. */
async function findObjects(
  storage: Storage,
  source: JoinInput,
  { streets, places }: ReferenceFile,
  named: ReadonlySet<string>,
): Promise<Objects> {
  const found: Objects = new Map();
  const add = (voorkomen: AnyVoorkomen) => {
    const key = objectKey(voorkomen);
    found.set(key, (found.get(key) ?? new Map()).set(voorkomen.volgnummer, voorkomen));
  };
  const names = new Set<string>();
  for (const key of named) {
    const kind = key.slice(0, 3);
    if (kind === 'NUM' || isObjectenKind(kind)) names.add(recordName(kind, key.slice(4)));
  }
  const { objecten } = source.load;
  const kinds: RecordKinds[] =
    names.size === 0 ? [] : ['nummeraanduidingen', ...(objecten ? ['objecten' as const] : [])];
  for (const kind of kinds) {
    for await (const record of recordsOf(storage, source, kind, isAmong(names))) {
      parseRecord(record).forEach(add);
    }
  }
  streetsOf(streets, isStreetIn(named)).forEach(add);
  for (const place of placesOf(places)) if (named.has(objectKey(place))) add(place);
  return found;
}

/**
 * Whether a record's name is in `names`, by its last digits first: nearly all fail there, and need
 * no string.
 */
function isAmong(names: ReadonlySet<string>): (lines: Buffer, start: number) => boolean {
  const digits = 4;
  const numbers = new Set(Array.from(names, (name) => Number(name.slice(-digits))));
  return (lines, start) => {
    let number = 0;
    for (let at = start + nameLayout.length - digits; at < start + nameLayout.length; at++) {
      number = 10 * number + (lines[at] as number) - zero;
    }
    return (
      numbers.has(number) && names.has(lines.toString('latin1', start, start + nameLayout.length))
    );
  };
}

/**
 * Stores the records that days have changed, by bucket. Returns the segments of their addresses.
 */
async function putChanged(
  storage: Storage,
  { load, buckets }: JoinInput,
  objects: readonly (readonly [string, ReadonlyMap<number, AnyVoorkomen>])[],
): Promise<Set<string>> {
  const reach = new Set<string>();
  const places = Map.groupBy(objects, ([key]) => {
    const kinds: RecordKinds = key.startsWith('NUM ') ? 'nummeraanduidingen' : 'objecten';
    return paths.changedRecords(
      load.id,
      kinds,
      nameOfNumber(bucketOf(Buffer.from(key, 'latin1'), 4, buckets)),
    );
  });
  await mapConcurrently([...places], 4, async ([path, ofBucket]) => {
    const records = ofBucket.map(([key, held]) => {
      const voorkomens = [...held.values()] as RegisterVoorkomen[];
      for (const voorkomen of voorkomens) {
        if (voorkomen.kind === 'NUM' && voorkomen.postcode)
          reach.add(segmentOf(keyOfNum(voorkomen)));
      }
      return recordOf(key.slice(0, 3) as RegisterVoorkomen['kind'], key.slice(4), voorkomens);
    });
    await putPacked(storage, path, packRecords(lineBytes(records.sort())));
  });
  return reach;
}

function referenceBefore(load: Load): string {
  return load.kind === 'mutations'
    ? paths.snapshotReference(startOf(load)?.snapshot.id ?? '')
    : paths.reference(load.id);
}

/**
 * The dataset of some municipalities: the objects that were found, and all of its streets and
 * places.
 */
function registerOf(found: Objects, reference: ReferenceFile, { extract }: Load): Register {
  const keys = new Set(found.keys());
  const inhabited = new Set<string>();
  for (const occurrence of occurrencesIn(reference)) {
    keys.add(objectKey(occurrence));
    if (occurrence.kind === 'OPR') inhabited.add(occurrence.woonplaats);
  }
  return { holds: (key) => keys.has(key), inhabited, gemeenten: extract?.gemeenten ?? [] };
}

function isStreetIn(keys: ReadonlySet<string>): StreetFilter {
  return (lines, start) => keys.has(`OPR ${streetAt.identificatie(lines, start)}`);
}

/**
 * The file of streets and places updated with `objects` and `relaties`, without ended occurrences.
 */
function rewritten(
  before: ReferenceFile,
  mutated: ReadonlySet<string>,
  objects: Objects,
  relaties: readonly GemeenteRelatie[],
  peildatum: string,
): ReferenceWriter {
  const day = dayOf(peildatum);
  const writer = new ReferenceWriter();
  const isMutated = isStreetIn(mutated);
  writer.copyStreets(
    before,
    (lines, start) => streetAt.eind(lines, start) > day && !isMutated(lines, start),
  );
  const write = (occurrence: AnyVoorkomen) => {
    if (occurrence.eind > day && (occurrence.kind === 'OPR' || occurrence.kind === 'WPL')) {
      writer.add(occurrence);
    }
  };
  for (const place of placesOf(before.places)) if (!mutated.has(objectKey(place))) write(place);
  for (const occurrences of objects.values()) {
    for (const occurrence of occurrences.values()) write(occurrence);
  }
  for (const relatie of relaties) if (relatie.eind > day) writer.addRelatie(relatie);
  return writer;
}

/**
 * Every occurrence that another current one replaces, and the faults in gemeenten, by the members
 * of an extract.
 */
function problemsIn(load: Load, file: ReferenceFile): Problem[] {
  const { severalCurrent: found, places } = referenceOn(file, load.peildatum);
  const fileOf = (kind: MemberKind) => {
    const member = load.members.find((candidate) => candidate.kind === kind);
    return member ? fileLabel(extractName(load), member) : 'streets and places';
  };
  const several = (['OPR', 'WPL', relatieFile] as const).flatMap((kind) =>
    found[kind].map((identificatie) => ({
      kind: 'several_current' as const,
      file: fileOf(kind),
      identificatie,
    })),
  );
  return [...several, ...gemeenteProblems(places, fileOf(relatieFile))];
}

/** Determines the mutations' changes, which an extract may have none of. */
export const step: Step = {
  async run({ storage, progress }, { load }) {
    const shown = progress.begin('mutate', {});
    const { segments } = await mutate(storage, load);
    shown.end();
    return { load, segments };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('mutate', step);
