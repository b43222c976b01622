import { fieldsAt, identificatieOf, type ObjectLine, referencesOf } from './objects.ts';

/** Which lines of the object layer to find: those of some nummeraanduidingen, or those on some streets. */
export type NamedObjects = { field: 'identificatie' | 'street'; ids: ReadonlySet<string>; lastDigits: Uint8Array };

const idLength = 16;
const filteredDigits = 6;
const tab = 0x09;
const lineEnd = 0x0a;
const zero = 0x30;

/** The lines whose nummeraanduiding, or whose street, is one of `ids`. */
export function namedObjects(field: NamedObjects['field'], ids: ReadonlySet<string>): NamedObjects {
  const lastDigits = new Uint8Array(10 ** filteredDigits);
  for (const id of ids) lastDigits[Number(id.slice(-filteredDigits))] = 1;
  return { field, ids, lastDigits };
}

/**
 * The named lines among all lines of a part, as bytes. A day of mutations looks at every object of the country for the few
 * that it names: so only lines whose last digits fit become strings.
 */
export function findNamed(lines: Buffer, named: NamedObjects): ObjectLine[] {
  const found: ObjectLine[] = [];
  const { field, lastDigits } = named;
  const toEnd = fieldsAt[field] + idLength;
  for (let start = 0; start < lines.length; ) {
    let at = start;
    while (at < lines.length && lines[at] !== tab) at++;
    let digits = 0;
    for (let i = at + toEnd - filteredDigits; i < at + toEnd; i++) digits = digits * 10 + (lines[i] as number) - zero;
    let end = at + fieldsAt.volgnummer;
    while (end < lines.length && lines[end] !== lineEnd) end++;
    if (lastDigits[digits] === 1) {
      const line = lines.toString('latin1', start, end);
      if (isNamed(line, named)) found.push(line);
    }
    start = end + 1;
  }
  return found;
}

/** Whether a line is one of those. */
export function isNamed(line: ObjectLine, { field, ids }: NamedObjects): boolean {
  return ids.has(field === 'identificatie' ? identificatieOf(line) : referencesOf(line).street);
}
