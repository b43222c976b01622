/**
 * The records of the register: how nummeraanduidingen and adresseerbare objecten are stored and
 * read.
 */

import { addressKey, keyParts } from '../../core/addresses/address-key.ts';
import {
  adresObjectOfText,
  adresObjectTexts,
  gebruiksdoelText,
  objectTextAt,
  statusLetter,
} from '../../core/adres-object.ts';
import { type CanonicalStand, fieldIndexes } from '../bag/canonical-stand.ts';
import type { ObjectenKind } from '../bag/elements.ts';
import type { AdresseerbaarVoorkomen, AnyVoorkomen, NumVoorkomen } from '../bag/voorkomen.ts';
import {
  comma,
  copyId,
  dayDigits,
  dayIn,
  fixedText,
  idWidth,
  lineEnd,
  nameLayout,
  numLayout,
  objectRowLayout,
  occurrenceLayout,
  placeIdWidth,
  separator,
  tab,
  zero,
} from './layouts.ts';
import type { GrowingBytes } from './stored-form.ts';

/**
 * An object is one record, with every occurrence that counts on the peildatum or may count later. A
 * record is a line of ASCII: the letter of its kind and its identificatie, then each occurrence
 * after a tab. An occurrence has its begin and eind, its number up to a colon, and its values. A
 * nummeraanduiding has its openbare ruimte, its own woonplaats (four dots for none) and its address
 * key; an adresseerbaar object has the nummeraanduidingen that it names, the hoofdadres first, and
 * after another colon the rest of the text of `core/adres-object.ts`:
 *     N0457200000201234<tab>20100929 99999999 1:0457300000000035 3631 1381AA#9#A
 *     V0457010000012345<tab>20100929 99999999
 *     1:0457200000201234,0457200000201235:g,131234.5,480123.4,85,w
 *
 * (without the spaces). Workers write the same form, with a line for each occurrence.
 */
export type RecordLine = string;

type RecordKind = 'NUM' | ObjectenKind;
export type RegisterVoorkomen = NumVoorkomen | AdresseerbaarVoorkomen;

const letters = { NUM: 'N', VBO: 'V', LIG: 'L', STA: 'S' } as const satisfies Record<
  RecordKind,
  string
>;

const { identificatie: idAt } = nameLayout.at;
const { begin: beginAt, eind: eindAt } = occurrenceLayout.at;
const numberAt = occurrenceLayout.length;
const { openbareRuimte: streetAt, woonplaats: placeAt } = numLayout.at;
const keyAt = numLayout.length;
/** A nummeraanduiding without a woonplaats of its own. */
const noPlace = '.'.repeat(placeIdWidth);

const colon = 0x3a;
const nine = 0x39;

/** The only form of stored records that can be read. */
export const recordForm = 'records 1';

/** The name of an object, unique among all kinds: `N0457200000201234`. */
export function recordName(kind: RecordKind, identificatie: string): string {
  return letters[kind] + fixedText(identificatie, idWidth);
}

export const isRecordKind = (kind: string): kind is RecordKind => kind in letters;

/** The record of an object with these occurrences, in the order of their dates. */
export function recordOf(
  kind: RecordKind,
  identificatie: string,
  voorkomens: readonly RegisterVoorkomen[],
): RecordLine {
  return [recordName(kind, identificatie), ...voorkomens.map(occurrenceText).sort()].join('\t');
}

/** The line of an occurrence that a worker read, with its line end. */
export function occurrenceLine(voorkomen: RegisterVoorkomen): string {
  return `${recordName(voorkomen.kind, voorkomen.identificatie)}\t${occurrenceText(voorkomen)}\n`;
}

function occurrenceText(voorkomen: RegisterVoorkomen): string {
  return `${dayDigits(voorkomen.begin)}${dayDigits(voorkomen.eind)}${voorkomen.volgnummer}:${voorkomen.kind === 'NUM' ? numText(voorkomen) : objectText(voorkomen)}`;
}

function numText(num: NumVoorkomen): string {
  return (
    fixedText(num.openbareRuimte, idWidth) +
    fixedText(num.woonplaats ?? noPlace, placeIdWidth) +
    keyOfNum(num)
  );
}

function objectText(object: AdresseerbaarVoorkomen): string {
  const [status, rest] = adresObjectTexts(object);
  const others = object.nevenadressen.map((num) => `,${num}`).join('');
  return `${object.hoofdadres}${others}:${status}${rest}`;
}

/**
 * The occurrences of a record. A toevoeging is in upper case, and no longer divided into its two
 * parts.
 */
export function parseRecord(record: RecordLine): RegisterVoorkomen[] {
  const [name = '', ...texts] = record.split('\t');
  const kind = Object.keys(letters).find(
    (known) => isRecordKind(known) && letters[known] === name.charAt(0),
  ) as RecordKind;
  return texts.map((text) => parseOccurrence(kind, name.slice(1), text));
}

function parseOccurrence(kind: RecordKind, identificatie: string, text: string): RegisterVoorkomen {
  const valuesAt = text.indexOf(':') + 1;
  const span = {
    volgnummer: Number(text.slice(numberAt, valuesAt - 1)),
    begin: Number(text.slice(beginAt, eindAt)),
    eind: Number(text.slice(eindAt, numberAt)),
  };
  const values = text.slice(valuesAt);
  if (kind === 'NUM') {
    const { postcode, huisnummer, toevoeging } = keyParts(values.slice(keyAt));
    const place = values.slice(placeAt, keyAt);
    return {
      kind,
      identificatie,
      ...span,
      postcode: postcode || null,
      huisnummer,
      huisletter: '',
      huisnummertoevoeging: toevoeging,
      openbareRuimte: values.slice(streetAt, placeAt),
      woonplaats: place === noPlace ? null : place,
    };
  }
  const restAt = values.indexOf(':') + 1;
  const [hoofdadres = '', ...nevenadressen] = values.slice(0, restAt - 1).split(',');
  const rest = values.slice(restAt);
  const whole = `${identificatie}${letters[kind]}${rest.charAt(0)}1${rest.slice(1)}`;
  const { hoofdadres: _, ...object } = adresObjectOfText(whole);
  return { kind, ...object, hoofdadres, nevenadressen, ...span };
}

export function keyOfNum(num: Omit<NumVoorkomen, 'kind'>): string {
  const { postcode, huisnummer, huisletter, huisnummertoevoeging } = num;
  return addressKey({
    postcode: postcode ?? '',
    huisnummer,
    toevoeging: huisletter + huisnummertoevoeging,
  });
}

/** The nummeraanduidingen that an occurrence names: its hoofdadres, then its nevenadressen. */
export function addressesOf({ hoofdadres, nevenadressen }: AdresseerbaarVoorkomen): string[] {
  return [hoofdadres, ...nevenadressen];
}

/** Whether two occurrences are the same as far as addresses are concerned. */
export function isSameVoorkomen(a: AnyVoorkomen, b: AnyVoorkomen): boolean {
  const text = (voorkomen: AnyVoorkomen) =>
    voorkomen.kind === 'OPR' || voorkomen.kind === 'WPL'
      ? JSON.stringify(
          Object.entries(voorkomen).sort(([first], [second]) => (first < second ? -1 : 1)),
        )
      : recordOf(voorkomen.kind, voorkomen.identificatie, [voorkomen]);
  return a.kind === b.kind && text(a) === text(b);
}

const canonicalFields = {
  NUM: fieldIndexes(
    'NUM',
    'identificatie',
    'voorkomenidentificatie',
    'beginGeldigheid',
    'eindGeldigheid',
    'OpenbareRuimteRef',
    'WoonplaatsRef',
    'postcode',
    'huisnummer',
    'huisletter',
    'huisnummertoevoeging',
  ),
  VBO: fieldIndexes(
    'VBO',
    'identificatie',
    'voorkomenidentificatie',
    'beginGeldigheid',
    'eindGeldigheid',
    'heeftAlsHoofdadres',
    'heeftAlsNevenadres',
    'status',
    'x',
    'y',
    'oppervlakte',
    'gebruiksdoel',
  ),
};
const fourDots = Buffer.from(noPlace);
/** The most bytes of a line, without nevenadressen. */
const longestLine = 256;

/**
 * Appends `occurrenceLine` of an occurrence in bytes: without strings, because a load would make
 * ten million.
 */
export function writeOccurrence(
  kind: 'NUM' | 'VBO',
  lines: GrowingBytes,
  stand: CanonicalStand,
): void {
  const { identificatie, voorkomenidentificatie, beginGeldigheid, eindGeldigheid } =
    canonicalFields[kind];
  lines.reserve(longestLine);
  lines.memory[lines.length++] = letters[kind].charCodeAt(0);
  addId(lines, stand, identificatie);
  lines.memory[lines.length++] = tab;
  addDay(lines, stand, beginGeldigheid);
  addDay(lines, stand, eindGeldigheid);
  addField(lines, stand, voorkomenidentificatie);
  lines.memory[lines.length++] = colon;
  if (kind === 'NUM') writeNum(lines, stand);
  else {
    writeObject(lines, stand);
  }
  lines.memory[lines.length++] = lineEnd;
}

function writeNum(lines: GrowingBytes, stand: CanonicalStand): void {
  const {
    OpenbareRuimteRef,
    WoonplaatsRef,
    postcode,
    huisnummer,
    huisletter,
    huisnummertoevoeging,
  } = canonicalFields.NUM;
  addId(lines, stand, OpenbareRuimteRef);
  if ((stand.starts[WoonplaatsRef] as number) < 0) lines.add(fourDots, 0, fourDots.length);
  else {
    addField(lines, stand, WoonplaatsRef);
  }
  addField(lines, stand, postcode);
  lines.memory[lines.length++] = separator;
  addField(lines, stand, huisnummer);
  lines.memory[lines.length++] = separator;
  const toevoeging = lines.length;
  addField(lines, stand, huisletter);
  addField(lines, stand, huisnummertoevoeging);
  for (let at = toevoeging; at < lines.length; at++) {
    const byte = lines.memory[at] as number;
    if (byte >= 0x61) lines.memory[at] = byte - 0x20;
  }
}

function writeObject(lines: GrowingBytes, stand: CanonicalStand): void {
  const { heeftAlsHoofdadres, heeftAlsNevenadres, status, x, y, oppervlakte, gebruiksdoel } =
    canonicalFields.VBO;
  addId(lines, stand, heeftAlsHoofdadres);
  for (const num of stand.values(heeftAlsNevenadres)) lines.write(`,${num}`, 'latin1');
  lines.reserve(longestLine);
  lines.memory[lines.length++] = colon;
  lines.memory[lines.length++] = statusLetter(stand.value(status)).charCodeAt(0);
  for (const field of [x, y, oppervlakte]) {
    lines.memory[lines.length++] = comma;
    addField(lines, stand, field);
  }
  lines.memory[lines.length++] = comma;
  for (const doel of stand.values(gebruiksdoel)) {
    lines.memory[lines.length++] = gebruiksdoelText(doel).charCodeAt(0);
  }
}

function addId(lines: GrowingBytes, { view, starts }: CanonicalStand, field: number): void {
  copyId(view, starts[field] as number, lines.view, lines.length);
  lines.length += idWidth;
}

/** Adds a date without its dashes; a missing one is `noEind`. */
function addDay(lines: GrowingBytes, { bytes, starts }: CanonicalStand, field: number): void {
  const start = starts[field] as number;
  for (let i = 0; i < 10; i++) {
    if (i !== 4 && i !== 7) {
      lines.memory[lines.length++] = start < 0 ? nine : (bytes[start + i] as number);
    }
  }
}

function addField(
  lines: GrowingBytes,
  { bytes, starts, ends }: CanonicalStand,
  field: number,
): void {
  const start = starts[field] as number;
  if (start >= 0) lines.add(bytes, start, ends[field] as number);
}

/** Reads occurrences where they stand in bytes: each by the position after the tab before it. */
export const occurrence = {
  /** The bytes that each has: its dates, its number, and an identificatie after the colon. */
  least: numberAt + 2 + idWidth,
  begin: (bytes: Buffer, at: number) => dayIn(bytes, at + beginAt),
  eind: (bytes: Buffer, at: number) => dayIn(bytes, at + eindAt),
  /** The position after it: of the next tab, or of the end of the record. */
  end(bytes: Buffer, at: number, recordEnd: number): number {
    let end = at + occurrence.least;
    while (end < recordEnd && bytes[end] !== tab) end++;
    return end;
  },
  /** The start of its values. */
  valuesAt(bytes: Buffer, at: number): number {
    let numberEnd = at + numberAt;
    while (bytes[numberEnd] !== colon) numberEnd++;
    return numberEnd + 1;
  },
  volgnummer: (bytes: Buffer, at: number) =>
    Number(bytes.toString('latin1', at + numberAt, occurrence.valuesAt(bytes, at) - 1)),
};

/** The identificatie of the record at `start`. */
export function idIn(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start + idAt, start + nameLayout.length);
}

const { nummeraanduiding: numInRow } = objectRowLayout.at;
const objectInRow = objectRowLayout.length;
const idInRow = objectInRow + objectTextAt.identificatie;
const typeInRow = objectInRow + objectTextAt.type;
const statusInRow = objectInRow + objectTextAt.status;
const roleInRow = objectInRow + objectTextAt.hoofdadres;
const restInRow = objectInRow + objectTextAt.rest;

/**
 * Writes a row for each nummeraanduiding that an occurrence of an object names, to the lines that
 * `linesOf` returns for its position: its identificatie, and the text of the object there.
 */
export function writeObjectRows(
  { bytes, view }: RecordBytes,
  { start, at, end }: FoundOccurrence,
  linesOf: (num: number) => GrowingBytes,
): void {
  let num = occurrence.valuesAt(bytes, at);
  let rest = num + idWidth;
  while (bytes[rest] !== colon) rest++;
  const status = ++rest;
  for (let role = ofHoofdadres; num < status; num += idWidth + 1, role = ofNevenadres) {
    const lines = linesOf(num);
    lines.reserve(restInRow + end - status);
    const { memory, length } = lines;
    copyId(view, num, lines.view, length + numInRow);
    copyId(view, start + idAt, lines.view, length + idInRow);
    memory[length + typeInRow] = bytes[start] as number;
    memory[length + statusInRow] = bytes[status] as number;
    memory[length + roleInRow] = role;
    lines.length += restInRow;
    lines.copy(view, status + 1, end - status - 1);
    memory[lines.length++] = lineEnd;
  }
}

const ofHoofdadres = 0x31;
const ofNevenadres = 0x30;
export const isOfHoofdadres = (text: string) =>
  text.charCodeAt(objectTextAt.hoofdadres) === ofHoofdadres;

/**
 * Each object once, as of the hoofdadres if any of its texts says so, in order of identificatie.
 */
export function distinctObjects(texts: readonly string[]): string[] {
  const byObject = new Map<string, string>();
  for (const text of texts) {
    const id = text.slice(objectTextAt.identificatie, idWidth);
    if (!byObject.has(id) || isOfHoofdadres(text)) byObject.set(id, text);
  }
  return [...byObject.values()].sort();
}

/** Records as bytes, each with its line end. */
export type RecordBytes = { bytes: Buffer; view: DataView };

export function recordBytes(bytes: Buffer): RecordBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** The start of a record, and the start and end of one of its occurrences. */
export type FoundOccurrence = { start: number; at: number; end: number };

/** The records that contain a text. */
export function recordsWith(records: Buffer, text: string): RecordLine[] {
  const found: RecordLine[] = [];
  for (let at = records.indexOf(text, 0, 'latin1'); at >= 0; ) {
    const end = records.indexOf(lineEnd, at);
    found.push(records.toString('latin1', records.lastIndexOf(lineEnd, at) + 1, end));
    at = records.indexOf(text, end, 'latin1');
  }
  return found;
}

/**
 * The bucket of a record: a thousand objects that a gemeente numbered one after the other are in
 * one, as they lie side by side in the extract and in the country. `at` is the start of the
 * identificatie.
 */
export function bucketOf(bytes: Uint8Array, at: number, buckets: number): number {
  return (digitsIn(bytes, at, at + 4) + digitsIn(bytes, at + 10, at + 13)) % buckets;
}

function digitsIn(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  for (let i = start; i < end; i++) number = 10 * number + (bytes[i] as number) - zero;
  return number;
}
