import type { AdresObject } from '../../../core/adres-object.ts';
import type { GuardedDataset, GuardedLoad, RowChanges } from './guarded.ts';
import { Random } from './random.ts';
import type { Row } from './rows.ts';

/** What a register does by itself, and the guard must not ask about. */
export type Healthy = {
  name: string;
  /** `null`: the dataset has no room for it. */
  changes(dataset: GuardedDataset): RowChanges | null;
  load?: GuardedLoad;
};

const day: GuardedLoad = { shareOfDay: 0.2 };

/** The positions of the addresses for which it is true. */
function where({ rows }: GuardedDataset, is: (row: Row, at: number) => boolean): number[] {
  return rows.flatMap((row, at) => (is(row, at) ? at : []));
}

function changed(
  { rows }: GuardedDataset,
  positions: readonly number[],
  change: (row: Row, at: number) => Row | null,
): RowChanges {
  return { at: new Map(positions.map((at) => [at, change(rows[at] as Row, at)])) };
}

/** The woonplaatsen by their addresses, the largest first. */
function townsOf({ rows }: GuardedDataset): [name: string, rows: Row[]][] {
  const towns = [...Map.groupBy(rows, ({ woonplaats }) => woonplaats)];
  return towns.toSorted(([, a], [, b]) => b.length - a.length);
}

/** New addresses on streets of their own. @param earlier how many others were made before them */
function newRows(from: Row, count: number, straat: string, earlier = 0): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `${from.id.slice(0, 6)}9${String(earlier + i).padStart(9, '0')}`;
    const objecten = from.objecten.slice(0, 1).map((object) => ({
      ...object,
      identificatie: `${id.slice(0, 4)}01${id.slice(6)}`,
      hoofdadres: true,
    }));
    // Keys of their own: a real new street has its own postcode.
    const at = { huisnummer: 1001 + earlier + i, straat: `${straat} ${1 + Math.floor(i / 100)}` };
    return { ...from, ...at, id, toevoeging: '', objecten };
  });
}

/** A share of each kind of change that a month brings, at random. */
function months(dataset: GuardedDataset, count: number, seed: number): RowChanges {
  const random = new Random(seed);
  const { rows } = dataset;
  const pick = (share: number) =>
    Array.from({ length: Math.round(rows.length * share * count) }, () => random.int(rows.length));
  const at = new Map<number, Row | null>();
  const change = (share: number, to: (row: Row) => Row | null) => {
    for (const position of pick(share))
      if (!at.has(position)) at.set(position, to(rows[position] as Row));
  };
  const ofObject = (to: (object: AdresObject) => AdresObject) => (row: Row) => ({
    ...row,
    objecten: row.objecten.map((object, i) => (i === 0 ? to(object) : object)),
  });
  change(0.0003, () => null);
  change(0.0003, (row) => ({ ...row, huisnummer: row.huisnummer + 500 }));
  change(0.0003, (row) => ({ ...row, toevoeging: row.toevoeging === '' ? 'B' : '' }));
  change(
    0.0003,
    ofObject((object) => ({ ...object, oppervlakte: 123 })),
  );
  change(
    0.0002,
    ofObject((object) => ({ ...object, gebruiksdoelen: ['kantoorfunctie'] })),
  );
  change(
    0.0005,
    ofObject(({ locatie: { x, y }, ...object }) => ({
      ...object,
      locatie: { x: x + 1, y },
    })),
  );
  const added: Row[] = [];
  let wanted = 0;
  for (const [, town] of townsOf(dataset)) {
    wanted += town.length * 0.001 * count;
    const [first] = town;
    if (!first) continue;
    const more = Math.round(wanted) - added.length;
    added.push(...newRows(first, more, 'Nieuwe straat', added.length));
  }
  return { at, added };
}

/** The gemeente of some woonplaatsen becomes another one. */
function inGemeente(dataset: GuardedDataset, moves: ReadonlyMap<string, string>): RowChanges {
  const positions = where(dataset, ({ woonplaats }) => moves.has(woonplaats));
  return changed(dataset, positions, (row) => ({ ...row, gemeente: moves.get(row.woonplaats) }));
}

/** The smallest gemeente, with its woonplaatsen, and two others. */
function gemeentenOf(dataset: GuardedDataset) {
  const gemeenten = [...Map.groupBy(dataset.rows, ({ gemeente }) => gemeente)]
    .map(([code = '', rows]) => ({
      code,
      size: rows.length,
      woonplaatsen: [...new Set(rows.map(({ woonplaats }) => woonplaats))],
    }))
    .toSorted((a, b) => a.size - b.size);
  return gemeenten.length < 3 ? null : gemeenten;
}

/** One gemeente becomes part of the largest, which renames some streets of the same name. */
function merger(dataset: GuardedDataset): RowChanges | null {
  const gemeenten = gemeentenOf(dataset);
  const [smallest] = gemeenten ?? [];
  const largest = gemeenten?.at(-1);
  if (!smallest || !largest) return null;
  const [town = ''] = smallest.woonplaatsen;
  const streets = streetsOf(dataset, town, 10);
  const positions = where(dataset, ({ gemeente }) => gemeente === smallest.code);
  return changed(dataset, positions, (row) => ({
    ...row,
    gemeente: largest.code,
    ...(row.woonplaats === town && streets.has(row.straat) && { straat: `Oude ${row.straat}` }),
  }));
}

/** Some streets of a woonplaats, with together at most 900 addresses. */
function streetsOf({ rows }: GuardedDataset, town: string, count: number): Set<string> {
  const streets = Map.groupBy(
    rows.filter(({ woonplaats }) => woonplaats === town),
    ({ straat }) => straat,
  );
  let left = 900;
  const few = [...streets].toSorted(([, a], [, b]) => a.length - b.length).slice(0, count);
  const kept = new Set<string>();
  for (const [name, { length }] of few) {
    left -= length;
    if (left >= 0) kept.add(name);
  }
  return kept;
}

function divided(dataset: GuardedDataset): RowChanges | null {
  const gemeenten = gemeentenOf(dataset);
  const [giver] = gemeenten?.filter(({ woonplaatsen }) => woonplaatsen.length > 1) ?? [];
  const receivers = gemeenten?.filter((gemeente) => gemeente !== giver) ?? [];
  if (!giver || receivers.length < 2) return null;
  const moves = giver.woonplaatsen.map((name, i): [string, string] => {
    return [name, (receivers[i % 2] as (typeof receivers)[number]).code];
  });
  return inGemeente(dataset, new Map(moves));
}

const renamedStreets = (dataset: GuardedDataset): RowChanges => {
  const [[town = ''] = []] = townsOf(dataset);
  const streets = streetsOf(dataset, town, 20);
  const positions = where(
    dataset,
    ({ woonplaats, straat }) => woonplaats === town && streets.has(straat),
  );
  return changed(dataset, positions, (row) => ({ ...row, straat: `Nieuwe ${row.straat}` }));
};

const border = (dataset: GuardedDataset): RowChanges | null => {
  const [, [from = '', rows = []] = [], [to = ''] = []] = townsOf(dataset);
  if (to === '') return null;
  const most = Math.min(200, rows.length, dataset.rows.length / 100);
  const moved = new Set(rows.slice(0, most));
  const positions = where(dataset, (row) => row.woonplaats === from && moved.has(row));
  return changed(dataset, positions, (row) => ({ ...row, woonplaats: to }));
};

const renamedPlace = (dataset: GuardedDataset): RowChanges | null => {
  const towns = townsOf(dataset);
  const [town = ''] = towns.at(-1) ?? [];
  if (towns.length < 2) return null;
  const positions = where(dataset, ({ woonplaats }) => woonplaats === town);
  return changed(dataset, positions, (row) => ({ ...row, woonplaats: `${town} aan Zee` }));
};

const quarter = ({ rows }: GuardedDataset): RowChanges => ({
  at: new Map(),
  added: newRows(rows[0] as Row, 2_000, 'Nieuwe wijk'),
});

const blockOfFlats = (dataset: GuardedDataset): RowChanges | null => {
  const [[, rows = []] = []] = townsOf(dataset);
  const gone = new Set(rows.slice(0, Math.min(200, Math.floor(dataset.rows.length * 0.04))));
  return changed(
    dataset,
    where(dataset, (row) => gone.has(row)),
    () => null,
  );
};

/** Everything that happens to a register of any size. */
export const healthyDatasets: readonly Healthy[] = [
  { name: 'nothing', changes: () => ({ at: new Map() }) },
  { name: 'a month', changes: (dataset) => months(dataset, 1, 1) },
  { name: 'a day', changes: (dataset) => months(dataset, 1 / 20, 2), load: day },
  { name: 'a year', changes: (dataset) => months(dataset, 12, 3) },
  { name: 'a merger in a month', changes: merger },
  { name: 'a merger on a day', changes: merger, load: day },
  { name: 'a divided gemeente', changes: divided },
  { name: 'a divided gemeente on a day', changes: divided, load: day },
  { name: 'renamed streets', changes: renamedStreets },
  { name: 'renamed streets on a day', changes: renamedStreets, load: day },
  { name: 'a new quarter', changes: quarter },
  { name: 'a new quarter on a day', changes: quarter, load: day },
  { name: 'a border that moves', changes: border },
  { name: 'a border that moves on a day', changes: border, load: day },
  { name: 'a renamed woonplaats', changes: renamedPlace },
  { name: 'a block of flats that goes', changes: blockOfFlats },
  {
    name: 'objects that are turned on',
    changes: (dataset) => (dataset.hasObjects ? { at: new Map() } : null),
    load: { turnsOnObjects: true },
  },
];
