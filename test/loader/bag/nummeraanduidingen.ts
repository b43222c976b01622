import type { ReadCounts } from '../../../loader/bag/problem-report.ts';
import { type ReadObjects, readNummeraanduidingen } from '../../../loader/bag/read-stands.ts';
import type { Nummeraanduiding, Span } from '../../../loader/bag/voorkomen.ts';
import type { ExtractErrorCode } from '../../../loader/load-error.ts';
import { fileXml, type NumStand } from '../../support/stand-xml.ts';

export const peildatum = '2026-01-08';

/** An occurrence that counts. */
export const someNum: NumStand = {
  identificatie: '0457200000199640',
  huisnummer: 9,
  huisletter: 'a',
  huisnummertoevoeging: 'bis',
  postcode: '1381AA',
  openbareRuimte: '0457300000000035',
  begin: '2010-09-29',
};

/** A file of NUM occurrences. */
export function numXml(...voorkomens: NumStand[]): string {
  return fileXml('NUM', voorkomens, peildatum);
}

/** A file with `peildatum` as its peildatum, whatever it has. */
export function ofPeildatum(xml: Buffer): Buffer {
  const header = /(<selecties-extract:StandTechnischeDatum>)[^<]*/;
  return Buffer.from(xml.toString().replace(header, `$1${peildatum}`));
}

/**
 * What a reader made of a file: what it visited, with values that outlive the visit, for its own date and for a later
 * one, and counted; or its refusal.
 */
export type Outcome<Values = Nummeraanduiding> =
  | { visited: (Values & { span: Span })[]; later: (Values & { span: Span })[]; counts: ReadCounts }
  | { code: ExtractErrorCode; message: string };

/** Reads `xml` with one of the two readers. Anything but an `ExtractError` escapes. */
export function read(xml: string | Buffer, reader: 'fast' | 'strict'): Outcome {
  return outcomeOf(readNummeraanduidingen, xml, reader);
}

/** The same for objects of any kind. */
export function outcomeOf<Values extends object>(
  readObjects: ReadObjects<{ values(): Values }>,
  xml: string | Buffer,
  reader: 'fast' | 'strict',
): Outcome<Values> {
  const visited: (Values & { span: Span })[] = [];
  const later: (Values & { span: Span })[] = [];
  try {
    const visit = (found: (Values & { span: Span })[]) => (one: { values(): Values }, span: Span) =>
      found.push({ ...one.values(), span: { ...span } });
    const counts = readObjects(Buffer.from(xml), 'a.xml', peildatum, visit(visited), {
      strictly: reader === 'strict',
      later: visit(later),
    });
    return { visited, later, counts };
  } catch (error) {
    const { name, code, message } = error as { name: string; code: ExtractErrorCode; message: string };
    if (name !== 'ExtractError') throw error;
    return { code, message };
  }
}
