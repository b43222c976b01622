import { adresObjectOfText, adresObjectText } from '../../core/adres-object.ts';
import type { AdresObjectBytes } from '../bag/adres-object-bytes.ts';
import { absent } from '../bag/num-bytes.ts';
import { type AdresseerbaarVoorkomen, dayOf, type Span } from '../bag/voorkomen.ts';
import { copyId, dayAt, dayDigits, dayWidth, fixedText, numberText, writeDay, writeFixedNumber } from './fields.ts';
import type { Line } from './lines.ts';
import type { LineLayout } from './named-objects.ts';
import { partOf, withoutPostcode } from './objects.ts';
import type { GrowingBytes } from './stored-form.ts';

/**
 * The adresseerbare objecten of a snapshot, which only a dataset with objects has: every occurrence of a
 * verblijfsobject, ligplaats or standplaats that counts on the peildatum or may count later.
 *
 * An occurrence is a line for each nummeraanduiding that its object names and each key of that, stored in the part of
 * that key: so the objects of an address are where the address is, whatever their identificaties are. A
 * nummeraanduiding that is not there has the key `#0457200000201234#`, in part `000`.
 *
 *     1381AA#9#A<tab>0457200000201234 . 20100929 99999999 00001 0457010000012345Vg1,131234.5,480123.4,85,w<tab>0457...
 *                    nummeraanduiding s begin    eind     volgnr what the address has of it (without the spaces)
 *
 * `s` is `*` for an object with several occurrences here, else a dot. The text is that of `core/adres-object.ts`, but
 * that an occurrence which does not name the nummeraanduiding, as another one of its object does, has a `-` where that
 * says whether it is the hoofdadres. What follows the second tab are the other addresses of the occurrence, the
 * hoofdadres first.
 */
export type AdresObjectLine = Line;

/** A line without its key, and the tab after that. */
export type KeylessLine = string;

const kinds = { verblijfsobject: 'VBO', ligplaats: 'LIG', standplaats: 'STA' } as const;

const idWidth = 16;
const severalAt = 1 + idWidth;
const beginAt = severalAt + 1;
const eindAt = beginAt + dayWidth;
const volgnummerAt = eindAt + dayWidth;
const volgnummerWidth = 5;
const textAt = volgnummerAt + volgnummerWidth;
/** Where a text says whether its address is the hoofdadres. */
export const roleInText = idWidth + 2;
const [hoofdadres, nevenadres, otherAddress] = ['1', '0', '-'];

/** Whether a text is of an object at its hoofdadres. */
export const isOfHoofdadres = (text: string) => text.charAt(roleInText) === hoofdadres;

/** The offsets of the fields of a line, counted from its tab; what a line refers to is its nummeraanduiding. */
export const adresObjectLayout = {
  reference: 1,
  several: severalAt,
  begin: beginAt,
  eind: eindAt,
  text: textAt,
  identificatie: textAt,
  role: textAt + roleInText,
  least: textAt + roleInText,
} satisfies LineLayout & Record<string, number>;

/** The key of lines whose nummeraanduiding is not there. */
export const keyOfMissing = (num: string) => `#${num}#`;
const missingKeyLength = idWidth + 2;
/** What a key without a postcode begins with. */
const separator = 0x23;

/** Whether the key of a line is one of `keyOfMissing`: without postcode, others are shorter. */
export function isMissingKey(line: Line): boolean {
  return line.charCodeAt(0) === separator && line.indexOf('\t') === missingKeyLength;
}

/** The part that a key of the layer belongs to. */
export function partOfKey(key: string): string {
  return key.charCodeAt(0) === separator ? withoutPostcode : partOf({ postcode: key });
}

/** The nummeraanduidingen that an occurrence names: its hoofdadres, then its nevenadressen. */
export function addressesOf({ hoofdadres, nevenadressen }: AdresseerbaarVoorkomen): string[] {
  return [hoofdadres, ...nevenadressen];
}

/** The nummeraanduidingen that an occurrence of any kind names as its addresses. */
export function numKeysOf(one: object | null): string[] {
  return one && 'hoofdadres' in one ? addressesOf(one as AdresseerbaarVoorkomen).map((num) => `NUM ${num}`) : [];
}

/** The keyless lines of one object that end after `peildatum`, by the nummeraanduiding that they are stored with. */
export function keylessLines(
  occurrences: readonly AdresseerbaarVoorkomen[],
  peildatum: string,
): Map<string, KeylessLine[]> {
  const day = dayOf(peildatum);
  const [only] = occurrences;
  // Fast path: nearly every object has one occurrence and one address.
  if (only && occurrences.length === 1 && only.eind > day && only.nevenadressen.length === 0) {
    return new Map([[only.hoofdadres, [keylessLine(only, only.hoofdadres, '.')]]]);
  }
  const kept = occurrences.filter(({ eind }) => eind > day);
  const flag = kept.length > 1 ? '*' : '.';
  const nums = new Set(kept.flatMap(addressesOf));
  return new Map(Array.from(nums, (num) => [num, kept.map((one) => keylessLine(one, num, flag))]));
}

function keylessLine(one: AdresseerbaarVoorkomen, num: string, flag: string): KeylessLine {
  const { begin, eind, volgnummer, nevenadressen } = one;
  const role = num === one.hoofdadres ? hoofdadres : nevenadressen.includes(num) ? nevenadres : otherAddress;
  const text = adresObjectText({ ...one, hoofdadres: true });
  const others =
    role === hoofdadres
      ? nevenadressen.join(',')
      : addressesOf(one)
          .filter((id) => id !== num)
          .join(',');
  const head = `${fixedText(num, idWidth)}${flag}${dayDigits(begin)}${dayDigits(eind)}${numberText(volgnummer, volgnummerWidth)}`;
  const line = `${head}${text.slice(0, roleInText)}${role}${text.slice(roleInText + 1)}`;
  return others === '' ? line : `${line}\t${others}`;
}

/** An upper bound on the bytes of what `writeKeylessLine` writes: three numbers of 16 digits, 11 gebruiksdoelen. */
export const longestKeylessLine = textAt + roleInText + 80;

/** Appends the only line of an object without nevenadres; `longestKeylessLine` bytes must be reserved. */
export function writeKeylessLine(
  lines: GrowingBytes,
  object: AdresObjectBytes,
  { begin, eind, volgnummer }: Span,
): void {
  const { memory, view } = lines;
  const start = lines.length - 1; // the offsets are those after a tab
  copyId(object.view, object.hoofdadres, view, start + 1);
  memory[start + severalAt] = dot;
  writeDay(memory, start + beginAt, begin);
  writeDay(memory, start + eindAt, eind);
  writeFixedNumber(memory, start + volgnummerAt, volgnummer, volgnummerWidth);
  copyId(object.view, object.identificatie, view, start + textAt);
  let at = start + textAt + idWidth;
  memory[at++] = object.type;
  memory[at++] = object.status;
  memory[at++] = ofHoofdadres;
  const copy = (from: number, to: number) => {
    memory[at++] = comma;
    for (let i = from; i < to; i++) memory[at++] = object.bytes[i] as number;
  };
  copy(object.x, object.xEnd);
  copy(object.y, object.yEnd);
  if (object.oppervlakte !== absent) {
    copy(object.oppervlakte, object.oppervlakteEnd);
    memory[at++] = comma;
    for (let i = 0; i < object.gebruiksdoelen.length; i++) memory[at++] = object.gebruiksdoelen.charCodeAt(i);
  }
  lines.length = at;
}

const dot = 0x2e;
const comma = 0x2c;
const ofHoofdadres = hoofdadres.charCodeAt(0);

/** The lines of one object by part. @param keysOf the keys of a nummeraanduiding: none where it is not there */
export function adresObjectLines(
  occurrences: readonly AdresseerbaarVoorkomen[],
  peildatum: string,
  keysOf: (num: string) => Iterable<string>,
): Map<string, AdresObjectLine[]> {
  const lines = new Map<string, AdresObjectLine[]>();
  for (const [num, ofNum] of keylessLines(occurrences, peildatum)) {
    for (const [part, ofPart] of withKeys(num, ofNum, keysOf)) {
      lines.set(part, [...(lines.get(part) ?? []), ...ofPart]);
    }
  }
  return lines;
}

/** Keyless lines of one nummeraanduiding under its keys, by part. */
export function* withKeys(
  num: string,
  lines: readonly KeylessLine[],
  keysOf: (num: string) => Iterable<string>,
): Generator<[part: string, lines: AdresObjectLine[]]> {
  const keys = [...keysOf(num)];
  for (const key of keys.length > 0 ? keys : [keyOfMissing(num)]) {
    yield [partOfKey(key), lines.map((line) => `${key}\t${line}`)];
  }
}

/** The line without its key. */
export function keylessOf(line: AdresObjectLine): KeylessLine {
  return line.slice(line.indexOf('\t') + 1);
}

/** The nummeraanduiding that a line without its key is stored with, and the identificatie of its object. */
export const numOf = (line: KeylessLine) => line.slice(0, idWidth);
export const objectIdAt = textAt - 1;
export const objectIdOf = (line: KeylessLine) => line.slice(objectIdAt, objectIdAt + idWidth);

/** What an address has of an object by a line of it that counts. */
export function textOfLine(line: AdresObjectLine): string {
  const start = line.indexOf('\t') + textAt;
  const end = line.indexOf('\t', start);
  return end < 0 ? line.slice(start) : line.slice(start, end);
}

/** The occurrence of a line. */
export function parseAdresObjectLine(line: AdresObjectLine): AdresseerbaarVoorkomen {
  const at = line.indexOf('\t');
  const num = line.slice(at + 1, at + severalAt);
  const { hoofdadres: _, ...object } = adresObjectOfText(textOfLine(line));
  const otherAt = line.indexOf('\t', at + textAt);
  const others = otherAt < 0 ? [] : line.slice(otherAt + 1).split(',');
  const role = line.charAt(at + adresObjectLayout.role);
  const [first = num, ...neven] = role === hoofdadres ? [num, ...others] : others;
  return {
    kind: kinds[object.type],
    ...object,
    hoofdadres: first,
    nevenadressen: (role === nevenadres ? [...neven, num] : neven).sort(),
    volgnummer: Number(line.slice(at + volgnummerAt, at + textAt)),
    begin: dayAt(line, at + beginAt),
    eind: dayAt(line, at + eindAt),
  };
}

/** Orders lines of one object with one nummeraanduiding: the last to begin first, then the highest number. */
export function lastToBegin(a: AdresObjectLine, b: AdresObjectLine): number {
  const [at, other] = [a.indexOf('\t'), b.indexOf('\t')];
  const byBegin = dayAt(b, other + beginAt) - dayAt(a, at + beginAt);
  return (
    byBegin ||
    Number(b.slice(other + volgnummerAt, other + textAt)) - Number(a.slice(at + volgnummerAt, at + textAt)) ||
    (a < b ? 1 : -1)
  );
}

/** What the lines of one object with one key and one nummeraanduiding have in common. */
export function groupOf(line: AdresObjectLine): string {
  const at = line.indexOf('\t');
  return line.slice(0, at + severalAt) + line.slice(at + textAt, at + textAt + idWidth);
}
