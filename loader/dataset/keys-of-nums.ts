import { hasSameBytes } from './stored-form.ts';

const lineEnd = 0x0a;
const idLength = 16;

/**
 * The keys of nummeraanduidingen by identificatie, without a string for any: a bucket has 200,000. It is made of lines
 * of an identificatie and a key, of which an identificatie may have several.
 */
export class KeysOfNums {
  readonly #view: DataView;
  /** A table with open addressing: one more than where a line begins, or 0. */
  readonly #starts: Uint32Array;

  constructor(lines: Buffer) {
    this.#view = new DataView(lines.buffer, lines.byteOffset, lines.length);
    let count = 0;
    for (let at = 0; at >= 0; count++) at = lines.indexOf(lineEnd, at + 1);
    this.#starts = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 1)));
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      end = this.#endOf(start);
      let slot = this.#slotOf(this.#view, start);
      while (this.#starts[slot] && !this.#isSame((this.#starts[slot] as number) - 1, start, end))
        slot = this.#after(slot);
      this.#starts[slot] = start + 1;
    }
  }

  /** Calls `visit` with each key of the nummeraanduiding whose identificatie is at `id`; returns their number. */
  each(view: DataView, id: number, visit: (keys: DataView, start: number, end: number) => void): number {
    let found = 0;
    for (let slot = this.#slotOf(view, id); this.#starts[slot]; slot = this.#after(slot)) {
      const start = (this.#starts[slot] as number) - 1;
      let i = 0;
      while (i < idLength && view.getInt32(id + i) === this.#view.getInt32(start + i)) i += 4;
      if (i < idLength) continue;
      visit(this.#view, start + idLength, this.#endOf(start));
      found++;
    }
    return found;
  }

  #isSame(other: number, start: number, end: number): boolean {
    return this.#endOf(other) - other === end - start && hasSameBytes(this.#view, start, other, end - start);
  }

  #endOf(start: number): number {
    let end = start + idLength;
    while (end < this.#view.byteLength && this.#view.getUint8(end) !== lineEnd) end++;
    return end;
  }

  #after(slot: number): number {
    return (slot + 1) & (this.#starts.length - 1);
  }

  #slotOf(view: DataView, id: number): number {
    let hash = 0;
    for (let i = 0; i < idLength; i += 4) hash = Math.imul(hash ^ view.getInt32(id + i), 0x9e3779b1);
    return (hash ^ (hash >>> 15)) & (this.#starts.length - 1);
  }
}
