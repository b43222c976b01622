import { type Gemeente, gemeenteOf } from '../../core/gemeenten.ts';
import { keyOf, parseLine } from '../../loader/addresses/lines.ts';
import { relatieFile } from '../../loader/bag/gemeente-relaties.ts';
import type { Mutation } from '../../loader/bag/mutations.ts';
import {
  type AdresseerbaarVoorkomen,
  type AnyVoorkomen,
  dayOf,
  dayText,
  type GemeenteRelatie,
  type NumVoorkomen,
  noEind,
  type Span,
} from '../../loader/bag/voorkomen.ts';
import { hasObjecten, type ManifestEntry, type MutationFile, type Snapshot } from '../../loader/dataset/load.ts';
import { LoadError } from '../../loader/load-error.ts';
import { numKeysOf, objectKey } from '../../loader/register/apply-mutations.ts';
import { isRecordKind, keyOfNum, recordName } from '../../loader/register/record.ts';
import { readCopy } from '../../loader/storage/mutation-deliveries.ts';
import { paths, type Storage } from '../../loader/storage/storage.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import { numsNaming, recordsNamed, snapshotLines, streetsAndPlaces } from '../../loader/storage/stored-register.ts';
import { nameWithGemeente } from '../../loader/verdict/load-counts.ts';

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
  /** Its source: a delivery of mutations, or the extract. */
  from: string;
};

/** A relation of one of the places to a gemeente, now or later. Dates are `2026-01-08`. */
export type ExplainedRelatie = Pick<ExplainedVoorkomen, 'begin' | 'eind' | 'isCurrent' | 'from'> & {
  woonplaats: string;
  gemeente: Gemeente;
};

/** A delivery's change to one object. */
export type ExplainedChange = NamedVoorkomen &
  Pick<MutationFile, 'vanaf' | 'tot'> & { delivery: string; before: string | null; after: string | null };

/** Explains an address. Plain JSON. */
export type AddressExplanation = {
  key: string;
  /** The live dataset. */
  peildatum: string;
  load: string;
  /** The places that lookups return, as `straat, woonplaats (gemeente 0363)`; empty without an address. */
  places: string[];
  /**
   * The date since when the register has this state, and the voorkomen that caused it: the last counting one to begin,
   * or the last to end for an address that is gone. `null` if no kept data tells.
   */
  since: { date: string; because: string } | null;
  /** The full extract behind the dataset. */
  extract: { peildatum: string; location: string } | null;
  voorkomens: ExplainedVoorkomen[];
  relaties: ExplainedRelatie[];
  changes: ExplainedChange[];
  /** The places of the address in kept snapshots, if they differed; the newest first. */
  earlier: { peildatum: string; load: string; places: string[] }[];
  /** Notes on unreadable data. */
  notes: string[];
};

/**
 * Explains the answer of lookups for an address, present or gone: the voorkomens behind it, their sources and their
 * changes. Reads only the storage: the records of the live snapshot, the deliveries since its extract, and the lines of
 * the snapshots that are kept.
 * @throws UnknownSnapshotError if nothing is live
 */
export async function explainAddress(storage: Storage, key: string): Promise<AddressExplanation> {
  const { published, history } = await readManifest(storage);
  if (!published)
    throw new LoadError(
      'UnknownSnapshotError',
      'Nothing was loaded yet, so there is no address to explain. Run "load run".',
    );
  const notes: string[] = [];
  const withObjecten = hasObjecten(published.snapshot);
  const deliveries = await readDeliveries(storage, daysBehind(published, history), notes, withObjecten);
  const live = await placesOfKey(storage, published, key);
  const earlier = await earlierOf(storage, published, history, key);
  const isOfKey = (one: AnyVoorkomen | null) => one?.kind === 'NUM' && keyOfNum(one) === key;
  const mutations = deliveries.flatMap((delivery) => delivery.mutations);
  const nums = new Set([
    ...[live, ...earlier].flatMap(({ nums }) => nums),
    ...mutations.filter(({ was, wordt }) => isOfKey(was) || isOfKey(wordt)).map(({ identificatie }) => identificatie),
  ]);
  // A voorkomen with the key may have lost to another one ever since.
  if (nums.size === 0) for (const num of await numsNaming(storage, published.snapshot, key)) nums.add(num);
  const names = namesBehind(nums, live.objecten, mutations);
  const records = await recordsNamed(storage, published.snapshot, names);
  const behind = [...records, ...(await referenceBehind(storage, published.snapshot, records, mutations, nums))];
  const ids = new Set([
    ...nums,
    ...behind.map(({ identificatie }) => identificatie),
    ...Array.from(names, (name) => name.slice(1)),
  ]);
  const changes = deliveries.flatMap(({ day, mutations }) =>
    mutations.filter(({ identificatie }) => ids.has(identificatie)).map((mutation) => changeOf(day, mutation)),
  );
  const voorkomens = behind.map((one) => explained(one, published, changes, behind));
  const relaties = await relatiesBehind(storage, published, deliveries, behind);
  return {
    key,
    peildatum: published.peildatum,
    load: published.load,
    places: live.places,
    since:
      live.places.length > 0
        ? lastToBegin(voorkomens, relaties)
        : lastToEnd(
            mutations.flatMap(({ wordt }) => (isOfKey(wordt) ? [wordt as NumVoorkomen] : [])),
            published,
          ),
    extract: published.extract && {
      peildatum: published.extract.peildatum,
      location: published.source?.location ?? '',
    },
    voorkomens,
    relaties,
    changes,
    earlier: earlier
      .filter(({ places }) => places.join() !== live.places.join())
      .map(({ peildatum, load, places }) => ({ peildatum, load, places })),
    notes,
  };
}

/** The counting voorkomen, or the relation, that began last. */
function lastToBegin(
  voorkomens: readonly ExplainedVoorkomen[],
  relaties: readonly ExplainedRelatie[],
): AddressExplanation['since'] {
  const found = [
    ...voorkomens.map((one) => ({ ...one, what: `voorkomen ${one.volgnummer} of ${one.kind} ${one.identificatie}` })),
    ...relaties.map((one) => ({
      ...one,
      what: `the relation of woonplaats ${one.woonplaats} to gemeente ${one.gemeente.code}`,
    })),
  ].filter(({ isCurrent }) => isCurrent);
  const [last] = found.sort((a, b) => (a.begin < b.begin ? 1 : a.begin > b.begin ? -1 : 0));
  return last ? { date: last.begin, because: `${last.what}, from ${last.from}` } : null;
}

/** Which voorkomen of an address that is gone ended last. */
function lastToEnd(nums: readonly NumVoorkomen[], { peildatum }: ManifestEntry): AddressExplanation['since'] {
  const [last] = nums.filter(({ eind }) => eind <= dayOf(peildatum)).sort((a, b) => b.eind - a.eind);
  return last
    ? { date: dayText(last.eind), because: `voorkomen ${last.volgnummer} of NUM ${last.identificatie}, which ended` }
    : null;
}

/** The deliveries between the extract and the live dataset. */
function daysBehind({ replayBase, since = [] }: ManifestEntry, history: readonly ManifestEntry[]): MutationFile[] {
  const made = history.findLast(({ snapshot }) => snapshot.id === replayBase?.snapshot.id)?.days ?? [];
  return [...made, ...since];
}

/** The changes of a delivery; `relaties` are all that hold after it, or `null` if it has none. */
type Delivery = { day: MutationFile; mutations: readonly Mutation[]; relaties: readonly GemeenteRelatie[] | null };

async function readDeliveries(
  storage: Storage,
  days: readonly MutationFile[],
  notes: string[],
  objecten: boolean,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (const day of days) {
    if (await storage.open(day.key)) {
      const { mutations, relaties } = (await readCopy(storage, day, { objecten })).contents();
      found.push({ day, mutations, relaties });
    } else notes.push(`${day.name} is no longer kept, so its changes are not shown`);
  }
  return found;
}

/** The places under a key in a snapshot, in words and by the ids of its nummeraanduidingen and objects. */
async function placesOfKey(storage: Storage, { snapshot }: ManifestEntry, key: string) {
  const all = await snapshotLines(storage, snapshot, key.slice(0, 2));
  const places = all.filter((line) => keyOf(line) === key).flatMap((line) => parseLine(line).places);
  return {
    places: places.map(nameWithGemeente),
    nums: places.flatMap(({ nummeraanduidingen = [] }) => nummeraanduidingen),
    objecten: places.flatMap(({ objecten = [] }) => objecten.map(({ identificatie }) => identificatie)),
  };
}

/** The places under the key in kept snapshots, except the live one. */
async function earlierOf(storage: Storage, published: ManifestEntry, history: readonly ManifestEntry[], key: string) {
  const found: (AddressExplanation['earlier'][number] & { nums: string[] })[] = [];
  const seen = new Set([published.snapshot.id]);
  for (const entry of history) {
    const { id } = entry.snapshot;
    if (seen.has(id)) continue;
    seen.add(id);
    if (!(await storage.open(paths.snapshotReference(id)))) continue;
    const { peildatum, load } = entry;
    const { places, nums } = await placesOfKey(storage, entry, key);
    found.push({ peildatum, load, places, nums });
  }
  return found;
}

/**
 * The records that the explanation is about: the nummeraanduidingen, and each object that names one, now or before a
 * delivery.
 */
function namesBehind(
  nums: ReadonlySet<string>,
  objecten: readonly string[],
  mutations: readonly Mutation[],
): Set<string> {
  const named = mutations.filter(({ was, wordt }) =>
    [...numKeysOf(was), ...numKeysOf(wordt)].some((num) => nums.has(num.slice(4))),
  );
  return new Set([
    ...Array.from(nums, (num) => recordName('NUM', num)),
    ...objecten.flatMap((id) => (['VBO', 'LIG', 'STA'] as const).map((kind) => recordName(kind, id))),
    ...named.flatMap(({ kind, identificatie }) => (isRecordKind(kind) ? [recordName(kind, identificatie)] : [])),
  ]);
}

/** The occurrences of the streets and places that nummeraanduidingen name, now or before a delivery. */
async function referenceBehind(
  storage: Storage,
  snapshot: Snapshot,
  records: readonly AnyVoorkomen[],
  mutations: readonly Mutation[],
  ids: ReadonlySet<string>,
): Promise<AnyVoorkomen[]> {
  const changed = mutations.flatMap(({ was, wordt }) => [was, wordt]).filter((one) => one !== null);
  const nums = [...records, ...changed].flatMap((one) =>
    one.kind === 'NUM' && ids.has(one.identificatie) ? [one] : [],
  );
  const streets = new Set(nums.map(({ openbareRuimte }) => openbareRuimte));
  const { occurrences: all } = await streetsAndPlaces(storage, snapshot);
  const ofStreets = all.filter(({ kind, identificatie }) => kind === 'OPR' && streets.has(identificatie));
  const places = new Set([
    ...nums.flatMap(({ woonplaats }) => woonplaats ?? []),
    ...[...ofStreets, ...changed].flatMap((one) =>
      one.kind === 'OPR' && streets.has(one.identificatie) ? [one.woonplaats] : [],
    ),
  ]);
  return [...ofStreets, ...all.filter(({ kind, identificatie }) => kind === 'WPL' && places.has(identificatie))];
}

/** The occurrences of one object that hold on a day: the first counts, and the others lose to it. */
function holdingOn<T extends Omit<Span, 'volgnummer'> & { volgnummer?: number }>(
  occurrences: Iterable<T>,
  day: number,
): T[] {
  const holding = [...occurrences].filter(({ begin, eind }) => begin <= day && eind > day);
  return holding.sort((a, b) => b.begin - a.begin || (b.volgnummer ?? 0) - (a.volgnummer ?? 0));
}

/** The relations of the places behind a key, all from the last delivery with a file of relations. */
async function relatiesBehind(
  storage: Storage,
  { peildatum, extract, snapshot }: ManifestEntry,
  deliveries: readonly Delivery[],
  behind: readonly AnyVoorkomen[],
): Promise<ExplainedRelatie[]> {
  const { relaties: all } = await streetsAndPlaces(storage, snapshot);
  const places = new Set(behind.filter(({ kind }) => kind === 'WPL').map(({ identificatie }) => identificatie));
  const relaties = all.filter(({ woonplaats }) => places.has(woonplaats));
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
