import type { ReadOptions, StandVisit } from './interpret-stand.ts';
import type { ReadCounts } from './problem-report.ts';
import { objectReader, type ReadObjects } from './read-stands.ts';
import type { ObjectenKind } from './schema.ts';
import type { AdresseerbaarObject } from './voorkomen.ts';

const readers: Record<ObjectenKind, ReadObjects<AdresseerbaarObject>> = {
  VBO: objectReader('VBO', (object) => object),
  LIG: objectReader('LIG', (object) => object),
  STA: objectReader('STA', (object) => object),
};

/**
 * Reads the verblijfsobjecten, ligplaatsen or standplaatsen of an XML file, as `ReadObjects` does. One whose location
 * can't be told is a problem.
 */
export function readAdresseerbareObjecten(
  kind: ObjectenKind,
  xml: Buffer,
  file: string,
  peildatum: string,
  visit: StandVisit<AdresseerbaarObject>,
  options: ReadOptions<AdresseerbaarObject> = {},
): ReadCounts {
  return readers[kind](xml, file, peildatum, visit, options);
}
