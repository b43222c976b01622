import { gebruiksdoelen, objectStatuses } from '../../../core/adres-object.ts';
import type { Place } from '../../../core/place-fields.ts';
import {
  type PlaceSizes,
  sizeMembers,
  sizesOfAddress,
} from '../../../loader/addresses/place-sizes.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { ColumnCounter } from '../../../loader/guard/columns.ts';
import { noChanges } from '../../../loader/guard/load-counts.ts';
import { type GuardResult, guardLoad } from '../../../loader/guard/objections.ts';
import { loadDefaults, localGuardDefaults } from '../../../loader/names.ts';
import { keyOfRow, placesOfRows, type Row } from './rows.ts';

/** How addresses change: rows by their position, another row or `null`, and new ones. */
export type RowChanges = { at: ReadonlyMap<number, Row | null>; added?: readonly Row[] };

/** How a load of changed addresses is judged. */
export type GuardedLoad = {
  /** The part of the shares of all addresses; of a day it is a fifth. */
  shareOfDay?: number;
  /** Whether its objects are turned on by the load. */
  turnsOnObjects?: boolean;
};

const statuses = new Set(Object.values(objectStatuses));
const uses = new Set(Object.values(gebruiksdoelen));

/** Whether the reader accepts an address: another is a problem, and is not loaded. */
function isReadable({ id, postcode, huisnummer, toevoeging, straat, woonplaats }: Row): boolean {
  const isName = (name: string) => name.length > 0 && name.length <= 80;
  return (
    /^\d{16}$/.test(id) &&
    /^[1-9]\d{3}[A-Z]{2}$/.test(postcode) &&
    huisnummer >= 1 &&
    huisnummer <= 99_999 &&
    /^[A-Za-z]?[0-9A-Za-z]{0,4}$/.test(toevoeging) &&
    isName(straat) &&
    isName(woonplaats)
  );
}

/** The address as it is read: without objects and a gemeente that the reader refuses. */
function asRead(row: Row): Row {
  const objecten = row.objecten.filter(
    ({ status, type, oppervlakte = 1, gebruiksdoelen: doelen = [], locatie: { x, y } }) =>
      statuses.has(status) &&
      (type !== 'verblijfsobject' || doelen.length > 0) &&
      doelen.every((doel) => uses.has(doel)) &&
      oppervlakte >= 1 &&
      oppervlakte <= 999_999 &&
      x > 0 &&
      x < 300_000 &&
      y > 300_000 &&
      y < 620_000,
  );
  const hasGemeente = /^\d{4}$/.test(row.gemeente ?? '');
  return { ...row, objecten, gemeente: hasGemeente ? row.gemeente : undefined };
}

/** A dataset in memory, and what the guard says to changes of it. */
export class GuardedDataset {
  readonly rows: readonly Row[];
  readonly sizes: PlaceSizes = {};
  readonly hasObjects: boolean;
  /** The woonplaats of the middle size, if there are several. */
  readonly town: string | undefined;
  readonly #byKey: Map<string, number[]> = new Map();
  readonly #byPart: ReadonlyMap<string, Row[]>;
  readonly #places: ReadonlyMap<string, Place[]>;
  readonly #ids: ReadonlySet<string>;

  constructor(rows: readonly Row[]) {
    this.rows = rows;
    this.hasObjects = rows.some(({ objecten }) => objecten.length > 0);
    this.#ids = new Set(rows.map(({ id }) => id));
    this.#byPart = Map.groupBy(rows, partOf);
    for (const [at, row] of rows.entries()) {
      const key = keyOfRow(row);
      const same = this.#byKey.get(key);
      if (same) same.push(at);
      else {
        this.#byKey.set(key, [at]);
      }
    }
    const rowsAt = (at: readonly number[]) => at.map((position) => rows[position] as Row);
    this.#places = new Map(
      Array.from(this.#byKey, ([key, at]) => [key, placesOfRows(rowsAt(at))] as const),
    );
    for (const [key, places] of this.#places) addTo(this.sizes, key, places, 1);
    const towns = [...Map.groupBy(rows, ({ woonplaats }) => woonplaats)];
    const bySize = towns.toSorted(([, a], [, b]) => b.length - a.length);
    this.town = towns.length > 1 ? bySize[Math.floor(towns.length / 2)]?.[0] : undefined;
  }

  /** What the guard says to a load with these changes. */
  guard(
    changes: RowChanges,
    { shareOfDay = 1, turnsOnObjects = false }: GuardedLoad = {},
  ): GuardResult {
    const { problems, byKey } = this.#read(changes);
    const after: PlaceSizes = structuredClone(this.sizes);
    const counter = new ColumnCounter(this.hasObjects && !turnsOnObjects);
    const parts = Map.groupBy(byKey.keys(), (key) => key.slice(0, 3));
    const changed = new Set([...changes.at.keys()].map((position) => this.rows[position] as Row));
    const come = [...changes.at.values(), ...(changes.added ?? [])].filter((row) => row !== null);
    const comeByPart = Map.groupBy(come, partOf);
    for (const [part, keys] of parts) {
      for (const key of keys) {
        const old = this.#places.get(key) ?? [];
        const now = placesOfRows(byKey.get(key) ?? []);
        addTo(after, key, old, -1);
        addTo(after, key, now, 1);
        counter.add({ key, places: { old: orNull(old), now: orNull(now) } });
      }
      const were = this.#byPart.get(part) ?? [];
      const stayed = were.filter((row) => !changed.has(row));
      counter.endPart(namesOf(were), namesOf([...stayed, ...(comeByPart.get(part) ?? [])]));
    }
    for (const [area, { addresses }] of Object.entries(after)) {
      if (addresses === 0) delete after[area];
    }
    const addresses = this.sizes['']?.addresses ?? 0;
    const report = emptyReport();
    report.invalid_value.count = problems;
    const counts = {
      ...noChanges(),
      voorkomens: addresses,
      nummeraanduidingen: addresses,
      addresses,
      problems: report,
      ...(this.hasObjects && { objecten: { live: addresses, changed: 0, lost: 0, moved: 0 } }),
    };
    const load = {
      peildatum: '2026-02-08',
      allowOlder: false,
      after,
      tallies: counter.end(),
      isFirstOfObjects: turnsOnObjects,
    };
    const live = { peildatum: '2026-01-08', addresses, places: this.sizes };
    const thresholds = { ...loadDefaults.guard, ...localGuardDefaults };
    return guardLoad(counts, load, live, thresholds, shareOfDay);
  }

  /** The rows of each key that changes, and how many rows the reader refuses. */
  #read({ at, added = [] }: RowChanges) {
    const byKey = new Map<string, Row[]>();
    const rowsAt = (key: string): Row[] => {
      const known = byKey.get(key);
      if (known) return known;
      const same = (this.#byKey.get(key) ?? []).filter((position) => !at.has(position));
      const rows = same.map((position) => this.rows[position] as Row);
      byKey.set(key, rows);
      return rows;
    };
    let problems = 0;
    // The last of several occurrences of one nummeraanduiding is loaded.
    const byId = new Map<string, Row>();
    for (const [position, row] of at) {
      rowsAt(keyOfRow(this.rows[position] as Row));
      // An address without a postcode is no problem: it has no key.
      if (row && !isReadable(row) && row.postcode !== '') problems++;
      if (row && isReadable(row)) byId.set(row.id, asRead(row));
    }
    for (const row of added) if (!this.#ids.has(row.id)) byId.set(row.id, asRead(row));
    for (const row of byId.values()) rowsAt(keyOfRow(row)).push(row);
    return { problems, byKey };
  }
}

const partOf = ({ postcode }: Row) => postcode.slice(0, 3);

/** The names of addresses, each once, as the lines of a part have them. */
function namesOf(rows: readonly Row[]): Buffer {
  const names = rows.map(({ straat, woonplaats }) => `\t${straat}\t${woonplaats}\t`);
  return Buffer.from([...new Set(names)].join(''));
}

const orNull = (places: Place[]) => (places.length > 0 ? places : null);

function addTo(sizes: PlaceSizes, key: string, places: readonly Place[], sign: 1 | -1): void {
  for (const place of places) {
    for (const [area, size] of sizesOfAddress(key, place)) {
      const sum = sizes[area];
      if (!sum) sizes[area] = { ...size };
      else {
        for (const member of sizeMembers) sum[member] += sign * size[member];
      }
    }
  }
}
