import { gemeenteProblems } from '../bag/gemeente-relaties.ts';
import { addProblem, emptyReport, type ProblemReport } from '../bag/problem-report.ts';
import { isObjectenKind } from '../bag/schema.ts';
import {
  type AnyVoorkomen,
  dayOf,
  type GemeenteRelatie,
  type OpenbareRuimte,
  type WoonplaatsInGemeente,
} from '../bag/voorkomen.ts';
import { adresObjectLayout } from '../dataset/adres-objects.ts';
import {
  applyMutations,
  editsOf,
  type MutationDay,
  type Objects,
  objectKey,
  objectsOf,
  type Register,
  withinRegister,
} from '../dataset/apply-mutations.ts';
import { addConcerned, type FoundObjecten, objectenEditsOf } from '../dataset/apply-to-objecten.ts';
import { extractDate, type Load, startOf } from '../dataset/load.ts';
import { findNamed, isNamedAt, type NamedObjects, namedObjects } from '../dataset/named-objects.ts';
import { addFound, editsBySegment, type FoundObjects } from '../dataset/object-segment.ts';
import { identificatieOf, type ObjectLine, referencesOf, withoutPostcode } from '../dataset/objects.ts';
import {
  occurrencesIn,
  placesIn,
  type ReadReference,
  type ReferenceFile,
  ReferenceWriter,
  referenceAt,
  referenceOn,
  relatiesIn,
  unpackReference,
} from '../dataset/reference-file.ts';
import { type StreetFilter, streetAt, streetsOf } from '../dataset/reference-lines.ts';
import { remembered, type SetAsideObject, type SetAsideOfDay } from '../dataset/set-aside.ts';
import { postcode3sOf } from '../dataset/stored-form.ts';
import { ExtractError } from '../extract-error.ts';
import { readCopy } from '../storage/mutation-deliveries.ts';
import { findJson, getJson, getUnpacked, paths, putJson, putPacked, type Storage } from '../storage/storage.ts';
import { type Collected, putSegments, type SegmentItem } from './collect.ts';
import { type ObjectSource, objectSource } from './extract.ts';
import { objectenSource } from './join.ts';
import { lambdaStep } from './lambda-step.ts';
import { readManifest } from './manifest.ts';
import type { Step } from './step.ts';

/** What `mutate` stores beside edits and a new reference; if it exists, the step is finished. */
export type Mutated = {
  /** Occurrences of nummeraanduidingen, openbare ruimten and woonplaatsen that the mutations changed or added. */
  mutations: number;
  problems: ProblemReport;
  /** The deliveries of which objects were set aside. */
  setAside: SetAsideOfDay[];
  /** All objects that are set aside, with those of days before. */
  unsettled: SetAsideObject[];
  /** The streets and places whose name, place or gemeente changed; only where a live snapshot is mutated. */
  changedStreets: string[];
  changedPlaces: string[];
  /** Those of them that there were. */
  were: { streets: OpenbareRuimte[]; places: WoonplaatsInGemeente[] };
  /** How many of the load's days were applied, and what is wrong with the next one where that is not all. */
  applied: number;
  stopped?: string;
};

/** Finds the objects that mutations name or that turn, and stores the edits of each segment. @throws ExtractError */
export async function mutate(storage: Storage, loadId: string): Promise<{ segments: number }> {
  let load = await getJson<Load>(storage, paths.load(loadId));
  const earlier = await findJson<Mutated>(storage, paths.mutated(loadId));
  if (earlier) {
    // A proposal may have been here, and \`discover\` has described the load again since.
    if (earlier.stopped !== undefined) await putJson(storage, paths.load(loadId), cut(load, earlier));
    return { segments: (await getJson<SegmentItem[]>(storage, paths.segments(loadId))).length };
  }
  const problems = emptyReport();
  const named = new Set<string>();
  for (const [at, file] of load.days.entries()) {
    try {
      for (const object of (await readCopy(storage, file, load)).named) named.add(object);
    } catch (error) {
      load = stoppedAt(load, at, error);
      break;
    }
  }
  const segments = await segmentsOf(storage, load, 'objects');
  const { found, next } = await findObjects(storage, load, segments, named);
  const withObjecten = load.objecten ? await segmentsOf(storage, load, 'objecten') : [];
  const objecten = await findObjecten(storage, load, withObjecten, named, found);
  const before = await getUnpacked(storage, referenceBefore(load), unpackReference);
  const concerning = load.extract?.isNational ? null : withinRegister(registerOf(found, objecten, before, load));
  const objects: Objects = new Map([...objectsOf(found), ...objecten.objects, ...referenceObjects(before, named)]);
  const setAside: SetAsideOfDay[] = [];
  const unsettled = new Map((await earlierSetAside(storage, load)).map((one) => [one.object, one]));
  let [count, countOfObjecten] = [0, 0];
  let relaties = relatiesIn(before);
  // One day after the other, which together take too much memory.
  for (const file of load.days) {
    const { gemeenten, problems: ofDay, relaties: ofAll, ...read } = (await readCopy(storage, file, load)).contents();
    relaties = ofAll ?? relaties;
    for (const problem of ofDay) addProblem(problems, problem);
    const day: MutationDay = { ...read, file: file.name, isOwnArea: gemeenten.length > 0 };
    const { mutations } = concerning?.(day) ?? day;
    setAside.push(applyMutations(objects, { ...day, mutations }, unsettled));
    const ofObjecten = mutations.filter(({ kind }) => isObjectenKind(kind)).length;
    countOfObjecten += ofObjecten;
    count += mutations.length - ofObjecten;
  }
  if (load.stopped !== undefined) await putJson(storage, paths.load(loadId), load);

  const edits = editsBySegment(editsOf(found, objects, load.peildatum, next));
  const editsOfObjecten = editsBySegment(objectenEditsOf(objecten, objects, load.peildatum));
  const edited = [...edits.keys(), ...editsOfObjecten.keys()];
  // Many days make these large, and the rest of the step needs none of them.
  found.clear();
  objecten.lines.clear();
  for (const key of objects.keys()) if (!/^(?:OPR|WPL) /.test(key)) objects.delete(key);
  for (const [all, path] of [
    [edits, paths.dayEdits],
    [editsOfObjecten, paths.dayObjectenEdits],
  ] as const) {
    for (const [segment, ofSegment] of all) {
      all.delete(segment);
      await putJson(storage, path(loadId, segment), ofSegment);
    }
  }
  const after = rewritten(before, named, objects, relaties, load.peildatum);
  const now = referenceOn(after.file, load.peildatum);
  const file = 'streets and places';
  for (const identificatie of Object.values(now.severalCurrent).flat()) {
    addProblem(problems, { kind: 'several_current', file, identificatie });
  }
  for (const problem of gemeenteProblems(now.places, file)) addProblem(problems, problem);
  const start = load.kind === 'mutations' ? startOf(load) : null;
  const changed = start
    ? changedReference(before, start.peildatum, now, load.peildatum, named)
    : { streets: [], places: [], were: { streets: [], places: [] } };
  await putPacked(storage, paths.snapshotReference(loadId), after.pack());
  if (load.kind === 'mutations') {
    const more = load.objecten && { objecten: countOfObjecten };
    const collected: Collected = { voorkomens: count, problems, objects: 0, parts: [], ...more };
    await putJson(storage, paths.collected(loadId), collected);
  }
  const all = new Set([...segments, ...withObjecten, ...edited, ...(load.base?.snapshot.segments ?? [])]);
  const items = await putSegments(storage, loadId, all);
  const result: Mutated = {
    mutations: count,
    problems,
    setAside: setAside.filter(({ count }) => count > 0),
    unsettled: remembered(await withAddresses(storage, load, segments, before, [...unsettled.values()])),
    changedStreets: changed.streets,
    changedPlaces: changed.places,
    were: changed.were,
    applied: load.days.length,
    ...(load.stopped !== undefined && { stopped: load.stopped }),
  };
  await putJson(storage, paths.mutated(loadId), result);
  return items;
}

/** What the days before have set aside; an extract settles it, and days that are applied again are judged again. */
async function earlierSetAside(storage: Storage, { kind, start, base }: Load): Promise<SetAsideObject[]> {
  if (kind !== 'mutations' || start) return [];
  const { published, pending } = await readManifest(storage);
  return [pending, published].find((entry) => entry?.load === base?.load)?.setAside ?? [];
}

/** Counts the addresses of streets and places that are set aside: a woonplaats may be a city. */
async function withAddresses(
  storage: Storage,
  load: Load,
  segments: readonly string[],
  reference: ReferenceFile,
  objects: readonly SetAsideObject[],
): Promise<SetAsideObject[]> {
  const idsOf = (kind: string) => objects.flatMap(({ object }) => (object.startsWith(kind) ? object.slice(4) : []));
  const [streets, places] = [new Set(idsOf('OPR')), new Set(idsOf('WPL'))];
  if (streets.size + places.size === 0) return [...objects];
  const isConcerned: StreetFilter = (lines, start) => places.has(streetAt.woonplaats(lines, start));
  const placeOf = new Map(
    streetsOf(reference.streets, isConcerned).map((one) => [one.identificatie, one.woonplaats] as const),
  );
  const named = namedObjects('reference', new Set([...streets, ...placeOf.keys()]));
  const found = new Map<string, Set<string>>();
  for await (const { source, part } of eachPart(segments, (segment) => objectSource(storage, load, segment))) {
    for (const line of part === withoutPostcode ? [] : await source.find(part, named)) {
      const { street } = referencesOf(line);
      for (const key of [`OPR ${street}`, `WPL ${placeOf.get(street)}`])
        found.set(key, (found.get(key) ?? new Set()).add(identificatieOf(line)));
    }
  }
  return objects.map((one) => ({ ...one, addresses: found.get(one.object)?.size ?? one.addresses }));
}

/** The load with the days before `error`. @throws error where there is none, or an extract needs all its days */
function stoppedAt(load: Load, applied: number, error: unknown): Load {
  if (!(error instanceof ExtractError) || applied < Math.max(1, load.leastDays ?? 1) || load.kind !== 'mutations')
    throw error;
  return cut(load, { applied, stopped: error.message });
}

function cut(load: Load, { applied, stopped }: Pick<Mutated, 'applied' | 'stopped'>): Load {
  const days = load.days.slice(0, applied);
  return { ...load, days, peildatum: days.at(-1)?.tot ?? load.peildatum, ...(stopped !== undefined && { stopped }) };
}

/** The segments of the objects that the load starts with. */
async function segmentsOf(storage: Storage, load: Load, kind: 'objects' | 'objecten'): Promise<string[]> {
  if (load.kind !== 'mutations') {
    return (await getJson<SegmentItem[]>(storage, paths.segments(load.id))).map(({ segment }) => segment);
  }
  return startOf(load)?.snapshot[kind] ?? [];
}

async function findObjects(
  storage: Storage,
  load: Load,
  segments: readonly string[],
  mutated: ReadonlySet<string>,
): Promise<{ found: FoundObjects; next: Map<string, string | null> }> {
  const found: FoundObjects = new Map();
  const next = new Map<string, string | null>();
  const named = namedObjects('identificatie', idsIn(mutated, 'NUM'));
  for await (const { source, part } of eachPart(segments, (segment) => objectSource(storage, load, segment)))
    for (const line of await linesIn(load, source, part, next, named)) addFound(found, part, line);
  return { found, next };
}

/** Every part of some segments, with the objects of its segment. */
async function* eachPart<Source>(segments: readonly string[], open: (segment: string) => Promise<Source>) {
  for (const segment of segments) {
    const source = await open(segment);
    for (const part of postcode3sOf(segment)) yield { source, part };
  }
}

/** The named lines of a part, and those of objects that turn; where there are such, the date of the `next`. */
async function linesIn(
  load: Load,
  source: ObjectSource<{ next: string | null }>,
  part: string,
  next: Map<string, string | null>,
  named: NamedObjects,
  also = named,
): Promise<ObjectLine[]> {
  // An extract with objects turns every line: those of an object are under the keys that its addresses get.
  const turns = source.stored ? (source.stored.result(part).next ?? noDate) <= load.peildatum : load.objecten;
  if (!turns) return source.find(part, named, also);
  const [from, to] = [startDate(load), load.peildatum].map(dayOf) as [number, number];
  const turning = findNamed((await source.blocks(part)).texts(), named, { from, to, also });
  next.set(part, turning.next);
  return turning.lines;
}

function startDate(load: Load): string {
  return load.kind === 'extract' ? extractDate(load) : (startOf(load)?.peildatum ?? load.peildatum);
}

/** The lines of adresseerbare objecten that the mutations name or whose addresses they do, and of those that turn. */
async function findObjecten(
  storage: Storage,
  load: Load,
  segments: readonly string[],
  mutated: ReadonlySet<string>,
  nums: FoundObjects,
): Promise<FoundObjecten> {
  const found: FoundObjecten = { lines: new Map(), objects: new Map(), next: new Map() };
  const ids = new Set([...mutated].flatMap((key) => (isObjectenKind(key.slice(0, 3)) ? [key.slice(4)] : [])));
  const named = namedObjects('identificatie', ids, adresObjectLayout);
  const addresses = new Set([...idsIn(mutated, 'NUM'), ...nums.keys()]);
  const also = namedObjects('reference', addresses, adresObjectLayout);
  const open = async (segment: string) =>
    objectenSource(storage, load, segment, await objectSource(storage, load, segment));
  for await (const { source, part } of eachPart(segments, open)) {
    const lines = await linesIn(load, source, part, found.next, named, also);
    if (lines.length > 0) found.lines.set(part, lines);
  }
  addConcerned(found, ids, { from: dayOf(startDate(load)), to: dayOf(load.peildatum) });
  return found;
}

/** After every date. */
const noDate = '9999-99-99';

function referenceBefore(load: Load): string {
  return load.kind === 'mutations'
    ? paths.snapshotReference(startOf(load)?.snapshot.id ?? '')
    : paths.reference(load.id);
}

/** What the dataset of some municipalities holds: the objects that were found, and all of its streets and places. */
function registerOf(
  found: FoundObjects,
  { objects }: FoundObjecten,
  reference: ReferenceFile,
  { extract }: Load,
): Register {
  const [keys, inhabited] = [new Set(objects.keys()), new Set<string>()];
  for (const identificatie of found.keys()) keys.add(`NUM ${identificatie}`);
  for (const occurrence of occurrencesIn(reference)) {
    keys.add(objectKey(occurrence));
    if (occurrence.kind === 'OPR') inhabited.add(occurrence.woonplaats);
  }
  return { holds: (key) => keys.has(key), inhabited, gemeenten: extract?.gemeenten ?? [] };
}

function referenceObjects({ streets, places }: ReferenceFile, mutated: ReadonlySet<string>): Objects {
  const objects: Objects = new Map();
  for (const occurrence of [...streetsOf(streets, isStreetIn(mutated)), ...placesIn(places)]) {
    const key = objectKey(occurrence);
    if (mutated.has(key)) objects.set(key, (objects.get(key) ?? new Map()).set(occurrence.volgnummer, occurrence));
  }
  return objects;
}

function isStreetIn(keys: ReadonlySet<string>): StreetFilter {
  const streets = namedObjects('reference', idsIn(keys, 'OPR'));
  return (lines, start) => isNamedAt(lines, start, streets);
}

/** The identificaties among keys of objects of all kinds. */
function idsIn(keys: ReadonlySet<string>, kind: 'NUM' | 'OPR'): Set<string> {
  return new Set([...keys].flatMap((key) => (key.startsWith(kind) ? key.slice(kind.length + 1) : [])));
}

/** The file of streets and places with what `objects` and `relaties` hold, and without what has ended. */
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
  writer.copyStreets(before, (lines, start) => streetAt.eind(lines, start) > day && !isMutated(lines, start));
  const write = (occurrence: AnyVoorkomen) => {
    if (occurrence.eind <= day) return;
    if (occurrence.kind === 'WPL') writer.addPlace(occurrence, occurrence);
    if (occurrence.kind === 'OPR') writer.addStreet(occurrence, occurrence);
  };
  for (const place of placesIn(before.places)) if (!mutated.has(objectKey(place))) write(place);
  for (const occurrences of objects.values()) for (const occurrence of occurrences.values()) write(occurrence);
  for (const relatie of relaties) if (relatie.eind > day) writer.addRelatie(relatie);
  return writer;
}

/** The streets and places that differ from the live snapshot: by a mutation, or as an occurrence began or ended. */
function changedReference(
  before: ReferenceFile,
  from: string,
  after: ReadReference,
  to: string,
  mutated: ReadonlySet<string>,
): { streets: string[]; places: string[]; were: NonNullable<Mutated['were']> } {
  const earlier = referenceOn(before, from);
  const [then, now] = [referenceAt(earlier), referenceAt(after)];
  const [first, last] = [dayOf(from), dayOf(to)];
  const idsOfPlaces = [...earlier.places, ...after.places].map(({ identificatie }) => identificatie);
  const places = [...new Set(idsOfPlaces)].filter((id) => {
    const [place, was] = [now, then].map((at) => at.woonplaatsen.get(id));
    return place?.naam !== was?.naam || place?.gemeente !== was?.gemeente;
  });
  const changedPlaces = new Set(places);
  const turns = (day: number) => day > first && day <= last;
  const mayDiffer: StreetFilter = (lines, start) =>
    turns(streetAt.begin(lines, start)) ||
    turns(streetAt.eind(lines, start)) ||
    (changedPlaces.size > 0 && changedPlaces.has(streetAt.woonplaats(lines, start)));
  const ids = [...idsIn(mutated, 'OPR'), ...streetsOf(before.streets, mayDiffer).map((one) => one.identificatie)];
  const streets = [...new Set(ids)].filter((id) => {
    const [street, was] = [now, then].map((at) => at.openbareRuimten.get(id));
    const isOther = street?.naam !== was?.naam || street?.woonplaats !== was?.woonplaats;
    return isOther || changedPlaces.has(street?.woonplaats ?? '');
  });
  const were = {
    streets: streets.flatMap((id) => then.openbareRuimten.get(id) ?? []),
    places: places.flatMap((id) => then.woonplaatsen.get(id) ?? []),
  };
  return { streets, places, were };
}

/** Determines what the mutations change; an extract may have none. */
export const step: Step = {
  async run({ storage, progress }, { load }) {
    const { kind, days } = await getJson<Load>(storage, paths.load(load));
    if (kind !== 'mutations' && days.length === 0) return { load };
    const shown = progress.begin('mutate', {});
    const { segments } = await mutate(storage, load);
    shown.end();
    return { load, segments };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('mutate', step);
