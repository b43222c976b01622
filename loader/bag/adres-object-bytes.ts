import { adresObjectOfText, adresObjectText } from '../../core/adres-object.ts';
import { absent } from './num-bytes.ts';
import type { AdresseerbaarObject } from './voorkomen.ts';

const idLength = 16;
const typeAt = 2 * idLength;
const locatieAt = typeAt + '-g1,'.length;

/**
 * An adresseerbaar object by the positions of its values in `bytes`, which are ASCII; positions in a file are valid
 * only during a visit. Numbers are in their shortest form. Type, status and gebruiksdoelen are the letters of
 * `core/adres-object.ts`.
 */
export class AdresObjectBytes {
  bytes: Buffer = Buffer.alloc(0);
  view = new DataView(this.bytes.buffer);
  identificatie = 0;
  hoofdadres = 0;
  /** Character codes. */
  type = 0;
  status = 0;
  /** Each from its start until its end; only a verblijfsobject has an oppervlakte. */
  x = 0;
  xEnd = 0;
  y = 0;
  yEnd = 0;
  oppervlakte = absent;
  oppervlakteEnd = 0;
  gebruiksdoelen = '';
  /** Sorted; most have none. */
  nevenadressen: readonly string[] = [];

  /** Copies the values of an object into bytes. */
  static of(object: AdresseerbaarObject): AdresObjectBytes {
    const { hoofdadres, nevenadressen, ...rest } = object;
    const text = hoofdadres + adresObjectText({ ...rest, hoofdadres: true });
    const found = new AdresObjectBytes();
    found.identificatie = idLength;
    found.type = text.charCodeAt(typeAt);
    found.status = text.charCodeAt(typeAt + 1);
    found.x = locatieAt;
    found.xEnd = text.indexOf(',', found.x);
    found.y = found.xEnd + 1;
    const isVerblijfsobject = rest.oppervlakte !== undefined;
    found.yEnd = isVerblijfsobject ? text.indexOf(',', found.y) : text.length;
    if (isVerblijfsobject) {
      found.oppervlakte = found.yEnd + 1;
      found.oppervlakteEnd = text.indexOf(',', found.oppervlakte);
      found.gebruiksdoelen = text.slice(found.oppervlakteEnd + 1);
    }
    found.nevenadressen = nevenadressen;
    found.bytes = Buffer.from(text, 'latin1');
    found.view = new DataView(found.bytes.buffer, found.bytes.byteOffset, found.bytes.length);
    return found;
  }

  /** The values as strings and numbers. */
  values(): AdresseerbaarObject {
    const text = (start: number, end: number) => this.bytes.toString('latin1', start, end);
    const of = (start: number) => text(start, start + idLength);
    const letters = String.fromCharCode(this.type, this.status);
    const locatie = `${text(this.x, this.xEnd)},${text(this.y, this.yEnd)}`;
    const rest =
      this.oppervlakte === absent ? '' : `,${text(this.oppervlakte, this.oppervlakteEnd)},${this.gebruiksdoelen}`;
    const { hoofdadres: _, ...object } = adresObjectOfText(`${of(this.identificatie)}${letters}1,${locatie}${rest}`);
    return { ...object, hoofdadres: of(this.hoofdadres), nevenadressen: [...this.nevenadressen] };
  }
}
