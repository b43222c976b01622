import type { AdresObject } from '../../../core/adres-object.ts';
import { type AddressColumn, allowedBy, limitOf, oneChange } from '../../../loader/guard/limits.ts';
import type { GuardResult } from '../../../loader/guard/objections.ts';
import { loadDefaults } from '../../../loader/names.ts';
import type { GuardedDataset, RowChanges } from './guarded.ts';
import { keyOfRow, type Row } from './rows.ts';

/** A column of addresses, as text that an error may change. */
type RowColumn = {
  column: AddressColumn;
  /** `undefined`: the address has no value. */
  get(row: Row): string | undefined;
  /** `null`: the address has none of the kind, so nothing changes. */
  set(row: Row, value: string | undefined): Row | null;
  /** The value goes to another column, and that one's comes here. */
  moved?(row: Row): Row;
  /** Whether all addresses with one value get the same other value. */
  isShared?: true;
  /** Columns that the guard may name instead: the address can't be found by its own any more. */
  others?: readonly AddressColumn[];
};

/** A value of the first object of an address. */
function ofObjects(
  column: AddressColumn,
  get: (object: AdresObject) => string | undefined,
  set: (object: AdresObject, value: string | undefined) => AdresObject,
  more: Partial<RowColumn> = {},
): RowColumn {
  return {
    column,
    get: ({ objecten: [first] }) => first && get(first),
    set: (row, value) => {
      const [first, ...others] = row.objecten;
      return first ? { ...row, objecten: [set(first, value), ...others] } : null;
    },
    others: ['objectLost'],
    ...more,
  };
}

const number = (value: string | undefined) => Number(value?.replace(/\D/g, '') || 0);
const addressColumns: readonly AddressColumn[] = ['removed', 'added', 'doubled', 'id'];

/** Every column of the register that is served. */
const rowColumns: Record<string, RowColumn> = {
  postcode: {
    column: 'postcode',
    get: ({ postcode }) => postcode,
    set: (row, value = '') => ({ ...row, postcode: value }),
    moved: (row) => ({ ...row, huisnummer: number(row.postcode), postcode: `${row.huisnummer}` }),
    isShared: true,
    others: ['removed', 'added', 'huisnummer'],
  },
  huisnummer: {
    column: 'huisnummer',
    get: ({ huisnummer }) => `${huisnummer}`,
    set: (row, value) => ({ ...row, huisnummer: number(value) }),
    moved: (row) => ({ ...row, huisnummer: 1, toevoeging: `${row.huisnummer}`.slice(0, 4) }),
    others: ['removed', 'toevoeging'],
  },
  toevoeging: {
    column: 'toevoeging',
    get: ({ toevoeging }) => toevoeging,
    set: (row, value = '') => ({ ...row, toevoeging: value }),
    moved: (row) =>
      row.toevoeging === ''
        ? row
        : {
            ...row,
            toevoeging: '',
            huisnummer: number(`${row.huisnummer}${number(row.toevoeging)}`),
          },
    others: ['removed', 'huisnummer'],
  },
  straat: {
    column: 'straat',
    get: ({ straat }) => straat,
    set: (row, value = '') => ({ ...row, straat: value }),
    moved: (row) => ({ ...row, straat: row.woonplaats, woonplaats: row.straat }),
    isShared: true,
    others: ['removed', 'garbled', 'lettersLost', 'woonplaats'],
  },
  woonplaats: {
    column: 'woonplaats',
    get: ({ woonplaats }) => woonplaats,
    set: (row, value = '') => ({ ...row, woonplaats: value }),
    moved: (row) => ({ ...row, woonplaats: row.gemeente ?? '' }),
    isShared: true,
    others: ['removed', 'garbled', 'lettersLost'],
  },
  gemeente: {
    column: 'gemeente',
    get: ({ gemeente }) => gemeente,
    set: (row, gemeente) => ({ ...row, gemeente }),
    moved: (row) => ({ ...row, gemeente: row.postcode.slice(0, 4) }),
    isShared: true,
    others: ['gemeenteLost', 'gemeenteUnknown'],
  },
  identificatie: {
    column: 'id',
    get: ({ id }) => id,
    set: (row, id = '') => ({ ...row, id }),
    others: [...addressColumns, 'postcode', 'huisnummer', 'toevoeging', 'straat', 'hoofdadres'],
  },
  'identificatie of an object': ofObjects(
    'objectGained',
    ({ identificatie }) => identificatie,
    (object, identificatie = '') => ({ ...object, identificatie }),
  ),
  status: ofObjects(
    'status',
    ({ status }) => status,
    (object, status = '') => ({ ...object, status }),
  ),
  gebruiksdoel: ofObjects(
    'gebruiksdoel',
    ({ gebruiksdoelen }) => gebruiksdoelen?.join('+'),
    (object, value) => ({ ...object, gebruiksdoelen: value?.split('+') ?? [] }),
    { others: ['objectLost', 'gebruiksdoelLost'] },
  ),
  oppervlakte: ofObjects(
    'oppervlakte',
    ({ oppervlakte }) => (oppervlakte === undefined ? undefined : `${oppervlakte}`),
    (object, value) => ({ ...object, oppervlakte: number(value) }),
  ),
  x: ofObjects(
    'locatie',
    ({ locatie }) => `${locatie.x}`,
    (object, value) => ({ ...object, locatie: { ...object.locatie, x: Number(value) || 0 } }),
    {
      moved: (row) => ({
        ...row,
        objecten: row.objecten.map((object) => {
          return { ...object, locatie: { x: object.locatie.y, y: object.locatie.x } };
        }),
      }),
      others: ['objectLost', 'moved'],
    },
  ),
  hoofdadres: ofObjects(
    'hoofdadres',
    ({ hoofdadres }) => (hoofdadres ? '1' : '0'),
    (object, value) => ({ ...object, hoofdadres: value === '1' }),
  ),
  ligplaats: ofType('ligplaats', 'ligplaatsLost'),
  standplaats: ofType('standplaats', 'standplaatsLost'),
  nevenadres: {
    column: 'nevenadresLost',
    get: ({ objecten }) =>
      objecten.some((object) => !object.hoofdadres) ? 'nevenadres' : undefined,
    set: (row, value) => {
      const objecten = row.objecten.filter(({ hoofdadres }) => hoofdadres);
      return value === undefined && objecten.length < row.objecten.length
        ? { ...row, objecten }
        : null;
    },
    others: ['objectLost'],
  },
};

/** The objects of a type, which go or get another type. */
function ofType(type: AdresObject['type'], column: AddressColumn): RowColumn {
  const other = type === 'ligplaats' ? 'standplaats' : 'ligplaats';
  const has = ({ objecten }: Row) => objecten.some((object) => object.type === type);
  return {
    column,
    get: (row) => (has(row) ? type : undefined),
    set: (row, value) =>
      value === undefined && has(row)
        ? { ...row, objecten: row.objecten.filter((object) => object.type !== type) }
        : null,
    moved: (row) => ({
      ...row,
      objecten: row.objecten.map((object) =>
        object.type === type ? { ...object, type: other } : object,
      ),
    }),
    others: ['objectLost'],
  };
}

/** What goes wrong with a value; `all` are those of its column, in order. */
type Fault = (value: string | undefined, at: number, all: readonly string[]) => string | undefined;

const ofValue =
  (change: (value: string) => string): Fault =>
  (value) =>
    value === undefined ? undefined : change(value);

/** The next number, letter or digit: 1 becomes 2, and `Kade` becomes `Kadf`. */
function oneOn(value: string): string {
  if (/^\d+$/.test(value)) return `${BigInt(value) + 1n}`.padStart(value.length, '0');
  const last = value.at(-1) ?? '@';
  const next = { z: 'a', Z: 'A', '9': '0' }[last] ?? String.fromCharCode(last.charCodeAt(0) + 1);
  return value.slice(0, -1) + next;
}

const faults: Record<string, Fault> = {
  constant: (_, __, all) => all[0],
  rotated: (_, at, all) => all[(at + 1) % all.length],
  'one on': ofValue(oneOn),
  cut: ofValue((value) => value.slice(0, -1)),
  'in upper case': ofValue((value) => value.toUpperCase()),
  'in lower case': ofValue((value) => value.toLowerCase()),
  'with a space': ofValue((value) => `${value} `),
  'with a sign': ofValue((value) => `${value}${/^\d*$/.test(value) ? '1' : '?'}`),
  'with a letter': ofValue((value) => `${value}x`),
  dropped: () => undefined,
};
const movedFault = 'in another column';

/** Which addresses have the fault, or which values of names. */
const extents = ['all', 'a fifth', 'one town'] as const;
type Extent = (typeof extents)[number];

/** What is wrong with a dataset. */
export type Wrong = { column: string; fault: string; extent: Extent };

/** Every wrong dataset: each column with each fault, in all addresses, in a fifth or in a town. */
export const wrongDatasets: readonly Wrong[] = Object.keys(rowColumns).flatMap((column) =>
  [...Object.keys(faults), ...(rowColumns[column]?.moved ? [movedFault] : [])].flatMap((fault) =>
    extents.map((extent) => ({ column, fault, extent })),
  ),
);

/**
 * Whether addresses share the values of the column: then all of them may be one change. Of others
 * all are refused where a fifth is, and of a large dataset they take an hour.
 */
export const isShared = ({ column }: Wrong) => rowColumns[column]?.isShared ?? false;

export const nameOfWrong = ({ column, fault, extent }: Wrong) => `${column} ${fault}, ${extent}`;

/** The changes that make a dataset wrong; `null` if they change nothing. */
export function wrongChanges(dataset: GuardedDataset, wrong: Wrong): RowChanges | null {
  const column = rowColumns[wrong.column] as RowColumn;
  const { rows, town } = dataset;
  if (wrong.extent === 'one town' && town === undefined) return null;
  const inExtent = rows
    .map((_, at) => at)
    .filter((at) => wrong.extent !== 'one town' || rows[at]?.woonplaats === town);
  const valueAt = (at: number) => column.get(rows[at] as Row);
  const values = inExtent.flatMap((at) => valueAt(at) ?? []);
  const distinct = [...new Set(values)];
  const all = column.isShared ? distinct : values;
  const places = column.isShared ? new Map(distinct.map((value, i) => [value, i])) : null;
  const at = new Map<number, Row>();
  let position = 0;
  for (const i of inExtent) {
    const row = rows[i] as Row;
    const value = valueAt(i);
    if (value === undefined) continue;
    const place = places?.get(value) ?? position++;
    if (wrong.extent === 'a fifth' && place % 5 !== 0) continue;
    const fault = faults[wrong.fault];
    const changed = fault
      ? column.set(row, fault(value, place, all))
      : (column.moved?.(row) ?? null);
    if (changed && !isSame(changed, row, column)) at.set(i, changed);
  }
  return at.size > 0 ? { at } : null;
}

/** Whether nothing that is served differs: a key has the toevoeging in upper case. */
function isSame(row: Row, other: Row, { column, get }: RowColumn): boolean {
  const isSameValue = column === 'toevoeging' || get(row) === get(other);
  return isSameValue && row.woonplaats === other.woonplaats && keyOfRow(row) === keyOfRow(other);
}

/** Whether a refusal names the column that is wrong, or values that can't be read. */
export function namesColumn(
  { column }: Wrong,
  { objections }: Pick<GuardResult, 'objections'>,
): boolean {
  const { column: own, others = [] } = rowColumns[column] as RowColumn;
  const codes = [own, ...others].map((limited): string => limitOf(limited).code);
  return objections.some(({ code }) => codes.includes(code) || code === 'too_many_problems');
}

/**
 * Whether changes are within the limits that the docs promise, by the changed addresses alone:
 * counted apart from the guard.
 */
export function isWithinLimits(
  { column: name }: Wrong,
  { rows, sizes }: GuardedDataset,
  { at }: RowChanges,
): boolean {
  const { column } = rowColumns[name] as RowColumn;
  const { of, total, place, also } = limitOf(column);
  const { guard } = loadDefaults;
  const changed = [...at.keys()].map((i) => rows[i] as Row);
  const all = sizes[''];
  if (!all) return false;
  const most = (limit: typeof total, size: number, scope: 'total' | 'place') => {
    const { share, number } = allowedBy(limit, guard, scope);
    return Math.max(share * size, number);
  };
  const byTown = Map.groupBy(changed, ({ woonplaats }) => woonplaats);
  const isFew =
    changed.length <= most(total, all[of], 'total') &&
    (!also || changed.length <= most(also.total, all[also.of], 'total')) &&
    [...byTown].every(
      ([town, { length }]) => !place || length <= most(place, sizes[town]?.[of] ?? 0, 'place'),
    );
  return isFew || isOneChange(column, changed, all.addresses, rows);
}

/** Whether so few names change that each may be one change. */
function isOneChange(
  column: AddressColumn,
  changed: readonly Row[],
  addresses: number,
  rows: readonly Row[],
): boolean {
  const within = ({ share, number }: { share: number; number: number }, size: number) =>
    Math.max(share * size, number);
  const count = (of: (row: Row) => string | undefined, among = changed) =>
    new Set(among.map(of)).size;
  if (column === 'straat') {
    const towns = Map.groupBy(changed, ({ woonplaats }) => woonplaats).values();
    return (
      [...towns].every(
        (town) => count(({ straat }) => straat, town) <= oneChange.streetsInWoonplaats,
      ) && changed.length <= within(oneChange.addressesOfStreets, addresses)
    );
  }
  const woonplaats = ({ woonplaats: name }: Row) => name;
  if (column === 'woonplaats') {
    return (
      count(woonplaats) <= within(oneChange.woonplaatsen, count(woonplaats, [...rows])) &&
      changed.length <= within(oneChange.addressesOfWoonplaatsen, addresses)
    );
  }
  return (
    column === 'gemeente' &&
    (count(({ gemeente }) => gemeente) <= oneChange.gemeenten ||
      changed.length <= oneChange.addressesOfGemeenten.share * addresses)
  );
}
