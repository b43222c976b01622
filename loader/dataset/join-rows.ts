import { maxToevoegingen } from '../../core/addresses/address-item.ts';
import { copyBytes } from '../../core/addresses/address-key.ts';
import type { LineCounts } from './line-shard.ts';
import type { Line, RowTexts } from './lines.ts';
import { GrowingBytes, linesOf } from './stored-form.ts';

/** Where an address begins, and its toevoeging and its id, among bytes; and its place. */
type Row = { start: number; toevoeging: number; id: number; place: Buffer };
const noRow: Row = { start: 0, toevoeging: 0, id: 0, place: Buffer.alloc(0) };

const idLength = 16;
const tab = 0x09;
const lineEnd = 0x0a;
const separator = 0x23;

/**
 * Joins addresses, one for each object in the order of their keys, to the lines of a snapshot: one per key, with its
 * distinct places and the lists of toevoegingen. Needs all rows of a postcode. The same rows give the same lines,
 * whatever the order of those with one key. Makes strings only where there are toevoegingen (decision 0186).
 */
export class RowJoiner {
  readonly #text: Buffer;
  readonly #lines = new GrowingBytes();
  /** The rows of the current postcode and huisnummer, so many of them: objects that are used again. */
  readonly #group: Row[] = [];
  #count = 0;
  rows = 0;
  readonly counts: LineCounts = { lines: 0, lists: 0 };

  /** @param text where the key of each row begins, which a tab and its id follow */
  constructor(text: Buffer) {
    this.#text = text;
    this.#lines.reserve(text.length);
  }

  /** @param place the bytes of its `placeText` */
  add(start: number, place: Buffer): void {
    const text = this.#text;
    const first = (this.#group[0] ?? noRow).start;
    let [toevoeging, separators, isSame] = [start, 0, this.#count > 0];
    for (; separators < 2; toevoeging++) {
      if (text[toevoeging] === separator) separators++;
      if (text[toevoeging] !== text[first + toevoeging - start]) isSame = false;
    }
    let id = toevoeging;
    while (text[id++] !== tab);
    if (!isSame) this.#endGroup();
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
    return this.#lines.bytes.subarray(0, Math.max(0, this.#lines.length - 1));
  }

  #endGroup(): void {
    const [lines, count, first] = [this.#lines, this.#count, this.#group[0] as Row];
    this.#count = 0;
    if (count === 0) return;
    if (count === 1 && first.id === first.toevoeging + 1) {
      const length = first.id - first.start;
      lines.reserve(length);
      lines.length = copyBytes(this.#text, first.start, length, lines.memory, lines.length);
      this.#endSingleLine(first);
    } else this.#writeGroup(this.#textAt(first.start, first.toevoeging), this.#group.slice(0, count));
  }

  #writeGroup(group: string, all: readonly Row[]): void {
    const byToevoeging = Map.groupBy(all, ({ toevoeging, id }) => this.#textAt(toevoeging, id - 1));
    const isAlone = byToevoeging.size === 1 && byToevoeging.has('');
    const list = isAlone ? '' : [...byToevoeging.keys()].slice(0, maxToevoegingen).join(',');
    if (!byToevoeging.has('')) {
      this.#lines.write(`${group}\t${list}\n`, 'latin1');
      this.counts.lines++;
      this.counts.lists++;
    }
    for (const [toevoeging, rows] of byToevoeging) {
      this.#lines.write(`${group}${toevoeging}\t${toevoeging === '' ? list : ''}`, 'latin1');
      this.#endLine(rows);
    }
  }

  /** Writes each place of a key once, with the ids of all objects there. */
  #endLine(rows: readonly Row[]): void {
    if (rows.length === 1) {
      this.#endSingleLine(rows[0] as Row);
      return;
    }
    this.counts.lines++;
    const places = [...Map.groupBy(rows, ({ place }) => place.toString('latin1'))].map(([place, there]) => {
      const ids = there.map(({ id }) => this.#textAt(id, id + idLength));
      return place + [...new Set(ids)].sort().join(',');
    });
    this.#lines.write(`\t${places.sort().join('\t')}\n`, 'latin1');
  }

  #endSingleLine({ place, id }: Row): void {
    const lines = this.#lines;
    this.counts.lines++;
    lines.reserve(place.length + idLength + 2);
    lines.memory[lines.length++] = tab;
    lines.length = copyBytes(place, 0, place.length, lines.memory, lines.length);
    lines.length = copyBytes(this.#text, id, idLength, lines.memory, lines.length);
    lines.memory[lines.length++] = lineEnd;
  }

  #textAt(start: number, end: number): string {
    return this.#text.toString('latin1', start, end);
  }
}

/** The lines of rows in any order. */
export function joinTexts(rows: readonly RowTexts[]): Line[] {
  const sorted = rows.toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)));
  const text = Buffer.from(sorted.map(([key, , id]) => `${key}\t${id}\n`).join(''), 'latin1');
  const joiner = new RowJoiner(text);
  let start = 0;
  for (const [key, place, id] of sorted) {
    joiner.add(start, Buffer.from(place, 'latin1'));
    start += key.length + id.length + 2;
  }
  return linesOf(joiner.end());
}
