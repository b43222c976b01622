import type { Nummeraanduiding } from './voorkomen.ts';

/** The position of a missing value. */
export const absent = -1;

/**
 * A nummeraanduiding by the positions of its values in `bytes`, which are ASCII; positions in a file are valid only
 * during a visit. Nearly all are copied as bytes, because strings took a fifth longer.
 */
export class NumBytes {
  bytes: Buffer = Buffer.alloc(0);
  view = new DataView(this.bytes.buffer);
  huisnummer = 0;
  identificatie = 0;
  huisletter = absent;
  toevoeging = absent;
  toevoegingEnd = absent;
  postcode = absent;
  openbareRuimte = 0;
  woonplaats = absent;

  static of(num: Nummeraanduiding): NumBytes {
    const found = new NumBytes();
    let text = '';
    const add = (value: string | null) => {
      text += value ?? '';
      return value ? text.length - value.length : absent;
    };
    found.huisnummer = num.huisnummer;
    found.identificatie = add(num.identificatie);
    found.huisletter = add(num.huisletter);
    found.toevoeging = add(num.huisnummertoevoeging);
    found.toevoegingEnd = text.length;
    found.postcode = add(num.postcode);
    found.openbareRuimte = add(num.openbareRuimte);
    found.woonplaats = add(num.woonplaats);
    found.bytes = Buffer.from(text, 'latin1');
    found.view = new DataView(found.bytes.buffer, found.bytes.byteOffset, found.bytes.length);
    return found;
  }

  values(): Nummeraanduiding {
    return {
      identificatie: this.#text(this.identificatie, 16),
      huisnummer: this.huisnummer,
      huisletter: this.#text(this.huisletter, 1),
      huisnummertoevoeging: this.#text(this.toevoeging, this.toevoegingEnd - this.toevoeging),
      postcode: this.#text(this.postcode, 6) || null,
      openbareRuimte: this.#text(this.openbareRuimte, 16),
      woonplaats: this.#text(this.woonplaats, 4) || null,
    };
  }

  #text(start: number, length: number): string {
    return start === absent ? '' : this.bytes.toString('latin1', start, start + length);
  }
}
