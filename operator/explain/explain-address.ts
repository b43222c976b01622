import { addressKey } from '../../core/addresses/address-key.ts';
import { type Gemeente, gemeenteOf } from '../../core/gemeenten.ts';
import { relatieFile } from '../../loader/bag/gemeente-relaties.ts';
import { readMutationDelivery } from '../../loader/bag/mutation-delivery.ts';
import type { Mutation } from '../../loader/bag/mutations.ts';
import {
  type AdresseerbaarVoorkomen,
  type AnyVoorkomen,
  dayOf,
  dayText,
  type NumVoorkomen,
  noEind,
} from '../../loader/bag/voorkomen.ts';
import { adresObjectLayout, numKeysOf, parseAdresObjectLine } from '../../loader/dataset/adres-objects.ts';
import { unpackSegment } from '../../loader/dataset/line-segment.ts';
import { keyOf, parseLine } from '../../loader/dataset/lines.ts';
import { hasObjecten, type ManifestEntry, type MutationFile } from '../../loader/dataset/load.ts';
import { nameWithGemeente } from '../../loader/dataset/load-counts.ts';
import { namedObjects } from '../../loader/dataset/named-objects.ts';
import { adresObjectLayer, numLayer, ObjectSegmentReader } from '../../loader/dataset/object-segment.ts';
import { elsewhere, type ObjectLine, parseObjectLine, partOf, withoutPostcode } from '../../loader/dataset/objects.ts';
import { occurrencesIn, relatiesIn } from '../../loader/dataset/reference-file.ts';
import { segmentOf } from '../../loader/dataset/stored-form.ts';
import { readManifest } from '../../loader/steps/manifest.ts';
import { UnknownSnapshotError } from '../../loader/steps/stored-loads.ts';
import { findUnpacked, paths, type Storage } from '../../loader/storage/storage.ts';
import { bufferAccess } from '../../loader/zip/random-access.ts';

/** Names an occurrence of an object. */
export type NamedVoorkomen = Pick<Mutation, 'kind' | 'identificatie' | 'volgnummer'>;

/** One occurrence of a nummeraanduiding, openbare ruimte, woonplaats or adresseerbaar object, in words. Dates are `2026-01-08`. */
export type ExplainedVoorkomen = NamedVoorkomen & {
  begin: string;
  eind: string | null;
  /** The address, street, place or object that it gives. */
  gives: string;
  /** Whether it counts on the date of the live dataset. */
  isCurrent: boolean;
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
  /** The last date on which that changed, and why; `null` where it is as the extract has it. */
  since: { date: string; because: string } | null;
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
    throw new UnknownSnapshotError('Nothing was loaded yet, so there is no address to explain. Run "load run".');
  const notes: string[] = [];
  const days = daysBehind(published, history);
  const deliveries = await readDeliveries(storage, days, notes, hasObjecten(published.snapshot));
  const past = await earlierOf(storage, published, history, key);
  const ids = new Set(past.ids);
  for (const num of numsIn(deliveries)) if (numKey(num) === key) ids.add(num.identificatie);
  const nums = await occurrencesOf(storage, published, ids, key);
  const references = await referencesOf(storage, published, deliveries, ids, nums);
  const objecten = await objectenOf(storage, published, ids, nums);
  // An object that has gone, or that has other addresses now, had this one before a delivery.
  const had = deliveries.flatMap(({ mutations }) =>
    mutations.filter(({ was, wordt }) => [...numKeysOf(was), ...numKeysOf(wordt)].some((num) => ids.has(num.slice(4)))),
  );
  const named = new Set([...ids, ...[...references, ...objecten, ...had].map(({ identificatie }) => identificatie)]);
  const changes = deliveries.flatMap(({ day, mutations }) =>
    mutations.filter(({ identificatie }) => named.has(identificatie)).map((mutation) => changeOf(day, mutation)),
  );
  const voorkomens = [...nums, ...references, ...objecten].map((one) => explained(one, published, changes));
  const places = await placesIn(storage, published, key);
  const relaties = await relatiesOf(storage, published, deliveries, references);
  return {
    key,
    peildatum: published.peildatum,
    load: published.load,
    places,
    since: lastChange(published, places.length > 0, { voorkomens, relaties, changes }),
    extract: published.extract && {
      peildatum: published.extract.peildatum,
      location: published.source?.location ?? '',
    },
    voorkomens,
    relaties,
    changes,
    earlier: past.earlier.filter((one) => one.places.join() !== places.join()),
    notes,
  };
}

/** The deliveries between the extract and the live dataset. */
function daysBehind({ replayBase, since = [] }: ManifestEntry, history: readonly ManifestEntry[]): MutationFile[] {
  const made = history.find(({ snapshot }) => snapshot.id === replayBase?.snapshot.id);
  return [...(made?.days ?? []), ...since];
}

type Delivery = { day: MutationFile; mutations: Mutation[]; hasRelaties: boolean };

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
      const { mutations, relaties } = await readMutationDelivery(bufferAccess(bytes), day.name, { objecten });
      // Their strings retain the XML.
      found.push({ day, mutations: structuredClone(mutations), hasRelaties: relaties !== null });
    } else notes.push(`${day.name} is no longer kept, so what it changed is not shown`);
  }
  return found;
}

/** The nummeraanduidingen as deliveries found them and left them. */
function numsIn(deliveries: readonly Delivery[]): NumVoorkomen[] {
  const all = deliveries.flatMap(({ mutations }) => mutations.flatMap(({ was, wordt }) => [was, wordt]));
  return all.filter((one) => one?.kind === 'NUM');
}

function numKey({ postcode, huisnummer, huisletter, huisnummertoevoeging }: NumVoorkomen): string {
  return addressKey({ postcode: postcode ?? '', huisnummer, toevoeging: huisletter + huisnummertoevoeging });
}

/** The objects of one segment of a snapshot; `null` where it has none. */
function objectsIn(storage: Storage, { snapshot }: ManifestEntry, segment: string) {
  const key = paths.snapshotObjects(snapshot.id, segment);
  return findUnpacked(storage, key, (bytes) => new ObjectSegmentReader(bytes, numLayer));
}

async function placesIn(storage: Storage, { snapshot }: ManifestEntry, key: string): Promise<string[]> {
  const lines = await findUnpacked(storage, paths.snapshot(snapshot.id, segmentOf(key)), unpackSegment);
  const line = lines?.find((one) => keyOf(one) === key);
  return line ? parseLine(line).places.map(nameWithGemeente) : [];
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
    const objects = await objectsIn(storage, entry, segmentOf(key));
    if (!objects) continue;
    for (const line of objects.lines(key.slice(0, 3))) {
      if (keyOf(withoutMark(line)) === key) ids.add(parseObjectLine(line).identificatie);
    }
    const { peildatum, load } = entry;
    if (entry !== published) earlier.push({ peildatum, load, places: await placesIn(storage, entry, key) });
  }
  return { ids, earlier };
}

/** Every stored occurrence of some objects: usually in the segment of the key, else in all until each is found. */
async function occurrencesOf(storage: Storage, entry: ManifestEntry, ids: ReadonlySet<string>, key: string) {
  const found = new Map<string, NumVoorkomen>();
  const missing = new Set(ids);
  const named = namedObjects('identificatie', ids);
  for (const segment of new Set([segmentOf(key), ...entry.snapshot.objects])) {
    if (missing.size === 0) break;
    const objects = await objectsIn(storage, entry, segment);
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
  { snapshot }: ManifestEntry,
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

/** The streets and places that these occurrences name, now or before a delivery. */
async function referencesOf(
  storage: Storage,
  { snapshot }: ManifestEntry,
  deliveries: readonly Delivery[],
  ids: ReadonlySet<string>,
  nums: readonly NumVoorkomen[],
): Promise<AnyVoorkomen[]> {
  const streets = new Set(nums.map(({ openbareRuimte }) => openbareRuimte));
  const places = new Set(nums.flatMap(({ woonplaats }) => woonplaats ?? []));
  for (const num of numsIn(deliveries)) if (ids.has(num.identificatie)) streets.add(num.openbareRuimte);
  const path = paths.snapshotReference(snapshot.id);
  const all = (await findUnpacked(storage, path, (bytes) => [...occurrencesIn(bytes)].flat())) ?? [];
  const named = all.filter((one) => one.kind === 'OPR' && streets.has(one.identificatie));
  for (const one of named) if (one.kind === 'OPR') places.add(one.woonplaats);
  return [...named, ...all.filter((one) => one.kind === 'WPL' && places.has(one.identificatie))];
}

/** The relations of the current places, all of which the last delivery that has a file of them says. */
async function relatiesOf(
  storage: Storage,
  { snapshot, peildatum, extract }: ManifestEntry,
  deliveries: readonly Delivery[],
  references: readonly AnyVoorkomen[],
): Promise<ExplainedRelatie[]> {
  const day = dayOf(peildatum);
  const places = new Set(references.flatMap(({ kind, identificatie }) => (kind === 'WPL' ? identificatie : [])));
  const delivery = deliveries.findLast(({ hasRelaties }) => hasRelaties)?.day.name;
  const from = `${relatieFile} of ${delivery ?? `the extract of ${extract?.peildatum ?? peildatum}`}`;
  const all = (await findUnpacked(storage, paths.snapshotReference(snapshot.id), relatiesIn)) ?? [];
  return all
    .filter(({ woonplaats }) => places.has(woonplaats))
    .map(({ woonplaats, gemeente, begin, eind }) => ({
      ...{ woonplaats, gemeente: gemeenteOf(gemeente), begin: dayText(begin) },
      ...{ eind: eind === noEind ? null : dayText(eind), isCurrent: begin <= day && eind > day, from },
    }));
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
): ExplainedVoorkomen {
  const { kind, identificatie, volgnummer, begin, eind } = one;
  const day = dayOf(peildatum);
  const change = changes.findLast(
    (change) => change.identificatie === identificatie && change.volgnummer === volgnummer,
  );
  return {
    kind,
    identificatie,
    volgnummer,
    begin: dayText(begin),
    eind: eind === noEind ? null : dayText(eind),
    gives: textOf(one),
    isCurrent: begin <= day && eind > day,
    from: change ? change.delivery : `the extract of ${extract?.peildatum ?? peildatum}`,
  };
}

/**
 * The last of the dates after the extract on which a delivery changed one of the objects, or one of them began or
 * ended. Of an address that is gone its nummeraanduidingen alone: its street may live on.
 */
function lastChange(
  { peildatum, extract }: ManifestEntry,
  isThere: boolean,
  { voorkomens, relaties, changes }: Pick<AddressExplanation, 'voorkomens' | 'relaties' | 'changes'>,
): AddressExplanation['since'] {
  const start = extract?.peildatum ?? peildatum;
  const counts = ({ kind }: Pick<ExplainedChange, 'kind'>) => isThere || kind === 'NUM';
  const dates = [
    ...voorkomens
      .filter(counts)
      .flatMap(({ kind, identificatie, volgnummer, begin, eind }) =>
        [begin, eind ?? ''].map((date) => ({ date, because: `voorkomen ${volgnummer} of ${kind} ${identificatie}` })),
      ),
    ...relaties.map(({ begin, woonplaats, gemeente }) => ({
      date: isThere ? begin : '',
      because: `the relation of woonplaats ${woonplaats} to gemeente ${gemeente.code}`,
    })),
    ...changes.filter(counts).map(({ tot, delivery }) => ({ date: tot, because: delivery })),
  ];
  const after = dates.filter(({ date }) => date > start && date <= peildatum);
  return after.toSorted((one, other) => one.date.localeCompare(other.date)).at(-1) ?? null;
}
