import { maxToevoegingen } from '../../core/addresses/address-item.ts';
import { placeOfTexts } from '../../core/place-fields.ts';
import type { ObjectsOfAddresses } from './derive-objects.ts';
import { type LineCounts, noLines } from './line-segment.ts';
import type { Line, RowTexts } from './lines.ts';
import { addSizes, isSpecial, type PlaceSize, suffixOf } from './place-sizes.ts';
import { GrowingBytes, hasSameBytes, linesOf } from './stored-form.ts';

/** The positions of an address, its toevoeging and its id in the bytes of lines, and its place. */
type Row = { start: number; toevoeging: number; id: number; place: DataView };
const noRow: Row = { start: 0, toevoeging: 0, id: 0, place: new DataView(new ArrayBuffer(0)) };

const idLength = 16;
const tab = 0x09;
const lineEnd = 0x0a;
const separator = 0x23;
const comma = 0x2c;

/**
 * Joins addresses, one for each object in the order of their keys, to the lines of a snapshot: one per key, with its
 * distinct places and the lists of toevoegingen. Needs all rows of a postcode. The same rows give the same lines,
 * whatever the order of those with one key. Makes strings only of those with one key (decision 0113).
 */
export class RowJoiner {
  readonly #view: DataView;
  readonly #lines = new GrowingBytes();
  readonly #objects: ObjectsOfAddresses | undefined;
  /** The rows of the current postcode and huisnummer, so many of them: objects that are used again. */
  readonly #group: Row[] = [];
  #count = 0;
  rows = 0;
  /** Complete at the end. */
  readonly counts: LineCounts = { ...noLines };
  readonly #sizes = new Map<DataView, PlaceSize>();
  #lastPlace: DataView | undefined;
  #lastSize: PlaceSize = [0, 0, 0, 0];

  /**
   * @param text where the key of each row begins, which a tab and its id follow
   * @param objects what the addresses have of adresseerbare objecten; absent in a dataset without these
   */
  constructor(text: Buffer, objects?: ObjectsOfAddresses) {
    this.#view = new DataView(text.buffer, text.byteOffset, text.length);
    this.#objects = objects;
    this.#lines.reserve(text.length);
  }

  /** @param place the bytes of its `placeText` */
  add(start: number, place: DataView): void {
    let toevoeging = start + 8; // after a postcode and a digit
    while (this.#view.getUint8(toevoeging++) !== separator);
    let id = toevoeging;
    while (this.#view.getUint8(id++) !== tab);
    if (!hasSameBytes(this.#view, (this.#group[0] ?? noRow).start, start, toevoeging - start)) this.#endGroup();
    this.#group[this.#count] ??= { ...noRow };
    const row = this.#group[this.#count++] as Row;
    row.start = start;
    row.toevoeging = toevoeging;
    row.id = id;
    row.place = place;
    this.rows++;
  }

  /** To be called last; returns the lines, in memory of their own. */
  end(): Buffer {
    this.#endGroup();
    const sizes = Array.from(this.#sizes, ([bytes, [count, huisletters, toevoegingen]]): [string, PlaceSize] => {
      const place = placeOfTexts(Buffer.from(textOf(bytes), 'latin1').toString().split('\t'));
      return [place.woonplaats, [count, huisletters, toevoegingen, isSpecial(place) ? count : 0]];
    });
    this.counts.places = addSizes({}, sizes);
    return this.#lines.bytes.subarray(0, Math.max(0, this.#lines.length - 1));
  }

  #endGroup(): void {
    const [lines, count] = [this.#lines, this.#count];
    this.#count = 0;
    for (let at = 0, next = 0; at < count; at = next) {
      const row = this.#group[at] as Row;
      const isBare = row.id === row.toevoeging + 1;
      if (at === 0 && !isBare) {
        lines.copy(this.#view, row.start, row.toevoeging - row.start);
        lines.memory[lines.length++] = tab;
        this.#writeList(count);
        lines.memory[lines.length++] = lineEnd;
        this.counts.lines++;
        this.counts.lists++;
      }
      while (++next < count && this.#hasSameKey(row, this.#group[next] as Row));
      lines.copy(this.#view, row.start, row.id - row.start);
      if (isBare && next < count) this.#writeList(count);
      this.counts.lines++;
      if (next === at + 1) this.#endSingleLine(row);
      else this.#endLine(this.#group.slice(at, next));
    }
  }

  /** Writes the distinct toevoegingen of the group, with commas between them. */
  #writeList(count: number): void {
    let [listed, last] = [0, noRow];
    for (let at = 0; at < count && listed < maxToevoegingen; at++) {
      const row = this.#group[at] as Row;
      if (this.#hasSameKey(last, row)) continue;
      this.#lines.copy(this.#view, row.toevoeging, row.id - row.toevoeging);
      this.#lines.memory[this.#lines.length - 1] = comma;
      listed++;
      last = row;
    }
    this.#lines.length--;
  }

  #hasSameKey(one: Row, other: Row): boolean {
    const length = one.id - one.start;
    return length === other.id - other.start && hasSameBytes(this.#view, one.start, other.start, length);
  }

  /** Writes each place of a key once, with the ids of all objects there. */
  #endLine(rows: readonly Row[]): void {
    const places = [...Map.groupBy(rows, ({ place }) => textOf(place))].map(([place, there]) => {
      this.#countAddress(there[0] as Row);
      const ids = there.map(({ id }) => textOf(this.#view, id, idLength));
      const text = [...new Set(ids)].sort().join(',');
      if (!this.#objects) return place + text;
      const [{ start }] = there as [Row, ...Row[]];
      const objects = this.#objects.textOf(
        this.#view,
        start,
        there.map(({ id }) => id),
      );
      return `${place.slice(0, -1)}${objects}\t${text}`;
    });
    this.#lines.write(`\t${places.sort().join('\t')}\n`, 'latin1');
  }

  /** Counts an address at its place: as `sizeOfAddress`, but for the names. */
  #countAddress({ place, toevoeging, id }: Row): void {
    if (place !== this.#lastPlace) {
      this.#lastPlace = place;
      this.#lastSize = this.#sizes.get(place) ?? [0, 0, 0, 0];
      this.#sizes.set(place, this.#lastSize);
    }
    const suffix = suffixOf(this.#view.getUint8(toevoeging), id - toevoeging - 1);
    this.#lastSize[0]++;
    this.#lastSize[1] += suffix & 1;
    this.#lastSize[2] += suffix >> 1;
  }

  #endSingleLine(row: Row): void {
    const { start, place, id } = row;
    const lines = this.#lines;
    this.#countAddress(row);
    lines.memory[lines.length++] = tab;
    lines.copy(place, 0, place.byteLength);
    if (this.#objects) {
      // Before the last tab of the place.
      lines.length--;
      this.#objects.write(lines, this.#view, start, id);
      lines.reserve(2);
      lines.memory[lines.length++] = tab;
    }
    lines.copy(this.#view, id, idLength);
    lines.memory[lines.length++] = lineEnd;
  }
}

/** The bytes of a `placeText`, and the text of such bytes. */
export const placeBytes = (text: string) => new DataView(new Uint8Array(Buffer.from(text, 'latin1')).buffer);
export const textOf = ({ buffer, byteOffset, byteLength }: DataView, start = 0, length = byteLength) =>
  Buffer.from(buffer, byteOffset + start, length).toString('latin1');

/** The lines of rows in any order. */
export function joinTexts(rows: readonly RowTexts[], objects?: ObjectsOfAddresses): Line[] {
  const sorted = rows.toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)));
  const text = Buffer.from(sorted.map(([key, , id]) => `${key}\t${id}\n`).join(''), 'latin1');
  const joiner = new RowJoiner(text, objects);
  let start = 0;
  for (const [key, place, id] of sorted) {
    joiner.add(start, placeBytes(place));
    start += key.length + id.length + 2;
  }
  return linesOf(joiner.end());
}
