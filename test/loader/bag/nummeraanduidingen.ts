import { expect } from '@jest/globals';
import type { CanonicalStand } from '../../../loader/bag/canonical-stand.ts';
import type { ObjectenKind } from '../../../loader/bag/elements.ts';
import type { ReadCounts } from '../../../loader/bag/problem-report.ts';
import { type ReadObjects, type ReadOptions, readXml } from '../../../loader/bag/read-stands.ts';
import type {
  AdresseerbaarVoorkomen,
  NumVoorkomen,
  OprVoorkomen,
} from '../../../loader/bag/voorkomen.ts';
import type { ExtractErrorCode } from '../../../loader/load-error.ts';
import { occurrenceLine, writeOccurrence } from '../../../loader/register/record.ts';
import { GrowingBytes } from '../../../loader/register/stored-form.ts';
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
 * What a reader made of a file: what it visited for its own date and for a later one, and counted;
 * or its refusal. `lines`: what it visited as records are stored, by the fast reader written as
 * bytes.
 */
export type Outcome<T = NumVoorkomen> =
  | { visited: T[]; later: T[]; counts: ReadCounts; lines: string }
  | { code: ExtractErrorCode; message: string };

/** Reads `xml` with one of the two readers. Anything but an `ExtractError` escapes. */
export function read(xml: string | Buffer, reader: 'fast' | 'strict'): Outcome {
  return outcomeOf('NUM', xml, reader);
}

type Visited = { NUM: NumVoorkomen; OPR: OprVoorkomen } & Record<
  ObjectenKind,
  AdresseerbaarVoorkomen
>;

/** The same for objects of any kind. */
export function outcomeOf<K extends keyof Visited>(
  kind: K,
  xml: string | Buffer,
  reader: 'fast' | 'strict',
): Outcome<Visited[K]> {
  const visited: Visited[K][] = [];
  const later: Visited[K][] = [];
  // A buffer is not copied: what lies behind it in memory must not matter.
  const bytes = typeof xml === 'string' ? Buffer.from(xml) : xml;
  const strictly = reader === 'strict';
  const readObjects = readXml[kind] as ReadObjects<Visited[K]>;
  const readAll = (visit: (one: Visited[K]) => void, options: ReadOptions<Visited[K]>) =>
    readObjects(bytes, 'a.xml', peildatum, visit, { strictly, ...options });
  try {
    const counts = readAll((one) => visited.push(one), { later: (one) => later.push(one) });
    const lines = new GrowingBytes();
    const writeLine = (one: Visited[K]) => {
      if (one.kind !== 'OPR') lines.write(occurrenceLine(one), 'latin1');
    };
    const isBytes = kind === 'NUM' || kind === 'VBO';
    const visitCanonical = (stand: CanonicalStand) =>
      writeOccurrence(kind as 'NUM' | 'VBO', lines, stand);
    expect(readAll(writeLine, { later: writeLine, ...(isBytes && { visitCanonical }) })).toEqual(
      counts,
    );
    return { visited, later, counts, lines: lines.bytes.toString('latin1') };
  } catch (error) {
    const { name, code, message } = error as {
      name: string;
      code: ExtractErrorCode;
      message: string;
    };
    if (name !== 'ExtractError') throw error;
    return { code, message };
  }
}
