import {
  type AddressItem,
  addressItem,
  type StoredAddress,
} from '../../core/addresses/address-item.ts';
import {
  comparePlaces,
  compareTexts,
  type Place,
  placeFieldNames,
  placeOfTexts,
  placeTexts,
} from '../../core/place-fields.ts';
import { lineEnd } from '../register/layouts.ts';
import {
  GrowingBytes,
  linesOf,
  packLineBytes,
  requireForm,
  unpackLines,
} from '../register/stored-form.ts';

/**
 * A load sorts, compares and stores lines. Their fields are separated by tabs: the key, the list of
 * toevoegingen, and for each distinct place of the key the fields that `core/place-fields.ts`
 * defines, in their order:
 *
 *     1381AA#9#A<tab><tab>Buitenveer<tab>Weesp<tab>0457200000201234
 *
 * Only a key without a toevoeging whose number has other toevoegingen has a list. It names all
 * toevoegingen, separated by commas, with an empty name for the address without one: `,A,B`. If
 * that address does not exist, the line ends after the list: `1381AA#9#<tab>A,B`.
 *
 * Lines are byte strings: each character stands for one byte of the UTF-8 text. They take one byte
 * a character, need no encoding, and sort by their bytes, so in the same order everywhere (decision
 * 0113).
 */
export type Line = string;

/**
 * The fields of a place in a line up to its ids, which follow: made once per street. Ends in an
 * empty field.
 */
export function placeText(place: Place): string {
  return Buffer.from(placeTexts(place).join('\t')).toString('latin1');
}

/** The key of a line, which is ASCII. */
export function keyOf(line: Line): string {
  return line.slice(0, line.indexOf('\t'));
}

/**
 * A line as the addresses table holds it. @throws Error for a line that has another number of
 * fields
 */
export function parseLine(line: Line): StoredAddress {
  const [key = '', list = '', ...texts] = Buffer.from(line, 'latin1').toString().split('\t');
  if (texts.length % placeFieldNames.length !== 0) {
    throw new Error(`the line of ${key} has an unknown form`);
  }
  const places: Place[] = [];
  for (let at = 0; at < texts.length; at += placeFieldNames.length) {
    places.push(placeOfTexts(texts.slice(at, at + placeFieldNames.length)));
  }
  places.sort(comparePlaces);
  return list === ''
    ? { key, places }
    : { key, places, toevoegingen: list.split(',').map((toevoeging) => toevoeging || null) };
}

/** The line of an item in the addresses table. */
export function lineOf({ key, places, toevoegingen }: StoredAddress): Line {
  const list = toevoegingen?.map((toevoeging) => toevoeging ?? '').join(',') ?? '';
  return [key, list, ...places.map(placeText).sort()].join('\t');
}

/**
 * The line without its list of toevoegingen; `null` for a line that has only a list, which is no
 * address.
 */
export function addressPart(line: Line): Line | null {
  const first = line.indexOf('\t');
  const second = line.indexOf('\t', first + 1);
  if (second < 0) return null;
  return second === first + 1 ? line : line.slice(0, first + 1) + line.slice(second);
}

/**
 * The stored form of lines: its version, and the fields of a place. Lines in another form can't be
 * read.
 */
export const linesForm = `lines 3 ${placeFieldNames.join(' ')}`;

/** How the address of a key changes. */
export type ChangeKind = 'added' | 'changed' | 'removed';

/** The places of an address before and after a change, or `null` if it has no address then. */
type ChangedPlaces = Record<'old' | 'now', Place[] | null>;

/** One key that differs: its line before and after, or `null`. */
export class Change {
  readonly before: Line | null;
  readonly after: Line | null;
  /**
   * `list`: only the list of toevoegingen differs, or the line has no address. `objecten`: only the
   * adresseerbare objecten of the address differ.
   */
  readonly kind: ChangeKind | 'list' | 'objecten';
  #places: ChangedPlaces | undefined;

  constructor(before: Line | null, after: Line | null) {
    this.before = before;
    this.after = after;
    const old = before && addressPart(before);
    const now = after && addressPart(after);
    if (old === now) this.kind = 'list';
    else if (old === null || now === null) this.kind = old === null ? 'added' : 'removed';
    else {
      this.kind = this.isOnlyOf('objecten') ? 'objecten' : 'changed';
    }
  }

  get key(): string {
    return keyOf((this.after ?? this.before) as Line);
  }

  get places(): ChangedPlaces {
    this.#places ??= { old: placesIn(this.before), now: placesIn(this.after) };
    return this.#places;
  }

  /** Whether nothing else changes of the places. */
  isOnlyOf(field: 'gemeente' | 'objecten'): boolean {
    const { old, now } = this.places;
    const rest = (places: Place[] | null) =>
      places
        ?.map(({ [field]: _, ...place }) => placeText(place as Place))
        .sort()
        .join('\t');
    return rest(old) === rest(now);
  }
}

/** The places of a line, or `null` if it has no address. */
function placesIn(line: Line | null): Place[] | null {
  const places = line === null ? [] : parseLine(line).places;
  return places.length > 0 ? places : null;
}

/** How many addresses of each kind. */
export type ChangeCounts = Record<ChangeKind, number>;

/** Some lines: few changes leave most of a part the same. */
const comparedBytes = 2_048;
const plus = 0x2b;

/**
 * The changes from the lines `before` to `after`, ordered by key. Both are sorted, with one line
 * per key, and are bytes, each line with its line end: so a day turns few of the ten million lines
 * into strings.
 */
export function* diff(before: Buffer, after: Buffer): Generator<Change> {
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    const length = Math.min(comparedBytes, before.length - i, after.length - j);
    if (before.compare(after, j, j + length, i, i + length) === 0) {
      const whole = before.lastIndexOf(lineEnd, i + length - 1) + 1 - i;
      if (whole > 0) {
        i += whole;
        j += whole;
        continue;
      }
    }
    const old = lineAt(before, i);
    const now = lineAt(after, j);
    const order = old === now ? 0 : compareTexts(keyOf(old), keyOf(now));
    if (order <= 0) i += old.length + 1;
    if (order >= 0) j += now.length + 1;
    if (old !== now) yield new Change(order > 0 ? null : old, order < 0 ? null : now);
  }
  for (const old of linesOf(before.subarray(i, -1))) yield new Change(old, null);
  for (const now of linesOf(after.subarray(j, -1))) yield new Change(null, now);
}

function lineAt(bytes: Buffer, start: number): Line {
  return bytes.toString('latin1', start, bytes.indexOf(lineEnd, start));
}

/**
 * A write to one key of the table: put this line, or remove the key. Repeating it has no further
 * effect.
 */
export type LineWrite = { put: Line } | { remove: string };

export function writeOf({ key, after }: Change): LineWrite {
  return after === null ? { remove: key } : { put: after };
}

/** Writes in their stored form: `+` and the whole line to put, or `-` and the key to remove. */
export class WritesFile {
  count = 0;
  readonly #rows = new GrowingBytes();

  constructor() {
    this.#rows.write(linesForm, 'latin1');
  }

  add(write: LineWrite): void {
    this.#rows.write('put' in write ? `\n+${write.put}` : `\n-${write.remove}`, 'latin1');
    this.count++;
  }

  /** Adds a line to put, from its start up to its line end. */
  addLine(lines: DataView, start: number, end: number): void {
    const rows = this.#rows;
    rows.reserve(2);
    rows.memory[rows.length++] = lineEnd;
    rows.memory[rows.length++] = plus;
    rows.copy(lines, start, end - start);
    this.count++;
  }

  /** Frees the memory of the writes. */
  pack(): Buffer {
    const packed = packLineBytes(this.#rows.bytes);
    this.#rows.release();
    return packed;
  }
}

/**
 * The writes that a `WritesFile` packed. @throws UnknownFormError for writes that another version
 * stored
 */
export function unpackWrites(packed: Buffer): LineWrite[] {
  const [form = '', ...writes] = unpackLines(packed);
  requireForm(form, linesForm);
  return writes.map((line) =>
    line.startsWith('+') ? { put: line.slice(1) } : { remove: line.slice(1) },
  );
}

/**
 * The most bytes of an item: DynamoDB refuses one of more than 400 KiB, with the whole batch that
 * it is in.
 */
export const largestItemBytes = 400_000;

/** An address with an item of too many bytes. */
export type LargeItem = { key: string; bytes: number };

/**
 * A line with fewer bytes has no such item: beside the line an item has names of fields, 40 bytes
 * for each place.
 */
const suspectBytes = largestItemBytes / 4;

/** The addresses in these lines, each with its line end, whose items DynamoDB would refuse. */
export function tooLarge(lines: Buffer): LargeItem[] {
  const found: LargeItem[] = [];
  for (let start = 0; start + suspectBytes < lines.length; ) {
    // Lines that end before it are shorter than this.
    const next = lines.lastIndexOf(lineEnd, start + suspectBytes) + 1;
    const end = next > start ? next - 1 : lines.indexOf(lineEnd, start);
    if (next <= start) {
      const line = lines.toString('latin1', start, end);
      const bytes = fieldsBytes(addressItem(parseLine(line)));
      if (bytes > largestItemBytes) found.push({ key: keyOf(line), bytes });
    }
    start = end + 1;
  }
  return found;
}

/** What DynamoDB counts of an item or a map: the names in it, and the values. */
function fieldsBytes(fields: AddressItem): number {
  return Object.entries(fields).reduce(
    (sum, [name, value]) => sum + name.length + valueBytes(value),
    0,
  );
}

function valueBytes({ S, NS, L, M }: AddressItem[string]): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (NS) return NS.reduce((sum, number) => sum + Math.ceil(number.length / 2) + 1, 0);
  if (L) return 3 + L.reduce((sum, value) => sum + 1 + valueBytes(value), 0);
  return M ? 3 + Object.keys(M).length + fieldsBytes(M) : 1;
}
