import { type Gemeente, gemeenteOf } from '../../core/gemeenten.ts';
import { relatieFile } from '../../loader/bag/gemeente-relaties.ts';
import { readMutationDelivery } from '../../loader/bag/mutation-delivery.ts';
import type { Mutation } from '../../loader/bag/mutations.ts';
import {
  type AdresseerbaarVoorkomen,
  type AnyVoorkomen,
  dayOf,
  dayText,
  type GemeenteRelatie,
  type NumVoorkomen,
  noEind,
  type OprVoorkomen,
} from '../../loader/bag/voorkomen.ts';
import { adresObjectLayout, numKeysOf, parseAdresObjectLine } from '../../loader/dataset/adres-objects.ts';
import { type Objects, objectKey, withinRegister } from '../../loader/dataset/apply-mutations.ts';
import { unpackSegment } from '../../loader/dataset/line-segment.ts';
import { keyOf, parseLine } from '../../loader/dataset/lines.ts';
import { hasObjecten, type ManifestEntry, type MutationFile, type Snapshot } from '../../loader/dataset/load.ts';
import { namedObjects } from '../../loader/dataset/named-objects.ts';
import { adresObjectLayer, numLayer, ObjectSegmentReader } from '../../loader/dataset/object-segment.ts';
import {
  elsewhere,
  keyOfNum,
  type ObjectLine,
  parseObjectLine,
  partOf,
  withoutPostcode,
} from '../../loader/dataset/objects.ts';
import { occurrencesIn, relatiesIn, unpackReference } from '../../loader/dataset/reference-file.ts';
import { segmentOf } from '../../loader/dataset/stored-form.ts';
import { LoadError } from '../../loader/load-error.ts';
import { readManifest } from '../../loader/steps/manifest.ts';
import { findUnpacked, paths, type Storage } from '../../loader/storage/storage.ts';
import { nameWithGemeente } from '../../loader/verdict/load-counts.ts';
import { bufferAccess } from '../../loader/zip/random-access.ts';
import { holdingOn, lastChange, type ReplayedDay, servedIn, undone } from './replay.ts';

/** Names an occurrence of an object. */
export type NamedVoorkomen = Pick<Mutation, 'kind' | 'identificatie' | 'volgnummer'>;

/**
 * One occurrence of a nummeraanduiding, openbare ruimte, woonplaats or adresseerbaar object, in words. Dates are
 * `2026-01-08`.
 */
export type ExplainedVoorkomen = NamedVoorkomen & {
  begin: string;
  eind: string | null;
  /** The address, street, place or object that it gives. */
  gives: string;
  /** Whether it counts on the date of the live dataset. */
  isCurrent: boolean;
  /** Which other voorkomen of the object counts although this one holds too, and why. */
  lostTo?: string;
  /** What brought it: a delivery of mutations, or the extract. */
  from: string;
};

/** A relation of one of the places to a gemeente, now or later. Dates are `2026-01-08`. */
export type ExplainedRelatie = Pick<ExplainedVoorkomen, 'begin' | 'eind' | 'isCurrent' | 'from'> & {
  woonplaats: string;
  gemeente: Gemeente;
};

/** What a delivery did to one of these objects. */
export type ExplainedChange = NamedVoorkomen &
  Pick<MutationFile, 'vanaf' | 'tot'> & { delivery: string; before: string | null; after: string | null };

/** Why an address is what it is. Plain JSON. */
export type AddressExplanation = {
  key: string;
  /** The live dataset. */
  peildatum: string;
  load: string;
  /** What lookups answer, as `straat, woonplaats (gemeente 0363)`; none for no address. */
  places: string[];
  /**
   * The first date of the dataset on which it was that, and why; `null` where it is as the extract has it. Unknown
   * where a delivery since then is no longer kept, or the days do not lead to it.
   */
  since: { date: string; because: string } | null | 'unknown';
  /** The full extract behind the dataset. */
  extract: { peildatum: string; location: string } | null;
  voorkomens: ExplainedVoorkomen[];
  relaties: ExplainedRelatie[];
  changes: ExplainedChange[];
  /** What the address was in the snapshots that are kept, where that was something else; the newest first. */
  earlier: { peildatum: string; load: string; places: string[] }[];
  /** What could not be read. */
  notes: string[];
};

/**
 * Why an address, present or gone, is what lookups answer: the occurrences behind it, what brought each, and what
 * changed them. Reads only what the storage holds already: the live snapshot, the deliveries since its extract, and the
 * snapshots that are kept.
 * @throws UnknownSnapshotError where nothing is live
 */
export async function explainAddress(storage: Storage, key: string): Promise<AddressExplanation> {
  const { published, history } = await readManifest(storage);
  if (!published)
    throw new LoadError(
      'UnknownSnapshotError',
      'Nothing was loaded yet, so there is no address to explain. Run "load run".',
    );
  const notes: string[] = [];
  const { days, count } = daysBehind(published, history);
  const withObjecten = hasObjecten(published.snapshot);
  const deliveries = await readDeliveries(storage, days, notes, withObjecten);
  const past = await earlierOf(storage, published, history, key);
  const ids = new Set(past.ids);
  for (const num of numsIn(deliveries)) if (keyOfNum(num) === key) ids.add(num.identificatie);
  const live = await behindKey(storage, published.snapshot, { key, ids, deliveries });
  // An object that has gone, or that has other addresses now, had this one before a delivery.
  const had = deliveries.flatMap(({ mutations }) =>
    mutations.filter(({ was, wordt }) => [...numKeysOf(was), ...numKeysOf(wordt)].some((num) => ids.has(num.slice(4)))),
  );
  const named = new Set([...ids, ...[...live.voorkomens, ...had].map(({ identificatie }) => identificatie)]);
  const changes = deliveries.flatMap(({ day, mutations }) =>
    mutations.filter(({ identificatie }) => named.has(identificatie)).map((mutation) => changeOf(day, mutation)),
  );
  const places = await linesOfKey(storage, published, key);
  const base = published.replayBase ?? published;
  const start =
    base.snapshot.id === published.snapshot.id
      ? live
      : await behindKey(storage, base.snapshot, { key, ids, deliveries });
  const replayed = replay(start, deliveries, { key, count, named, published, withObjecten });
  const isWhole = deliveries.length === days.length && replayed.served === servedIn(places.lines, key);
  if (isWhole && count > 0 && replayed.since === null) {
    notes.push(
      `the extract was brought forward to ${base.peildatum}, so what ended by its date alone before that is not known`,
    );
  }
  return {
    key,
    peildatum: published.peildatum,
    load: published.load,
    places: places.texts,
    since: isWhole ? replayed.since : 'unknown',
    extract: published.extract && {
      peildatum: published.extract.peildatum,
      location: published.source?.location ?? '',
    },
    voorkomens: live.voorkomens.map((one) => explained(one, published, changes, live.voorkomens)),
    relaties: relatiesOf(live, published, deliveries),
    changes,
    earlier: past.earlier.filter((one) => one.places.join() !== places.texts.join()),
    notes,
  };
}

type Replay = {
  key: string;
  count: number;
  named: ReadonlySet<string>;
  published: ManifestEntry;
  withObjecten: boolean;
};

/**
 * Applies the deliveries once more. The first `count` of them were applied to the extract itself, which no snapshot has
 * without them: where nothing changed after these, what they did is taken back from what the snapshot has.
 */
function replay(
  start: FoundBehind,
  deliveries: readonly Delivery[],
  { key, count, named, published, withObjecten }: Replay,
) {
  const { extract, peildatum, replayBase } = published;
  const objects: Objects = new Map();
  for (const one of start.voorkomens) {
    const held = objects.get(objectKey(one)) ?? new Map();
    objects.set(objectKey(one), held.set(one.volgnummer, one));
  }
  const register = { holds: (id: string) => objects.has(id) || start.streets.has(id), inhabited: start.inhabited };
  const concerning = extract?.isNational ? null : withinRegister({ ...register, gemeenten: extract?.gemeenten ?? [] });
  const days = deliveries.map(({ day, isOwnArea, relaties, mutations }) => {
    const concerned = concerning?.({ ...day, file: day.name, isOwnArea, mutations }).mutations ?? mutations;
    return { day, relaties, mutations: concerned.filter(({ identificatie }) => named.has(identificatie)) };
  });
  const [first, since] = [days.slice(0, count), days.slice(count)];
  // Objects that had other addresses, under which the snapshot has them.
  for (const [name, held] of undone(new Map(), since)) if (!objects.has(name)) objects.set(name, held);
  const before = undone(objects, first);
  const how = { key, objecten: withObjecten };
  const from = replayBase?.peildatum ?? peildatum;
  const replayed = lastChange({ objects, relaties: start.relaties }, since, { ...how, from });
  if (replayed.since || !extract || count === 0) return replayed;
  const relaties = first.find((one) => one.relaties !== null)?.relaties ?? start.relaties;
  const earlier = lastChange({ objects: before, relaties }, first, { ...how, from: extract.peildatum });
  return earlier.served === replayed.served ? earlier : replayed;
}

/** The deliveries between the extract and the live dataset, of which the first `count` were applied to the extract. */
function daysBehind({ replayBase, since = [] }: ManifestEntry, history: readonly ManifestEntry[]) {
  const made = history.findLast(({ snapshot }) => snapshot.id === replayBase?.snapshot.id)?.days ?? [];
  return { days: [...made, ...since], count: made.length };
}

type Delivery = ReplayedDay & { day: MutationFile; isOwnArea: boolean };

async function readDeliveries(
  storage: Storage,
  days: readonly MutationFile[],
  notes: string[],
  objecten: boolean,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (const day of days) {
    const bytes = await storage.get(day.key);
    if (bytes) {
      const read = await readMutationDelivery(bufferAccess(bytes), day.name, { objecten });
      // Their strings retain the XML.
      const { mutations, relaties } = structuredClone({ mutations: read.mutations, relaties: read.relaties });
      found.push({ day, mutations, relaties, isOwnArea: read.gemeenten.length > 0 });
    } else notes.push(`${day.name} is no longer kept, so what it changed is not shown`);
  }
  return found;
}

/** The nummeraanduidingen as deliveries found them and left them. */
function numsIn(deliveries: readonly Delivery[]): NumVoorkomen[] {
  const all = deliveries.flatMap(({ mutations }) => mutations.flatMap(({ was, wordt }) => [was, wordt]));
  return all.filter((one) => one?.kind === 'NUM');
}

/** The objects of one segment of a snapshot; `null` where it has none. */
function objectsIn(storage: Storage, snapshot: Snapshot, segment: string) {
  const key = paths.snapshotObjects(snapshot.id, segment);
  return findUnpacked(storage, key, (bytes) => new ObjectSegmentReader(bytes, numLayer));
}

async function linesOfKey(storage: Storage, { snapshot }: ManifestEntry, key: string) {
  const all = (await findUnpacked(storage, paths.snapshot(snapshot.id, segmentOf(key)), unpackSegment)) ?? [];
  const lines = all.filter((one) => keyOf(one) === key);
  return { lines, texts: lines.flatMap((line) => parseLine(line).places.map(nameWithGemeente)) };
}

const withoutMark = (line: ObjectLine) => (line.startsWith(elsewhere) ? line.slice(1) : line);

/** The objects that have or had the key in the snapshots that are kept, and what it answered in each. */
async function earlierOf(storage: Storage, published: ManifestEntry, history: readonly ManifestEntry[], key: string) {
  const ids = new Set<string>();
  const earlier: AddressExplanation['earlier'] = [];
  const seen = new Set<string>();
  for (const entry of [published, ...history]) {
    if (seen.has(entry.snapshot.id)) continue;
    seen.add(entry.snapshot.id);
    const objects = await objectsIn(storage, entry.snapshot, segmentOf(key));
    if (!objects) continue;
    for (const line of objects.lines(key.slice(0, 3))) {
      if (keyOf(withoutMark(line)) === key) ids.add(parseObjectLine(line).identificatie);
    }
    const { peildatum, load } = entry;
    if (entry !== published) earlier.push({ peildatum, load, places: (await linesOfKey(storage, entry, key)).texts });
  }
  return { ids, earlier };
}

/** Every stored occurrence of some objects: usually in the segment of the key, else in all until each is found. */
async function occurrencesOf(storage: Storage, snapshot: Snapshot, ids: ReadonlySet<string>, key: string) {
  const found = new Map<string, NumVoorkomen>();
  const missing = new Set(ids);
  const named = namedObjects('identificatie', ids);
  for (const segment of new Set([segmentOf(key), ...snapshot.objects])) {
    if (missing.size === 0) break;
    const objects = await objectsIn(storage, snapshot, segment);
    for (const line of objects?.parts.flatMap((part) => objects.find(part, named)) ?? []) {
      const num = parseObjectLine(line);
      missing.delete(num.identificatie);
      found.set(`${num.identificatie} ${num.volgnummer}`, num);
    }
  }
  return [...found.values()];
}

/** Every stored occurrence of the adresseerbare objecten that name one of these nummeraanduidingen. */
async function objectenOf(
  storage: Storage,
  snapshot: Snapshot,
  ids: ReadonlySet<string>,
  nums: readonly NumVoorkomen[],
): Promise<AdresseerbaarVoorkomen[]> {
  const found = new Map<string, AdresseerbaarVoorkomen>();
  const named = namedObjects('reference', ids, adresObjectLayout);
  const parts = new Set(nums.map(partOf));
  for (const part of ids.size > parts.size ? [...parts, withoutPostcode] : parts) {
    const key = paths.snapshotObjecten(snapshot.id, segmentOf(part));
    const segment = await findUnpacked(storage, key, (bytes) => new ObjectSegmentReader(bytes, adresObjectLayer));
    for (const line of segment?.find(part, named) ?? []) {
      const one = parseAdresObjectLine(line);
      found.set(`${one.identificatie} ${one.volgnummer}`, one);
    }
  }
  return [...found.values()];
}

/** The occurrences behind a key in a snapshot, with all of its streets and inhabited places by their ids. */
type FoundBehind = {
  voorkomens: AnyVoorkomen[];
  relaties: GemeenteRelatie[];
  streets: ReadonlySet<string>;
  inhabited: ReadonlySet<string>;
};

/** Reads what a snapshot has of the objects that have or had a key, and of what they name, now or before a delivery. */
async function behindKey(
  storage: Storage,
  snapshot: Snapshot,
  { key, ids, deliveries }: { key: string; ids: ReadonlySet<string>; deliveries: readonly Delivery[] },
): Promise<FoundBehind> {
  const nums = await occurrencesOf(storage, snapshot, ids, key);
  const mutations = deliveries.flatMap((delivery) => delivery.mutations.flatMap(({ was, wordt }) => [was, wordt]));
  const changed = [...nums, ...mutations.filter((one) => one !== null)];
  const named = changed.filter((one) => one.kind === 'NUM' && ids.has(one.identificatie)) as NumVoorkomen[];
  const streets = new Set(named.map(({ openbareRuimte }) => openbareRuimte));
  const path = paths.snapshotReference(snapshot.id);
  const all = (await findUnpacked(storage, path, (bytes) => occurrencesIn(unpackReference(bytes)))) ?? [];
  const ofStreets = [...all, ...changed].filter(
    (one) => one.kind === 'OPR' && streets.has(one.identificatie),
  ) as OprVoorkomen[];
  const places = new Set([
    ...named.flatMap(({ woonplaats }) => woonplaats ?? []),
    ...ofStreets.map(({ woonplaats }) => woonplaats),
  ]);
  const relaties = (await findUnpacked(storage, path, (bytes) => relatiesIn(unpackReference(bytes)))) ?? [];
  const oprs = all.filter((one) => one.kind === 'OPR');
  return {
    voorkomens: [
      ...nums,
      ...oprs.filter(({ identificatie }) => streets.has(identificatie)),
      ...all.filter((one) => one.kind === 'WPL' && places.has(one.identificatie)),
      ...(await objectenOf(storage, snapshot, ids, nums)),
    ],
    relaties: relaties.filter(({ woonplaats }) => places.has(woonplaats)),
    streets: new Set(all.map(objectKey)),
    inhabited: new Set(oprs.map(({ woonplaats }) => woonplaats)),
  };
}

/** The relations of the places behind a key, all of which the last delivery that has a file of them says. */
function relatiesOf(
  { relaties }: FoundBehind,
  { peildatum, extract }: ManifestEntry,
  deliveries: readonly Delivery[],
): ExplainedRelatie[] {
  const day = dayOf(peildatum);
  const delivery = deliveries.findLast((one) => one.relaties !== null)?.day.name;
  const from = `${relatieFile} of ${delivery ?? `the extract of ${extract?.peildatum ?? peildatum}`}`;
  return relaties.map((relatie) => {
    const { woonplaats, gemeente, begin, eind } = relatie;
    const [counts] = holdingOn(
      relaties.filter((one) => one.woonplaats === woonplaats),
      day,
    );
    return {
      ...{ woonplaats, gemeente: gemeenteOf(gemeente), begin: dayText(begin) },
      ...{ eind: eind === noEind ? null : dayText(eind), isCurrent: relatie === counts, from },
    };
  });
}

function textOf(one: AnyVoorkomen): string {
  if (one.kind === 'WPL') return one.naam;
  if (one.kind === 'OPR') return `${one.naam}, woonplaats ${one.woonplaats}`;
  if (one.kind !== 'NUM') return objectText(one);
  const { huisnummer, huisletter, huisnummertoevoeging, postcode, openbareRuimte, woonplaats } = one;
  const address = [postcode ?? 'no postcode', huisnummer, huisletter + huisnummertoevoeging].join(' ').trimEnd();
  return `${address}, openbare ruimte ${openbareRuimte}${woonplaats === null ? '' : `, woonplaats ${woonplaats}`}`;
}

function objectText({
  status,
  oppervlakte,
  gebruiksdoelen = [],
  locatie,
  hoofdadres,
  nevenadressen,
}: AdresseerbaarVoorkomen): string {
  const use = oppervlakte === undefined ? [] : [`${oppervlakte} m2`, gebruiksdoelen.join(' ')];
  const others = nevenadressen.length > 0 ? [`nevenadressen ${nevenadressen.join(' ')}`] : [];
  return [status, ...use, `at ${locatie.x} ${locatie.y}`, `hoofdadres ${hoofdadres}`, ...others].join(', ');
}

function spanText({ begin, eind }: AnyVoorkomen): string {
  return eind === noEind ? `from ${dayText(begin)}` : `${dayText(begin)} to ${dayText(eind)}`;
}

function changeOf(
  { name, vanaf, tot }: MutationFile,
  { kind, identificatie, volgnummer, was, wordt }: Mutation,
): ExplainedChange {
  const said = (one: AnyVoorkomen | null) => one && `${textOf(one)} (${spanText(one)})`;
  return { delivery: name, vanaf, tot, kind, identificatie, volgnummer, before: said(was), after: said(wordt) };
}

function explained(
  one: AnyVoorkomen,
  { peildatum, extract }: ManifestEntry,
  changes: readonly ExplainedChange[],
  all: readonly AnyVoorkomen[],
): ExplainedVoorkomen {
  const { kind, identificatie, volgnummer, begin, eind } = one;
  const change = changes.findLast(
    (change) => change.identificatie === identificatie && change.volgnummer === volgnummer,
  );
  const holding = holdingOn(
    all.filter((other) => objectKey(other) === objectKey(one)),
    dayOf(peildatum),
  );
  const [counts] = holding;
  const isLost = counts !== undefined && counts !== one && holding.includes(one);
  const why = counts && (counts.begin > begin ? 'began later' : 'has the higher number');
  return {
    kind,
    identificatie,
    volgnummer,
    begin: dayText(begin),
    eind: eind === noEind ? null : dayText(eind),
    gives: textOf(one),
    isCurrent: one === counts,
    ...(isLost && { lostTo: `voorkomen ${counts.volgnummer}, which ${why}` }),
    from: change ? change.delivery : `the extract of ${extract?.peildatum ?? peildatum}`,
  };
}
