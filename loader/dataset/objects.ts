import {
  addressKey,
  keyParts,
  longestAddressKey,
  writeAddressKey,
  writeNumber,
} from '../../core/addresses/address-key.ts';
import { absent, type NumBytes } from '../bag/num-bytes.ts';
import { type AnyVoorkomen, dayOf, type NumVoorkomen, type Span } from '../bag/voorkomen.ts';
import { copyId, dayAt, dayDigits, dayWidth, fixedText, writeDay } from './fields.ts';
import type { Line } from './lines.ts';
import type { GrowingBytes } from './stored-form.ts';

/**
 * The object layer of a snapshot: every occurrence of a nummeraanduiding that counts on the peildatum or may count
 * later. Its address rows are derived from it, from the streets and places, and from a date alone. So a mutation
 * changes a few occurrences, and a later date changes none.
 *
 * An occurrence is one line, stored with the addresses of the first three digits of its postcode. After the key and a
 * tab all fields have a fixed width:
 *
 *     1381AA#9#A<tab>0457200000201234 20100929 99999999 0457300000000035 3631 . 1
 *                    identificatie    begin    eind     openbare ruimte  wpl  s volgnummer     (without the spaces)
 *
 * `eind` is `99999999` for none, `wpl` four dots for none, and `s` is `*` for an object with several occurrences here,
 * else a dot. An object whose occurrences have different postcodes is stored whole with each of them: those that belong
 * elsewhere have a `~` before their key. So each part of the layer can decide alone which occurrence counts.
 */
export type ObjectLine = Line;

/** Before the key of an occurrence that belongs to another part. */
export const elsewhere = '~';
/** The place of an occurrence without one of its own. */
export const noPlace = '....';
const idWidth = 16;
const placeWidth = noPlace.length;
const idAt = 1;
const beginAt = idAt + idWidth;
const eindAt = beginAt + dayWidth;
const streetAt = eindAt + dayWidth;
const placeAt = streetAt + idWidth;
const severalAt = placeAt + placeWidth;
const volgnummerAt = severalAt + 1;

/** The offsets of the fields of a line, counted from its tab. */
export const fieldsAt = {
  identificatie: idAt,
  begin: beginAt,
  eind: eindAt,
  street: streetAt,
  place: placeAt,
  several: severalAt,
  volgnummer: volgnummerAt,
};

/** The layout of a line for finding it; what it refers to is its street. */
export const objectLayout = { ...fieldsAt, reference: streetAt, least: volgnummerAt };

/** The part of the layer that an occurrence without postcode belongs to; all others are `100` to `999`. */
export const withoutPostcode = '000';

/** The part of the layer that an occurrence belongs to: the first three digits of its postcode. */
export function partOf({ postcode }: Pick<NumVoorkomen, 'postcode'>): string {
  return postcode?.slice(0, 3) ?? withoutPostcode;
}

/** An upper bound on the bytes of one line. */
export const longestSingleLine = longestAddressKey + volgnummerAt + 16;

/** Appends the line of an object's only current or future occurrence; `longestSingleLine` bytes must be reserved. */
export function writeSingleLine(lines: GrowingBytes, num: NumBytes, { begin, eind, volgnummer }: Span): void {
  const { memory, view } = lines;
  const at = writeAddressKey(memory, lines.length, num);
  memory[at] = tab;
  copyId(num.view, num.identificatie, view, at + idAt);
  writeDay(memory, at + beginAt, begin);
  writeDay(memory, at + eindAt, eind);
  copyId(num.view, num.openbareRuimte, view, at + streetAt);
  view.setInt32(at + placeAt, num.woonplaats === absent ? fourDots : num.view.getInt32(num.woonplaats));
  memory[at + severalAt] = dot;
  lines.length = writeNumber(memory, at + volgnummerAt, volgnummer);
}

const tab = 0x09;
const dot = 0x2e;
const fourDots = 0x2e2e2e2e;

/** The lines of one object by the part that each is stored with, without what ended by `peildatum`. */
export function objectLines(occurrences: readonly NumVoorkomen[], peildatum: string): Map<string, ObjectLine[]> {
  const day = dayOf(peildatum);
  const kept = occurrences.filter(({ eind }) => eind > day);
  const flag = kept.length > 1 ? '*' : '.';
  const lines = new Map<string, ObjectLine[]>();
  for (const part of new Set(kept.map(partOf))) {
    lines.set(
      part,
      kept.map((occurrence) => `${partOf(occurrence) === part ? '' : elsewhere}${lineOf(occurrence, flag)}`),
    );
  }
  return lines;
}

/** The lines of a part without what ended by `peildatum`: of each object as `objectLines` gives them for that date. */
export function withoutEnded(part: string, lines: ObjectLine[], peildatum: string): ObjectLine[] {
  const day = dayOf(peildatum);
  const ending = new Set<string>();
  for (const line of lines) {
    const at = line.indexOf('\t');
    if (dayAt(line, at + eindAt) <= day) ending.add(identificatieOf(line));
  }
  if (ending.size === 0) return lines;
  const [objects, kept] = [new Map<string, NumVoorkomen[]>(), [] as ObjectLine[]];
  for (const line of lines) {
    const id = identificatieOf(line);
    if (ending.has(id)) objects.set(id, [...(objects.get(id) ?? []), parseObjectLine(line)]);
    else kept.push(line);
  }
  for (const occurrences of objects.values()) kept.push(...(objectLines(occurrences, peildatum).get(part) ?? []));
  return kept.sort();
}

/** The key that the line of an occurrence begins with. */
export function keyOfNum({
  postcode,
  huisnummer,
  huisletter,
  huisnummertoevoeging,
}: Omit<NumVoorkomen, 'kind'>): string {
  return addressKey({ postcode: postcode ?? '', huisnummer, toevoeging: huisletter + huisnummertoevoeging });
}

function lineOf(num: Omit<NumVoorkomen, 'kind'>, flag: string): ObjectLine {
  const key = keyOfNum(num);
  const [id, street] = [fixedText(num.identificatie, idWidth), fixedText(num.openbareRuimte, idWidth)];
  const place = fixedText(num.woonplaats ?? noPlace, placeWidth);
  return `${key}\t${id}${dayDigits(num.begin)}${dayDigits(num.eind)}${street}${place}${flag}${num.volgnummer}`;
}

/** The occurrence of a line. The toevoeging is in upper case, and no longer divided into its two parts. */
export function parseObjectLine(line: ObjectLine): NumVoorkomen {
  const start = line.startsWith(elsewhere) ? 1 : 0;
  const at = line.indexOf('\t');
  const { postcode, huisnummer, toevoeging } = keyParts(line.slice(start, at));
  const place = line.slice(at + placeAt, at + severalAt);
  return {
    kind: 'NUM',
    identificatie: line.slice(at + idAt, at + beginAt),
    volgnummer: Number(line.slice(at + volgnummerAt)),
    begin: Number(line.slice(at + beginAt, at + eindAt)),
    eind: Number(line.slice(at + eindAt, at + streetAt)),
    postcode: postcode || null,
    huisnummer,
    huisletter: '',
    huisnummertoevoeging: toevoeging,
    openbareRuimte: line.slice(at + streetAt, at + placeAt),
    woonplaats: place === noPlace ? null : place,
  };
}

/** The identification of the nummeraanduiding of a line. */
export function identificatieOf(line: ObjectLine): string {
  const at = line.indexOf('\t') + idAt;
  return line.slice(at, at + idWidth);
}

/** The street that the nummeraanduiding of a line lies on, and its own place (`....` for none). */
export function referencesOf(line: ObjectLine): { street: string; place: string } {
  const at = line.indexOf('\t');
  return { street: line.slice(at + streetAt, at + placeAt), place: line.slice(at + placeAt, at + severalAt) };
}

/** Whether two occurrences are the same as far as addresses are concerned. */
export function isSameVoorkomen(a: AnyVoorkomen, b: AnyVoorkomen): boolean {
  if (a.kind === 'NUM' && b.kind === 'NUM') return lineOf(a, '.') === lineOf(b, '.');
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

function ordered(voorkomen: AnyVoorkomen): [string, unknown][] {
  return Object.entries(voorkomen).sort(([a], [b]) => (a < b ? -1 : 1));
}
