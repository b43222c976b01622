/** Reads occurrences whose bytes are exactly as Kadaster writes them, without making strings. */

import {
  anyText,
  type CanonicalPart,
  type CanonicalValue,
  type Element,
  fieldsOfKind,
  objects,
  type StandKind,
  statuses,
  tagsOf,
} from './elements.ts';
import { betweenValues, type Fields, type Occurrence, valuesOf } from './interpret-stand.ts';
import { isInGrid } from './location.ts';
import { type Geldigheid, noEind } from './voorkomen.ts';

/** A step of reading an occurrence: past markup, a value, or other steps. */
type ReadStep = {
  op: 'markup' | 'fixed' | 'run' | 'values' | 'decimal' | 'group';
  /** The index of the field that it reads, or -1. */
  field: number;
  /** The bytes of markup, or of a value of one width. */
  length: number;
  text: string;
  /** Markup, eight bytes at a time as doubles; the last eight overlap with those before. */
  words: number[];
  /** The bounds of each byte of a value of one width. */
  lowest: Uint8Array;
  highest: Uint8Array;
  /** The bytes that a run may begin with, and go on with. */
  first: Uint8Array;
  characters: Uint8Array;
  others: RegExp | undefined;
  /** How many bytes a run has; how often a group occurs. */
  least: number;
  most: number;
  /** The steps of a group, which begins with its own markup; or the markup for each value. */
  steps: ReadStep[];
};

const none = new Uint8Array(0);
const unlimited = 1e9;

/** Every step has the same shape, because V8 reads these faster. */
const stepOf = (op: ReadStep['op'], more: Partial<ReadStep>): ReadStep => ({
  op,
  field: -1,
  length: 0,
  text: '',
  words: [],
  lowest: none,
  highest: none,
  first: none,
  characters: none,
  others: undefined,
  least: 1,
  most: 1,
  steps: [],
  ...more,
});

/** Steps that occur a number of times, which their first markup decides. */
function group(parts: readonly (string | ReadStep)[], more: Partial<ReadStep> = {}): ReadStep {
  const steps = joined(parts);
  const { length, words } = steps[0] as ReadStep;
  return stepOf('group', { ...more, length, words, steps });
}

const wordBytes = 8;

function markup(text: string): ReadStep {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < wordBytes) {
    return stepOf('fixed', { length: bytes.length, lowest: bytes, highest: bytes });
  }
  const words = Array.from({ length: Math.ceil(bytes.length / wordBytes) }, (_, i) =>
    bytes.readDoubleLE(Math.min(i * wordBytes, bytes.length - wordBytes)),
  );
  return stepOf('markup', { length: bytes.length, text, words });
}

/** The bytes of each pattern: many fields have the same one. */
const classes: Record<string, Uint8Array> = {};

function classOf(run: RegExp): Uint8Array {
  classes[run.source] ??= Uint8Array.from({ length: 256 }, (_, byte) =>
    Number(run.test(String.fromCharCode(byte))),
  );
  return classes[run.source] as Uint8Array;
}

/** The steps of parts, with adjacent markup in one piece. */
function joined(parts: readonly (string | ReadStep)[]): ReadStep[] {
  const steps: ReadStep[] = [];
  for (const part of parts) {
    const last = steps.at(-1);
    if (typeof part !== 'string') steps.push(part);
    else if (last?.op === 'markup') steps[steps.length - 1] = markup(last.text + part);
    else {
      steps.push(markup(part));
    }
  }
  return steps;
}

function valueStep(value: CanonicalValue, field: number): ReadStep {
  if ('values' in value) {
    // The longest first, because one is the beginning of another.
    const values = value.values.toSorted((a, b) => b.length - a.length);
    return stepOf('values', { field, steps: values.map(markup) });
  }
  if ('lowest' in value) {
    const lowest = Buffer.from(value.lowest);
    const highest = Buffer.from(value.highest);
    return stepOf('fixed', { field, length: lowest.length, lowest, highest });
  }
  return stepOf('run', {
    ...value,
    field,
    first: classOf(value.first),
    characters: classOf(value.characters),
  });
}

/** The steps of an occurrence. Each text or XML is the next field; the decimals come last. */
function stepsOf(kind: StandKind): ReadStep[] {
  let field = 0;
  let decimals = fieldsOfKind[kind].length;
  const partsOf = (part: CanonicalPart): (string | ReadStep)[] => {
    if (typeof part === 'string') return [part];
    if (!('name' in part) && !('isDecimal' in part)) return [valueStep(part, -1)];
    if ('isDecimal' in part) return [stepOf('decimal', { field: decimals++ })];
    if (part.isRare) return [];
    const [open, close] = tagsOf(part);
    const whole = [open, ...insideOf(part), close];
    if (part.isRepeated) whole.push(group(whole, { least: 0, most: unlimited }));
    return part.isOptional ? [group(whole, { least: 0 })] : whole;
  };
  const insideOf = ({ content, canonical = anyText }: Element): (string | ReadStep)[] => {
    const own = content === 'text' || content === 'xml' ? field++ : -1;
    if (typeof content !== 'string') return content.flatMap(partsOf);
    if (!('flatMap' in canonical)) return [valueStep(canonical, own)];
    return [group(canonical.flatMap(partsOf), { field: own })];
  };
  const open = '<sl:stand><sl-bag-extract:bagObject>';
  const close = '</sl-bag-extract:bagObject></sl:stand>';
  return joined([open, ...partsOf(objects[kind]), close]);
}

export type CanonicalKind = Exclude<StandKind, 'WPL'>;
/** Made when first needed, as each kind takes milliseconds. */
const stepsOfKind: Partial<Record<CanonicalKind, ReadStep[]>> = {};

/** The index of each named field in `starts` and `ends`; a point has the fields `x` and `y`. */
export function fieldIndexes<Name extends string>(
  kind: CanonicalKind,
  ...names: Name[]
): Record<Name, number> {
  const all = [...fieldsOfKind[kind].map(({ name }) => name), 'x', 'y'];
  return Object.fromEntries(names.map((name) => [name, all.indexOf(name)])) as Record<Name, number>;
}

const zero = 0x30;
const space = 0x20;
const point = 0x2e;
const lessThan = 0x3c;
const isDigit = (byte: number | undefined): byte is number =>
  byte !== undefined && byte >= zero && byte <= 0x39;
const isBlank = (byte: number | undefined) =>
  byte === space || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * An occurrence in the bytes of a file, by the start and the end of each field: a missing field
 * starts at -1, and a repeated field has the start of its first value and the end of its last.
 */
export class CanonicalStand {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly geldigheid: Geldigheid = {
    span: { volgnummer: 0, begin: 0, eind: 0 },
    isLive: true,
    isInactief: false,
    isNietBag: false,
  };
  readonly #kind: CanonicalKind;
  readonly #steps: readonly ReadStep[];
  readonly #at: ReturnType<typeof geldigheidIndexes>;
  readonly #live: readonly string[];
  readonly #values: string[] = [];

  constructor(kind: CanonicalKind, bytes: Buffer) {
    const decimals = 3;
    this.#kind = kind;
    stepsOfKind[kind] ??= stepsOf(kind);
    this.#steps = stepsOfKind[kind];
    this.#at = geldigheidIndexes(kind);
    this.#live = statuses[kind].live;
    // With the memory behind the file, if there is any: V8 takes a third longer once it has looked
    // beyond its end. An occurrence that went on there would leave the file without an end, so that
    // the strict parser refuses it.
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset);
    this.view = new DataView(bytes.buffer, bytes.byteOffset);
    this.starts = new Int32Array(fieldsOfKind[kind].length + decimals);
    this.ends = new Int32Array(fieldsOfKind[kind].length + decimals);
  }

  /**
   * Reads the occurrence at `start`, or after white space there; returns its end, or -1 for any
   * other bytes.
   */
  read(start: number): number {
    const { starts } = this;
    let at = start;
    while (isBlank(this.bytes[at])) at++;
    for (let i = 0; i < starts.length; i++) starts[i] = -1;
    try {
      at = this.#past(this.#steps, at);
    } catch (error) {
      if (error instanceof RangeError) return -1; // beyond the end of the memory
      throw error;
    }
    if (at < 0 || (this.#kind === 'VBO' && !this.#isInGrid())) return -1;
    this.#readGeldigheid();
    return at;
  }

  fields(): Occurrence {
    const fields: Fields = {};
    for (const [i, { name, isRepeated, between }] of fieldsOfKind[this.#kind].entries()) {
      if ((this.starts[i] as number) < 0) continue;
      fields[name] = isRepeated ? this.text(i).replaceAll(between, betweenValues) : this.text(i);
    }
    return fields as Occurrence;
  }

  text(field: number): string {
    return this.bytes.toString('utf8', this.starts[field], this.ends[field]);
  }

  /** The value of a field with `values`. */
  value(field: number): string {
    return this.#values[field] as string;
  }

  /** The different values of a repeated field, sorted. */
  values(field: number): readonly string[] {
    const start = this.starts[field] as number;
    const last = this.#values[field];
    if (start < 0) return [];
    if ((this.ends[field] as number) - start === last?.length) return [last];
    return valuesOf(
      this.text(field).replaceAll(fieldsOfKind[this.#kind][field]?.between ?? '', betweenValues),
    );
  }

  /**
   * The position after these steps, or -1. Markup is compared as doubles: JavaScript compares no
   * other wide number without allocating, and ASCII never makes a NaN or a negative zero, so equal
   * doubles are equal bytes. It goes from the first byte to the last, which takes a quarter less
   * time in a file that is not in the processor's cache. All but the rare steps are in this loop: a
   * call for each would take a third longer.
   */
  #past(steps: readonly ReadStep[], start: number): number {
    const { bytes, view, starts, ends } = this;
    let at = start;
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i] as ReadStep;
      const { op, field, length } = step;
      const from = at;
      if (op === 'markup') {
        const { words } = step;
        const last = words.length - 1;
        for (let word = 0; word < last; word++) {
          if (view.getFloat64(at + wordBytes * word, true) !== words[word]) return -1;
        }
        at += length;
        if (view.getFloat64(at - wordBytes, true) !== words[last]) return -1;
      } else if (op === 'group') {
        const { words } = step;
        if (
          step.least === 0 &&
          view.getFloat64(at + length - wordBytes, true) !== words[words.length - 1]
        ) {
          continue;
        }
        at = this.#pastGroup(step, at);
      } else if (op === 'fixed') {
        const { lowest, highest } = step;
        for (let j = 0; j < length; j++) {
          const byte = bytes[at + j] as number;
          if (byte < (lowest[j] as number) || byte > (highest[j] as number)) return -1;
        }
        at += length;
      } else if (op === 'run') {
        const { characters } = step;
        if (step.least > 0 && step.first[bytes[at] as number] !== 1) return -1;
        while (characters[bytes[at] as number] === 1) at++;
        if (bytes[at] !== lessThan && step.others) at = this.#pastOthers(step.others, at);
        if (at - from > step.most) return -1;
      } else if (op === 'values') at = this.#pastValue(step, at);
      else {
        at = this.#pastDecimal(step, at);
      }
      if (at < 0) return -1;
      if (field < 0 || op === 'decimal') continue;
      if ((starts[field] as number) < 0) starts[field] = from;
      ends[field] = at;
    }
    return at;
  }

  #isAt({ words, length }: ReadStep, at: number): boolean {
    const { view } = this;
    for (let word = words.length - 1; word >= 0; word--) {
      if (
        view.getFloat64(at + Math.min(wordBytes * word, length - wordBytes), true) !== words[word]
      ) {
        return false;
      }
    }
    return true;
  }

  /** Past the rest of a text, up to the next tag. */
  #pastOthers(others: RegExp, start: number): number {
    const end = this.bytes.indexOf(lessThan, start);
    return others.test(this.bytes.toString('utf8', start, end)) ? end : -1;
  }

  #pastValue({ field, steps }: ReadStep, at: number): number {
    for (const step of steps) {
      if (!this.#isAt(step, at)) continue;
      this.#values[field] = step.text;
      return at + step.length;
    }
    return -1;
  }

  /**
   * Past a decimal number of at most six and nine digits; its field ends where its shortest form
   * does.
   */
  #pastDecimal({ field }: ReadStep, start: number): number {
    const { bytes } = this;
    let at = start;
    while (isDigit(bytes[at])) at++;
    const whole = at - start;
    if (whole < 1 || whole > 6 || (whole > 1 && bytes[start] === zero)) return -1;
    let end = at;
    if (bytes[at] === point) {
      const fraction = ++at;
      for (; isDigit(bytes[at]); at++) if (bytes[at] !== zero) end = at + 1;
      if (at === fraction || at - fraction > 9) return -1;
    }
    this.starts[field] = start;
    this.ends[field] = end;
    return bytes[at] === space ? at + 1 : at;
  }

  #pastGroup({ least, most, steps }: ReadStep, start: number): number {
    let at = start;
    for (let count = 0; count < most; count++) {
      const end = this.#past(steps, at);
      if (end < 0) return count < least ? -1 : at;
      at = end;
    }
    return at;
  }

  #isInGrid(): boolean {
    const x = this.#number(pointAt.x);
    const y = this.#number(pointAt.y);
    // A metre within its bounds: what lies nearer has decimals to compare.
    return isInGrid({ x: x + 1, y: y + 1 }) && isInGrid({ x, y });
  }

  #readGeldigheid(): void {
    const { geldigheid } = this;
    const { span } = geldigheid;
    const at = this.#at;
    geldigheid.isLive = this.#live.includes(this.value(at.status));
    span.volgnummer = this.#number(at.voorkomenidentificatie);
    span.begin = this.#day(at.beginGeldigheid);
    span.eind = this.#has(at.eindGeldigheid) ? this.#day(at.eindGeldigheid) : noEind;
    geldigheid.isInactief = this.#has(at.tijdstipInactief) || this.#has(at.tijdstipInactiefLV);
    geldigheid.isNietBag = this.#has(at.tijdstipNietBagLV);
  }

  #has(field: number): boolean {
    return (this.starts[field] as number) >= 0;
  }

  /** The whole part of a number. */
  #number(field: number): number {
    let number = 0;
    for (let at = this.starts[field] as number; isDigit(this.bytes[at]); at++) {
      number = 10 * number + (this.bytes[at] as number) - zero;
    }
    return number;
  }

  /** A date as the number 20211015. */
  #day(field: number): number {
    const start = this.starts[field] as number;
    let day = 0;
    for (let i = 0; i < 10; i++) {
      if (i !== 4 && i !== 7) day = 10 * day + (this.bytes[start + i] as number) - zero;
    }
    return day;
  }
}

const pointAt = fieldIndexes('VBO', 'x', 'y');

const geldigheidIndexes = (kind: CanonicalKind) =>
  fieldIndexes(
    kind,
    'status',
    'voorkomenidentificatie',
    'beginGeldigheid',
    'eindGeldigheid',
    'tijdstipInactief',
    'tijdstipInactiefLV',
    'tijdstipNietBagLV',
  );
