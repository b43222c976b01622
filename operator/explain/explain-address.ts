import { type Gemeente, gemeenteOf } from '../../core/gemeenten.ts';
import { keyOf, parseLine } from '../../loader/addresses/lines.ts';
import { relatieFile } from '../../loader/bag/gemeente-relaties.ts';
import {
  type AdresseerbaarVoorkomen,
  type AnyVoorkomen,
  dayOf,
  dayText,
  type GemeenteRelatie,
  noEind,
  type Span,
} from '../../loader/bag/voorkomen.ts';
import {
  hasObjecten,
  type ManifestEntry,
  type MutationFile,
  type Snapshot,
} from '../../loader/dataset/load.ts';
import { nameWithGemeente } from '../../loader/guard/load-counts.ts';
import { LoadError } from '../../loader/load-error.ts';
import { numKeysOf, objectKey } from '../../loader/mutations/apply-mutations.ts';
import { readCopy } from '../../loader/mutations/delivery-copies.ts';
import type { Mutation } from '../../loader/mutations/read-mutations.ts';
import { isRecordKind, keyOfNum, recordName } from '../../loader/register/record.ts';
import { paths, type Storage } from '../../loader/storage/storage.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import {
  numsNaming,
  recordsNamed,
  snapshotLines,
  streetsAndPlaces,
} from '../../loader/storage/stored-register.ts';

export type NamedVoorkomen = Pick<Mutation, 'kind' | 'identificatie' | 'volgnummer'>;

/**
 * One occurrence of a nummeraanduiding, openbare ruimte, woonplaats or adresseerbaar object, in
 * words. Dates are `2026-01-08`.
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
export type ExplainedRelatie = Pick<
  ExplainedVoorkomen,
  'begin' | 'eind' | 'isCurrent' | 'lostTo' | 'from'
> & {
  woonplaats: string;
  gemeente: Gemeente;
};

export type ExplainedChange = NamedVoorkomen &
  Pick<MutationFile, 'vanaf' | 'tot'> & {
    delivery: string;
    before: string | null;
    after: string | null;
  };

/** Explains an address. Plain JSON. */
export type AddressExplanation = {
  key: string;
  /** The live dataset. */
  peildatum: string;
  load: string;
  /**
   * The places that lookups return, as `straat, woonplaats (gemeente 0363)`; empty without an
   * address.
   */
  places: string[];
  /**
   * The date since when the register has this state, and the voorkomen that caused it: the last
   * counting one to begin, or the last to end for an address that is gone. `null` if no kept data
   * tells.
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
 * Explains the answer of lookups for an address, present or gone: the voorkomens behind it, their
 * sources and their changes. Reads only the storage: the records of the live snapshot, the
 * deliveries since its extract, and the lines of the snapshots that are kept.
 * @throws UnknownSnapshotError if nothing is live
 */
export async function explainAddress(storage: Storage, key: string): Promise<AddressExplanation> {
  const { published, history } = await readManifest(storage);
  const nothing = 'Nothing was loaded yet, so there is no address to explain. Run "load run".';
  if (!published) throw new LoadError('UnknownSnapshotError', nothing);
  const { peildatum, load, snapshot, source } = published;
  const extract = published.extract && {
    peildatum: published.extract.peildatum,
    location: source?.location ?? '',
  };
  const notes: string[] = [];
  const days = daysBehind(published, history);
  const deliveries = await readDeliveries(storage, days, notes, hasObjecten(snapshot));
  const live = await placesOfKey(storage, published, key);
  const earlier = await earlierOf(storage, published, history, key);
  const ofKey = numsOfKey(deliveries, key);
  const nums = new Set([...[live, ...earlier].flatMap(({ nums }) => nums), ...ofKey.map(idOf)]);
  // A voorkomen with the key may have lost to another one ever since.
  if (nums.size === 0) for (const num of await numsNaming(storage, snapshot, key)) nums.add(num);

  const mutations = deliveries.flatMap((delivery) => delivery.mutations);
  const names = namesBehind(nums, live.objecten, mutations);
  const records = await recordsNamed(storage, snapshot, names);
  const known = [...records, ...changedIn(mutations)];
  const reference = await referenceBehind(storage, snapshot, known, nums);
  const behind = [...records, ...reference.voorkomens];
  const ids = new Set([...nums, ...behind.map(idOf), ...names.map((name) => name.slice(1))]);
  const changes = deliveries.flatMap(({ day, mutations }) =>
    mutations
      .filter((mutation) => ids.has(idOf(mutation)))
      .map((mutation) => changeOf(day, mutation)),
  );
  const day = dayOf(peildatum);
  const ofExtract = `the extract of ${extract?.peildatum ?? peildatum}`;
  const voorkomens = explainedVoorkomens(behind, day, changes, ofExtract);
  const relaties = explainedRelaties(reference.relaties, day, deliveries, ofExtract);
  const began = () => lastToBegin([...voorkomens, ...relaties]);
  return {
    key,
    peildatum,
    load,
    places: live.places,
    since: live.places.length > 0 ? began() : lastToEnd(ofKey, day),
    extract,
    voorkomens,
    relaties,
    changes,
    earlier: earlier
      .filter(({ places }) => places.join() !== live.places.join())
      .map(({ nums: _, ...shown }) => shown),
    notes,
  };
}

/** The voorkomens before and after changes. */
const changedIn = (mutations: readonly Mutation[]): AnyVoorkomen[] =>
  mutations.flatMap(({ was, wordt }) => [was, wordt].filter((voorkomen) => voorkomen !== null));

/** The nummeraanduidingen of deliveries that have the key, now or before. */
function numsOfKey(deliveries: readonly Delivery[], key: string): AnyVoorkomen[] {
  const changed = changedIn(deliveries.flatMap(({ mutations }) => mutations));
  // A voorkomen that a correction takes away does not end: it counts up to that day.
  const corrected = deliveries.flatMap(({ day: { tot }, mutations }) =>
    mutations.flatMap(({ was, wordt }) => (was && !wordt ? [{ ...was, eind: dayOf(tot) }] : [])),
  );
  return [...changed, ...corrected].filter(
    (voorkomen) => voorkomen.kind === 'NUM' && keyOfNum(voorkomen) === key,
  );
}

/** @param ofExtract the source of what no delivery changed */
function explainedVoorkomens(
  voorkomens: readonly AnyVoorkomen[],
  day: number,
  changes: readonly ExplainedChange[],
  ofExtract: string,
): ExplainedVoorkomen[] {
  return voorkomens.map((voorkomen) => {
    const { kind, identificatie, volgnummer } = voorkomen;
    const ofObject = voorkomens.filter((other) => objectKey(other) === objectKey(voorkomen));
    const change = changes.findLast(
      (change) => change.identificatie === identificatie && change.volgnummer === volgnummer,
    );
    return {
      kind,
      identificatie,
      volgnummer,
      gives: textOf(voorkomen),
      ...validityOf(voorkomen, ofObject, day),
      from: change?.delivery ?? ofExtract,
    };
  });
}

/** The relations of places. A delivery that has relations has them all. */
function explainedRelaties(
  relaties: readonly GemeenteRelatie[],
  day: number,
  deliveries: readonly Delivery[],
  ofExtract: string,
): ExplainedRelatie[] {
  const last = deliveries.findLast((delivery) => delivery.relaties !== null)?.day.name;
  return relaties.map((relatie) => {
    const { woonplaats, gemeente } = relatie;
    const ofPlace = relaties.filter((other) => other.woonplaats === woonplaats);
    return {
      woonplaats,
      gemeente: gemeenteOf(gemeente),
      ...validityOf(relatie, ofPlace, day),
      from: `${relatieFile} of ${last ?? ofExtract}`,
    };
  });
}

const idOf = ({ identificatie }: { identificatie: string }) => identificatie;

/** The counting voorkomen, or the relation, that began last. */
function lastToBegin(
  all: readonly (ExplainedVoorkomen | ExplainedRelatie)[],
): AddressExplanation['since'] {
  const [last] = all
    .filter(({ isCurrent }) => isCurrent)
    .sort((a, b) => b.begin.localeCompare(a.begin));
  if (!last) return null;
  const what =
    'woonplaats' in last
      ? `the relation of woonplaats ${last.woonplaats} to gemeente ${last.gemeente.code}`
      : `voorkomen ${last.volgnummer} of ${last.kind} ${last.identificatie}`;
  return { date: last.begin, because: `${what}, from ${last.from}` };
}

/** Which voorkomen of an address that is gone ended last. */
function lastToEnd(nums: readonly AnyVoorkomen[], day: number): AddressExplanation['since'] {
  const [last] = nums.filter(({ eind }) => eind <= day).sort((a, b) => b.eind - a.eind);
  if (!last) return null;
  const { eind, volgnummer, identificatie } = last;
  return {
    date: dayText(eind),
    because: `voorkomen ${volgnummer} of NUM ${identificatie}, which ended`,
  };
}

/** The deliveries between the extract and the live dataset. */
function daysBehind(
  { replayBase, since = [] }: ManifestEntry,
  history: readonly ManifestEntry[],
): MutationFile[] {
  const made =
    history.findLast(({ snapshot }) => snapshot.id === replayBase?.snapshot.id)?.days ?? [];
  return [...made, ...since];
}

/** The changes of a delivery; `relaties` are all that hold after it, or `null` if it has none. */
type Delivery = {
  day: MutationFile;
  mutations: readonly Mutation[];
  relaties: readonly GemeenteRelatie[] | null;
};

async function readDeliveries(
  storage: Storage,
  days: readonly MutationFile[],
  notes: string[],
  objecten: boolean,
) {
  const found: Delivery[] = [];
  for (const day of days) {
    if (await storage.open(day.key)) {
      found.push({ day, ...(await readCopy(storage, day, { objecten })).contents() });
    } else {
      notes.push(`${day.name} is no longer kept, so its changes are not shown`);
    }
  }
  return found;
}

/**
 * The places under a key in a snapshot, in words and by the ids of its nummeraanduidingen and
 * objects.
 */
async function placesOfKey(storage: Storage, { snapshot }: ManifestEntry, key: string) {
  const all = await snapshotLines(storage, snapshot, key.slice(0, 2));
  const places = all
    .filter((line) => keyOf(line) === key)
    .flatMap((line) => parseLine(line).places);
  return {
    places: places.map(nameWithGemeente),
    nums: places.flatMap(({ nummeraanduidingen = [] }) => nummeraanduidingen),
    objecten: places.flatMap(({ objecten = [] }) =>
      objecten.map(({ identificatie }) => identificatie),
    ),
  };
}

/** The places under the key in kept snapshots, except the live one. */
async function earlierOf(
  storage: Storage,
  published: ManifestEntry,
  history: readonly ManifestEntry[],
  key: string,
) {
  const found: (AddressExplanation['earlier'][number] & { nums: string[] })[] = [];
  const bySnapshot = Map.groupBy(history, ({ snapshot }) => snapshot.id);
  bySnapshot.delete(published.snapshot.id);
  for (const [id, [entry]] of bySnapshot) {
    if (!entry || !(await storage.open(paths.snapshotReference(id)))) continue;
    const { places, nums } = await placesOfKey(storage, entry, key);
    found.push({ peildatum: entry.peildatum, load: entry.load, places, nums });
  }
  return found;
}

/** The names of nummeraanduidingen, and of objects that name them, now or before a delivery. */
function namesBehind(
  nums: ReadonlySet<string>,
  objecten: readonly string[],
  mutations: readonly Mutation[],
): string[] {
  const naming = mutations.filter(({ was, wordt }) =>
    [...numKeysOf(was), ...numKeysOf(wordt)].some((num) => nums.has(num.slice(4))),
  );
  const names = [
    ...Array.from(nums, (num) => recordName('NUM', num)),
    ...objecten.flatMap((id) =>
      (['VBO', 'LIG', 'STA'] as const).map((kind) => recordName(kind, id)),
    ),
    ...naming.flatMap(({ kind, identificatie }) =>
      isRecordKind(kind) ? [recordName(kind, identificatie)] : [],
    ),
  ];
  return [...new Set(names)];
}

/**
 * The streets and places that nummeraanduidingen name, now or before, and the relations of the
 * places.
 */
async function referenceBehind(
  storage: Storage,
  snapshot: Snapshot,
  known: readonly AnyVoorkomen[],
  ids: ReadonlySet<string>,
): Promise<{ voorkomens: AnyVoorkomen[]; relaties: GemeenteRelatie[] }> {
  const { occurrences: all, relaties } = await streetsAndPlaces(storage, snapshot);
  const nums = known.flatMap((voorkomen) =>
    voorkomen.kind === 'NUM' && ids.has(voorkomen.identificatie) ? [voorkomen] : [],
  );
  const streets = new Set(nums.map(({ openbareRuimte }) => openbareRuimte));
  const isOfStreets = (voorkomen: AnyVoorkomen) =>
    voorkomen.kind === 'OPR' && streets.has(voorkomen.identificatie);
  const ofStreets = all.filter(isOfStreets);
  const named = [...nums, ...ofStreets, ...known.filter(isOfStreets)];
  const places = new Set(
    named.flatMap((voorkomen) => ('woonplaats' in voorkomen ? (voorkomen.woonplaats ?? []) : [])),
  );
  return {
    voorkomens: [
      ...ofStreets,
      ...all.filter(({ kind, identificatie }) => kind === 'WPL' && places.has(identificatie)),
    ],
    relaties: relaties.filter(({ woonplaats }) => places.has(woonplaats)),
  };
}

type HoldingSpan = Omit<Span, 'volgnummer'> & { volgnummer?: number };

/** When an occurrence holds, and whether it counts on a day: the last to begin wins. */
function validityOf<T extends HoldingSpan>(held: T, ofObject: readonly T[], day: number) {
  const [counts, ...lost] = ofObject
    .filter(({ begin, eind }) => begin <= day && eind > day)
    .reverse()
    .sort((a, b) => b.begin - a.begin || (b.volgnummer ?? 0) - (a.volgnummer ?? 0));
  const winner =
    counts?.volgnummer === undefined ? 'another relation' : `voorkomen ${counts.volgnummer}`;
  const why = counts && (counts.begin > held.begin ? 'began later' : 'has the higher number');
  return {
    begin: dayText(held.begin),
    eind: held.eind === noEind ? null : dayText(held.eind),
    isCurrent: held === counts,
    ...(lost.includes(held) && { lostTo: `${winner}, which ${why}` }),
  };
}

function textOf(voorkomen: AnyVoorkomen): string {
  if (voorkomen.kind === 'WPL') return voorkomen.naam;
  if (voorkomen.kind === 'OPR') return `${voorkomen.naam}, woonplaats ${voorkomen.woonplaats}`;
  if (voorkomen.kind !== 'NUM') return objectText(voorkomen);
  const { huisnummer, huisletter, huisnummertoevoeging, postcode, openbareRuimte, woonplaats } =
    voorkomen;
  const address = [postcode ?? 'no postcode', huisnummer, huisletter + huisnummertoevoeging]
    .join(' ')
    .trimEnd();
  return `${address}, openbare ruimte ${openbareRuimte}${woonplaats === null ? '' : `, woonplaats ${woonplaats}`}`;
}

function objectText({
  status,
  locatie,
  hoofdadres,
  nevenadressen,
  ...more
}: AdresseerbaarVoorkomen): string {
  const { oppervlakte, gebruiksdoelen = [] } = more;
  const use = oppervlakte === undefined ? [] : [`${oppervlakte} m2`, gebruiksdoelen.join(' ')];
  const others = nevenadressen.length > 0 ? [`nevenadressen ${nevenadressen.join(' ')}`] : [];
  return [
    status,
    ...use,
    `at ${locatie.x} ${locatie.y}`,
    `hoofdadres ${hoofdadres}`,
    ...others,
  ].join(', ');
}

function changeOf({ name, vanaf, tot }: MutationFile, mutation: Mutation): ExplainedChange {
  const { kind, identificatie, volgnummer, was, wordt } = mutation;
  const span = ({ begin, eind }: AnyVoorkomen) =>
    eind === noEind ? `from ${dayText(begin)}` : `${dayText(begin)} to ${dayText(eind)}`;
  const describe = (voorkomen: AnyVoorkomen | null) =>
    voorkomen && `${textOf(voorkomen)} (${span(voorkomen)})`;
  return {
    delivery: name,
    vanaf,
    tot,
    kind,
    identificatie,
    volgnummer,
    before: describe(was),
    after: describe(wordt),
  };
}
