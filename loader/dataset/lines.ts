import { maxToevoegingen, type StoredAddress } from '../../core/addresses/address-item.ts';
import { comparePlaces, type Place } from '../../core/place-fields.ts';

/**
 * A load sorts, compares and stores lines: the key, then woonplaats and straat of each place, separated by tabs:
 * `1381AA#9#A<tab>Weesp<tab>Buitenveer`. A row has one place; a line of a snapshot has all distinct places of its key.
 *
 * Under the key without a toevoeging, a line of a snapshot ends in one more field where other toevoegingen exist: the list
 * of all of them, separated by commas, in which nothing stands for the address without one: `1381AA#9#<tab>Weesp<tab>
 * Buitenveer<tab>,A,B`. Where there is no address without one, a line with only the list is added: `1381AA#9#<tab>A,B`.
 *
 * Lines are byte strings: each character stands for one byte of the UTF-8 text. They take one byte a character, need no
 * encoding, and sort by their bytes, so in the same order everywhere (decision 0113).
 */
export type Line = string;

/** The places part of a row; made once per street, not once per address. Tabs and line ends in a name are escaped. */
export function placeText({ woonplaats, straat }: Place): string {
  return Buffer.from(`${escaped(woonplaats)}\t${escaped(straat)}`).toString('latin1');
}

/** The key of a line, which is ASCII. */
export function keyOf(line: Line): string {
  return line.slice(0, line.indexOf('\t'));
}

/** A line as the addresses table holds it. */
export function parseLine(line: Line): StoredAddress {
  const [key = '', ...fields] = Buffer.from(line, 'latin1').toString().split('\t');
  const list = fields.length % 2 === 1 ? fields.pop() : undefined;
  const places: Place[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    places.push({ straat: unescaped(fields[i + 1] as string), woonplaats: unescaped(fields[i] as string) });
  }
  places.sort(comparePlaces);
  return list === undefined
    ? { key, places }
    : { key, places, toevoegingen: list.split(',').map((one) => one || null) };
}

/** The line of what the addresses table holds, its places in their order there. */
export function lineOf({ key, places, toevoegingen }: StoredAddress): Line {
  const fields = places.map(placeText);
  const list = toevoegingen?.map((one) => one ?? '').join(',');
  if (list !== undefined) fields.push(list);
  return `${key}\t${fields.join('\t')}`;
}

/** The line with its places in the order of a snapshot, which is that of their bytes. */
export function snapshotLine(line: Line): Line {
  const [key = '', ...fields] = line.split('\t');
  const places = Array.from(
    { length: Math.floor(fields.length / 2) },
    (_, i) => `${fields[2 * i]}\t${fields[2 * i + 1]}`,
  );
  return [key, ...places.sort(), ...fields.slice(2 * places.length)].join('\t');
}

/** The line without its list of toevoegingen; `null` for a line that has only a list, which is no address. */
export function addressPart(line: Line): Line | null {
  const first = line.indexOf('\t');
  let tabs = 1;
  for (let at = line.indexOf('\t', first + 1); at >= 0; at = line.indexOf('\t', at + 1)) tabs++;
  if (tabs % 2 === 0) return line;
  return tabs === 1 ? null : line.slice(0, line.lastIndexOf('\t'));
}

/** Whether a line has an address, and not only a list. */
export function hasAddress(line: Line): boolean {
  return line.indexOf('\t', line.indexOf('\t') + 1) >= 0;
}

function escaped(name: string): string {
  return /[\\\t\n]/.test(name) ? name.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n') : name;
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  return name.replace(/\\(.)/g, (_, letter) => (letter === 't' ? '\t' : letter === 'n' ? '\n' : letter));
}

/** Addresses in the order of their keys, one for each object: the keys, and the places part of the line of each. */
export type Rows = { keys: string[]; places: string[] };

/**
 * The lines of a snapshot: one per key, with its distinct places and the lists of toevoegingen. Needs all rows of a postcode.
 * The same rows give the same lines, whatever the order of those with one key.
 */
export function joinRows({ keys, places }: Rows): Line[] {
  const lines: Line[] = [];
  let group = '';
  let groupAt = 0;
  for (let start = 0, end = 0; start < keys.length; start = end) {
    const key = keys[start] as string;
    do end++;
    while (keys[end] === key);
    if (group === '' || !key.startsWith(group)) {
      addList(lines, groupAt, group);
      group = key.slice(0, key.lastIndexOf('#') + 1);
      groupAt = lines.length;
    }
    const ofKey = end === start + 1 ? places[start] : [...new Set(places.slice(start, end))].sort().join('\t');
    lines.push(`${key}\t${ofKey}`);
  }
  addList(lines, groupAt, group);
  return lines;
}

/** Adds the list of toevoegingen to the lines from `start` on, which have the same postcode and huisnummer: `group`. */
function addList(lines: Line[], start: number, group: string): void {
  const first = lines[start];
  if (first === undefined) return;
  const isBare = first.startsWith(`${group}\t`);
  if (isBare && lines.length === start + 1) return;
  const some = lines.slice(start, start + maxToevoegingen);
  const list = some.map((line) => line.slice(group.length, line.indexOf('\t'))).join(',');
  if (isBare) lines[start] = `${first}\t${list}`;
  else lines.splice(start, 0, `${group}\t${list}`);
}

/** How the address of a key changes. */
export type ChangeKind = 'added' | 'changed' | 'removed';

/**
 * One key that differs: its line before and after, where there is one. `list`: only the list of toevoegingen stored
 * with the address differs, or a list without an address is added or removed.
 */
export type Change = { kind: ChangeKind | 'list' } & (
  | { before: Line | null; after: Line }
  | { before: Line; after: Line | null }
);

/** How many addresses of each kind. */
export type ChangeCounts = Record<ChangeKind, number>;

/** The changes from the snapshot `before` to `after`, ordered by key. Both are sorted, with one line per key. */
export function* diff(before: readonly Line[], after: readonly Line[]): Generator<Change> {
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const old = before[i];
    const now = after[j];
    if (old === now) {
      i++;
      j++;
      continue;
    }
    const order = old === undefined ? 1 : now === undefined ? -1 : compare(keyOf(old), keyOf(now));
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (order < 0) yield change(old as Line, null);
    else if (order > 0) yield change(null, now as Line);
    else yield change(old as Line, now as Line);
  }
}

function change(before: Line, after: Line | null): Change;
function change(before: Line | null, after: Line): Change;
function change(before: Line | null, after: Line | null): Change {
  const [old, now] = [before && addressPart(before), after && addressPart(after)];
  const kind = old === now ? 'list' : old === null ? 'added' : now === null ? 'removed' : 'changed';
  return { kind, before, after } as Change;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What to do to one key of the table: put this line, or remove the key. */
export type Write = { put: Line } | { remove: string };
