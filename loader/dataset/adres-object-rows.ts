import type { AdresseerbaarVoorkomen } from '../bag/voorkomen.ts';
import { keylessLines } from './adres-objects.ts';
import { bucketOf, LinesByNumber } from './object-rows.ts';
import type { ByteRanges } from './stored-form.ts';

/**
 * The lines of adresseerbare objecten that one worker reads, without keys, in the buckets of the nummeraanduidingen
 * that they name: `join` gives them the keys. Occurrences are grouped as they come, as those of nummeraanduidingen are.
 */
export class AdresObjectRows {
  readonly #peildatum: string;
  readonly #buckets: number;
  readonly #lines = new LinesByNumber();
  #current: AdresseerbaarVoorkomen[] = [];
  #first: AdresseerbaarVoorkomen[] | undefined;
  #isSorted = true;
  count = 0;

  constructor(peildatum: string, buckets: number) {
    this.#peildatum = peildatum;
    this.#buckets = buckets;
  }

  /** Adds an occurrence that counts on the date or later. */
  add(occurrence: AdresseerbaarVoorkomen): void {
    const last = this.#current[0]?.identificatie ?? '';
    if (occurrence.identificatie !== last) {
      if (occurrence.identificatie < last) this.#isSorted = false;
      this.#endObject();
      this.#current = [];
    }
    this.#current.push(occurrence);
  }

  /** To be called after the last occurrence: those of the first and of the last object. */
  end(): { edges: AdresseerbaarVoorkomen[][]; isSorted: boolean } {
    const isOnly = this.#first === undefined;
    this.#endObject();
    return { edges: isOnly ? [this.#current] : [this.#first ?? [], this.#current], isSorted: this.#isSorted };
  }

  pack(): { packed: Buffer[]; ranges: ByteRanges } {
    return this.#lines.pack();
  }

  #endObject(): void {
    if (this.#current.length === 0) return;
    this.#first ??= this.#current;
    for (const [num, lines] of keylessLines(this.#current, this.#peildatum)) {
      for (const line of lines) this.#lines.write(bucketOf(num, this.#buckets), line);
      this.count += lines.length;
    }
  }
}
