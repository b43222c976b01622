import type {
  GemeenteRelatie,
  OpenbareRuimte,
  OprVoorkomen,
  Span,
  WplVoorkomen,
} from '../bag/voorkomen.ts';
import {
  dayDigits,
  dayIn,
  fixedText,
  idWidth,
  lineEnd,
  numberText,
  numberWidth,
  placeIdWidth,
  spanLayout,
} from './layouts.ts';

/**
 * One occurrence of a street is
 * `0457300000000035<tab>20100929<tab>00001<tab>99999999<tab>3631<tab>Buitenveer`: identification,
 * begin, number, end, place, name. The line of a place is the same without a place, and a relation
 * has the form of a place, with the code of the gemeente for a name. So the greatest line of an
 * object belongs to the last occurrence to begin and, among equals, to the highest number.
 */
const spanAt = 1;
const beginAt = spanAt + spanLayout.at.begin;
const eindAt = spanAt + spanLayout.at.eind;
const afterSpan = spanAt + spanLayout.length;
const placeAt = idWidth + afterSpan;
const nameAt = placeAt + placeIdWidth + 1;

/** The line of an occurrence of a street. @throws LineFieldError */
export function streetLine(voorkomen: OprVoorkomen): string {
  const { identificatie, woonplaats, naam } = voorkomen;
  return line(
    fixedText(identificatie, idWidth),
    ...spanTexts(voorkomen),
    fixedText(woonplaats, placeIdWidth),
    naam,
  );
}

/** The line of an occurrence of a place. @throws LineFieldError */
export function placeLine(voorkomen: Omit<WplVoorkomen, 'kind'>): string {
  return line(
    fixedText(voorkomen.identificatie, placeIdWidth),
    ...spanTexts(voorkomen),
    voorkomen.naam,
  );
}

/** The line of a relation, which has no number. @throws LineFieldError */
export function relatieLine({ woonplaats, gemeente, begin, eind }: GemeenteRelatie): string {
  return placeLine({ identificatie: woonplaats, naam: gemeente, begin, volgnummer: 0, eind });
}

/** No name has a line end: a name with one is reported as a problem when it is read. */
function line(...values: string[]): string {
  return `${values.join('\t')}\n`;
}

function spanTexts({ begin, volgnummer, eind }: Span): string[] {
  return [dayDigits(begin), numberText(volgnummer, numberWidth), dayDigits(eind)];
}

/** The street in the line at `start`. */
export function streetIn(text: Buffer, start: number): Omit<OpenbareRuimte, 'identificatie'> {
  const woonplaats = text.toString('latin1', start + placeAt, start + nameAt - 1);
  return { naam: text.toString('utf8', start + nameAt, text.indexOf(lineEnd, start)), woonplaats };
}

/** Selects the lines of streets to read; `start` is the start of a line. */
export type StreetFilter = (lines: Buffer, start: number) => boolean;

/** The fields that a filter may read, without a string of the whole line. */
export const streetAt = {
  identificatie: (lines: Buffer, start: number) => lines.toString('latin1', start, start + idWidth),
  woonplaats: (lines: Buffer, start: number) =>
    lines.toString('latin1', start + placeAt, start + nameAt - 1),
  eind: (lines: Buffer, start: number) => dayIn(lines, start + idWidth + eindAt),
};

/** Whether an occurrence holds on `day`, by the position after its identification. */
export function holdsOn(lines: Buffer, at: number, day: number): boolean {
  return dayIn(lines, at + beginAt) <= day && dayIn(lines, at + eindAt) > day;
}

/** The ranges of the wanted lines; lines that follow each other are in one range. */
export function* wantedRuns(
  lines: Buffer,
  isWanted: StreetFilter,
): Generator<{ start: number; end: number }> {
  let first = -1;
  for (let start = 0; start < lines.length; start = lines.indexOf(lineEnd, start) + 1) {
    const wanted = isWanted(lines, start);
    if (wanted && first < 0) first = start;
    if (wanted || first < 0) continue;
    yield { start: first, end: start };
    first = -1;
  }
  if (first >= 0) yield { start: first, end: lines.length };
}

/** The occurrences of streets in these lines that are wanted. */
export function streetsOf(lines: Buffer, isWanted: StreetFilter = () => true): OprVoorkomen[] {
  const texts = Array.from(wantedRuns(lines, isWanted), ({ start, end }) =>
    textsOf(lines.subarray(start, end)),
  );
  return texts.flat().map((text) => ({
    kind: 'OPR',
    identificatie: text.slice(0, idWidth),
    naam: text.slice(nameAt),
    woonplaats: text.slice(placeAt, nameAt - 1),
    ...spanOf(text, idWidth),
  }));
}

/**
 * The occurrences of places in these lines, each once; where several are current, the last one
 * counts.
 */
export function placesOf(lines: Buffer): WplVoorkomen[] {
  return [...new Set(textsOf(lines))].sort().map((text) => ({
    kind: 'WPL',
    identificatie: text.slice(0, placeIdWidth),
    naam: text.slice(placeIdWidth + afterSpan),
    ...spanOf(text, placeIdWidth),
  }));
}

function textsOf(lines: Buffer): string[] {
  return lines.toString().split('\n').slice(0, -1);
}

function spanOf(text: string, idEnd: number): Span {
  const [begin, volgnummer, eind] = text.slice(idEnd + spanAt, idEnd + afterSpan - 1).split('\t');
  return { volgnummer: Number(volgnummer), begin: Number(begin), eind: Number(eind) };
}
