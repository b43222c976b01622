/** Derives the lines of a snapshot from the rows of addresses on a date. */

import { maxToevoegingen } from '../../core/addresses/address-item.ts';
import { betweenObjects, objectTextAt } from '../../core/adres-object.ts';
import { type Place, placeOfTexts } from '../../core/place-fields.ts';
import type { Problem } from '../bag/problem-report.ts';
import type { Nummeraanduiding } from '../bag/voorkomen.ts';
import {
  addressRowLayout,
  comma,
  huisnummerAt,
  idWidth,
  leastKeyLength,
  lineEnd,
  separator,
  tab,
} from '../register/layouts.ts';
import { distinctObjects, isOfHoofdadres } from '../register/record.ts';
import type { Reference } from '../register/reference-file.ts';
import { GrowingBytes, hasSameBytes } from '../register/stored-form.ts';
import { type LineCounts, noLines } from './line-segment.ts';
import { placeText } from './lines.ts';
import { addObjects, addSizes, noSize, type PlaceSize, sizesAt } from './place-sizes.ts';

const ofHoofdadres = 0x31;
const verblijfsobject = 0x56;
const semicolon = betweenObjects.charCodeAt(0);
const { openbareRuimte: streetInRow, woonplaats: placeInRow } = addressRowLayout.at;
const objectsInRow = addressRowLayout.length;

/**
 * The lines of a part, each with its line end, and how many there are, of how many
 * nummeraanduidingen and objects.
 */
export type DerivedLines = {
  lines: Buffer;
  counts: LineCounts;
  nummeraanduidingen: number;
  objecten: number;
};

/**
 * The lines of a part: one for each key, with its distinct places and the lists of toevoegingen.
 * @param rows of `writeAddressRow`, sorted
 */
export function deriveLines(
  rows: Buffer,
  { reference, file, objecten }: { reference: Reference; file: string; objecten: boolean },
  onProblem: (problem: Problem) => void,
): DerivedLines {
  const placeOf = placesBy(reference, rows);
  const joiner = new LineJoiner(rows, objecten);
  for (let start = 0, end = 0; start < rows.length; start = end + 1) {
    let at = start + leastKeyLength;
    while (rows[at] !== tab) at++;
    const id = at + 1;
    end = id + objectsInRow;
    while (rows[end] !== lineEnd) end++;
    const found = placeOf(id + streetInRow);
    if ('kind' in found) {
      onProblem({ ...found, file, identificatie: rows.toString('latin1', id, id + idWidth) });
    } else {
      joiner.add(start, id, end, found);
    }
  }
  return joiner.end();
}

/** The bytes of a `placeText`, or the problem that prevents it. */
type Found = DataView | Pick<Problem, 'kind' | 'detail'>;

const namesLength = objectsInRow - streetInRow;

/**
 * The place of a row by its street and own place, which stand in `rows` at `start`: worked out once
 * for all addresses of a street. Or the problem, if the street or the place is missing.
 */
function placesBy(reference: Reference, rows: Buffer): (start: number) => Found {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length);
  const known = new Map<string, Found>();
  let last = -1;
  let lastFound: Found = { kind: 'street_missing' };
  return (start) => {
    // Usually the same as on the line before.
    if (last >= 0 && hasSameBytes(view, last, start, namesLength)) return lastFound;
    const text = rows.toString('latin1', start, start + namesLength);
    let found = known.get(text);
    if (found === undefined) {
      const openbareRuimte = text.slice(0, placeInRow - streetInRow);
      const own = text.slice(placeInRow - streetInRow);
      const placed = toPlace(
        { openbareRuimte, woonplaats: own.startsWith('.') ? null : own },
        reference,
      );
      found =
        'kind' in placed
          ? placed
          : new DataView(new Uint8Array(Buffer.from(placeText(placed), 'latin1')).buffer);
      known.set(text, found);
    }
    last = start;
    lastFound = found;
    return found;
  };
}

/**
 * The street, place and gemeente of a current nummeraanduiding, or the problem: one is not current.
 * Never guesses.
 */
export function toPlace(
  { openbareRuimte, woonplaats }: Pick<Nummeraanduiding, 'openbareRuimte' | 'woonplaats'>,
  reference: Reference,
): Place | Pick<Problem, 'kind' | 'detail'> {
  const street = reference.openbareRuimten.get(openbareRuimte);
  if (!street) return { kind: 'street_missing', detail: openbareRuimte };
  const identificatie = woonplaats ?? street.woonplaats;
  const place = reference.woonplaatsen.get(identificatie);
  if (!place) return { kind: 'place_missing', detail: identificatie };
  const { naam: woonplaatsnaam, gemeente } = place;
  return { straat: street.naam, woonplaats: woonplaatsnaam, ...(gemeente && { gemeente }) };
}

/** The start of a row, its id and its end, and the bytes of its place. */
type Row = { start: number; id: number; end: number; place: DataView };

/** Joins rows to lines. Makes strings only of those with one key (decision 0113). */
class LineJoiner {
  readonly #rows: Buffer;
  readonly #view: DataView;
  readonly #hasObjecten: boolean;
  readonly #lines = new GrowingBytes();
  /**
   * The rows of the current postcode and huisnummer, in objects that are reused; the count says how
   * many are valid.
   */
  readonly #group: Row[] = [];
  #count = 0;
  /** The start of the group's toevoeging. */
  #toevoeging = 0;
  readonly #derived: DerivedLines = {
    lines: Buffer.alloc(0),
    counts: { ...noLines },
    nummeraanduidingen: 0,
    objecten: 0,
  };
  readonly #sizes = new Map<DataView, PlaceSize>();

  constructor(rows: Buffer, hasObjecten: boolean) {
    this.#rows = rows;
    this.#view = new DataView(rows.buffer, rows.byteOffset, rows.length);
    this.#hasObjecten = hasObjecten;
    this.#lines.reserve(rows.length);
  }

  add(start: number, id: number, end: number, place: DataView): void {
    const [first] = this.#group;
    if (
      !first ||
      this.#count === 0 ||
      !hasSameBytes(this.#view, first.start, start, this.#toevoeging)
    ) {
      this.#endGroup();
      let toevoeging = start + huisnummerAt + 1;
      while (this.#rows[toevoeging] !== separator) toevoeging++;
      this.#toevoeging = toevoeging + 1 - start;
    }
    this.#group[this.#count] ??= { start, id, end, place };
    const row = this.#group[this.#count++] as Row;
    row.start = start;
    row.id = id;
    row.end = end;
    row.place = place;
    this.#derived.nummeraanduidingen++;
  }

  end(): DerivedLines {
    this.#endGroup();
    const sizes = [...this.#sizes].flatMap(([bytes, size]) =>
      sizesAt(placeOfTexts(Buffer.from(textOf(bytes), 'latin1').toString().split('\t')), size),
    );
    this.#derived.counts.places = addSizes(sizes);
    this.#derived.lines = this.#lines.bytes;
    return this.#derived;
  }

  #endGroup(): void {
    const lines = this.#lines;
    const group = this.#group;
    const count = this.#count;
    const length = this.#toevoeging;
    const { counts } = this.#derived;
    for (let at = 0, next = 0; at < count; at = next) {
      const row = group[at] as Row;
      const isBare = row.id - 1 === row.start + length;
      if (at === 0 && !isBare) {
        lines.copy(this.#view, row.start, length);
        lines.memory[lines.length++] = tab;
        this.#writeList();
        lines.memory[lines.length++] = lineEnd;
        counts.lines++;
        counts.lists++;
      }
      while (++next < count && this.#hasSameKey(row, group[next] as Row));
      lines.copy(this.#view, row.start, row.id - row.start);
      if (isBare && next < count) this.#writeList();
      counts.lines++;
      if (next === at + 1) this.#endSingleLine(row);
      else {
        this.#endLine(group.slice(at, next));
      }
    }
    this.#count = 0;
  }

  /** Writes the distinct toevoegingen of the group, with commas between them. */
  #writeList(): void {
    let listed = 0;
    let last: Row | undefined;
    for (let at = 0; at < this.#count && listed < maxToevoegingen; at++) {
      const row = this.#group[at] as Row;
      if (last && this.#hasSameKey(last, row)) continue;
      const toevoeging = row.start + this.#toevoeging;
      this.#lines.copy(this.#view, toevoeging, row.id - toevoeging);
      this.#lines.memory[this.#lines.length - 1] = comma;
      listed++;
      last = row;
    }
    this.#lines.length--;
  }

  #hasSameKey(row: Row, other: Row): boolean {
    const length = row.id - row.start;
    return (
      length === other.id - other.start && hasSameBytes(this.#view, row.start, other.start, length)
    );
  }

  /**
   * Writes each place of a key once, with the ids and the objects of all nummeraanduidingen there.
   */
  #endLine(rows: readonly Row[]): void {
    const places = [...Map.groupBy(rows, ({ place }) => textOf(place))].map(([place, there]) => {
      const size = this.#countAddress(there[0] as Row);
      const ids = there.map(({ id }) => this.#rows.toString('latin1', id, id + idWidth));
      const text = [...new Set(ids)].sort().join(',');
      if (!this.#hasObjecten) return place + text;
      const texts = there.flatMap(({ id, end }) => {
        const objects = this.#rows.toString('latin1', id + objectsInRow, end);
        return objects === '' ? [] : objects.split(betweenObjects);
      });
      const objects = distinctObjects(texts);
      this.#derived.objecten += objects.filter(isOfHoofdadres).length;
      addObjects(size, objects);
      return `${place.slice(0, -1)}${objects.join(betweenObjects)}\t${text}`;
    });
    this.#lines.write(`\t${places.sort().join('\t')}\n`, 'latin1');
  }

  #endSingleLine(row: Row): void {
    const { place, id, end } = row;
    const lines = this.#lines;
    const size = this.#countAddress(row);
    lines.memory[lines.length++] = tab;
    lines.copy(place, 0, place.byteLength);
    const objects = id + objectsInRow;
    if (this.#hasObjecten && objects < end) {
      lines.length--; // before the last tab of the place
      lines.copy(this.#view, objects, end - objects);
      lines.memory[lines.length++] = tab;
      this.#countObjects(objects, end, size);
    }
    lines.copy(this.#view, id, idWidth);
    lines.memory[lines.length++] = lineEnd;
  }

  #countObjects(start: number, end: number, size: PlaceSize): void {
    const rows = this.#rows;
    const texts: string[] = [];
    for (let at = start, stop = 0; at < end; at = stop + 1) {
      stop = at;
      while (stop < end && rows[stop] !== semicolon) stop++;
      const isOfHoofd = rows[at + objectTextAt.hoofdadres] === ofHoofdadres;
      if (isOfHoofd) this.#derived.objecten++;
      // Nearly every object is a verblijfsobject of its hoofdadres with one gebruiksdoel, whose
      // address alone counts.
      const hasOneUse = rows[stop - 1] === comma || rows[stop - 2] === comma;
      if (rows[at + objectTextAt.type] !== verblijfsobject || !isOfHoofd || !hasOneUse) {
        texts.push(rows.toString('latin1', at, stop));
      }
    }
    if (texts.length === 0) size.withObjects++;
    else {
      addObjects(size, texts);
    }
  }

  /** Counts an address at its place: as `sizesOfAddress`, but for its objects and the names. */
  #countAddress({ start, id, place }: Row): PlaceSize {
    let size = this.#sizes.get(place);
    if (!size) {
      size = noSize();
      this.#sizes.set(place, size);
    }
    size.addresses++;
    if (id - 1 > start + this.#toevoeging) size.toevoegingen++;
    return size;
  }
}

const textOf = ({ buffer, byteOffset, byteLength }: DataView) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
