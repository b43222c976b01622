/**
 * The layouts of the lines that a load stores: each field of fixed width by name, with its offset
 * and width, and how such a field is written and read. A field without a width comes last, or ends
 * at a separator. Writers and readers take their positions from here. An address takes five forms:
 *
 * - as written by the worker that read it: a line of `nameLayout`, a tab, an occurrence of
 *   `occurrenceLayout` with its values (`numLayout`, or nummeraanduidingen), and a line end;
 * - as stored in a record: the same name once, then each occurrence after a tab;
 * - as sent: an object to its nummeraanduiding (`objectRowLayout`), an address to its segment
 *   (`keyLayout`, a tab, `addressRowLayout`);
 * - as derived: the rows of an address in the order of their keys, until they are joined to a line;
 * - as a line of a snapshot (`Line`): only its key has fields of fixed width.
 *
 * `reference-lines.ts` has the lines of streets and places, which are made of `spanLayout`.
 */

import { keySeparator } from '../../core/addresses/address-key.ts';
import { idDigits } from '../../core/adres-object.ts';

type Layout<Name extends string> = {
  /** The offset of each field from the start of the first. */
  at: Readonly<Record<Name, number>>;
  /** The bytes of all fields: the offset of what follows. */
  length: number;
};

/** Fields by their widths, in order, each with `between` bytes after it. */
function layoutOf<const Widths extends Record<string, number>>(
  widths: Widths,
  between = 0,
): Layout<keyof Widths & string> {
  const at: Record<string, number> = {};
  let length = 0;
  for (const [name, width] of Object.entries(widths)) {
    at[name] = length;
    length += width + between;
  }
  return { at: at as Record<keyof Widths & string, number>, length };
}

const byteOf = (character: string) => character.charCodeAt(0);
export const tab = byteOf('\t');
export const lineEnd = byteOf('\n');
export const comma = byteOf(',');
export const zero = byteOf('0');
/** Ends the fields of a key. */
export const separator = byteOf(keySeparator);

/** The width of the identificatie of all objects but a woonplaats. */
export const idWidth = idDigits;
/** The width of the identificatie of a woonplaats. */
export const placeIdWidth = 4;
/**
 * The width of a date: `20211015`, and `00010101`, because objects older than their registration
 * begin then.
 */
const dayWidth = 8;
/** The width of the number of an occurrence, in the lines of streets and places. */
export const numberWidth = 5;
const byteWidth = 1;

/** The name of a record: the letter of its kind, and its identificatie. */
export const nameLayout = layoutOf({ kind: byteWidth, identificatie: idWidth });

/** An occurrence: its dates, its number up to a colon, and its values. */
export const occurrenceLayout = layoutOf({ begin: dayWidth, eind: dayWidth });

/** The values of a nummeraanduiding; its address key follows. */
export const numLayout = layoutOf({ openbareRuimte: idWidth, woonplaats: placeIdWidth });

/**
 * The row of an object at a nummeraanduiding; the text of the object follows, with the fields of
 * `objectTextAt` in `core/adres-object.ts`.
 */
export const objectRowLayout = layoutOf({ nummeraanduiding: idWidth });

/** The row of an address after its key and a tab; the texts of its objects follow. */
export const addressRowLayout = layoutOf({
  nummeraanduiding: idWidth,
  openbareRuimte: idWidth,
  woonplaats: placeIdWidth,
});

/** The key of an address: its huisnummer has at least a digit, and ends at the next separator. */
export const keyLayout = layoutOf({ postcode: 6 }, byteWidth);
export const huisnummerAt = keyLayout.length;
/** The shortest key: a postcode, a digit, and the two separators. */
export const leastKeyLength = huisnummerAt + 2 * byteWidth;
/** The shortest row of an address, with its tab and its line end. */
export const leastAddressRow = leastKeyLength + addressRowLayout.length + 2 * byteWidth;
/** All addresses of a segment share these first digits of the postcode. */
export const segmentDigits = 2;
/** All addresses of a part share these first digits of the postcode. */
export const partDigits = 3;

/** After the identificatie of a street or a place and a tab; each field ends in a tab. */
export const spanLayout = layoutOf(
  { begin: dayWidth, volgnummer: numberWidth, eind: dayWidth },
  byteWidth,
);

const eightDigits = 10_000_000;

/** A value that a line can't hold, because it would not read back as it was written. */
export class LineFieldError extends Error {
  override readonly name = 'LineFieldError';

  constructor(value: string | number, width: number) {
    super(`A stored line can't hold ${JSON.stringify(value)}: the field has ${width} characters.`);
  }
}

/**
 * A text that has the width of its field already, such as an identificatie. @throws LineFieldError
 */
export function fixedText(text: string, width: number): string {
  if (text.length !== width) throw new LineFieldError(text, width);
  return text;
}

/** A whole number with leading zeros. @throws LineFieldError */
export function numberText(number: number, width: number): string {
  if (!Number.isInteger(number) || number < 0) throw new LineFieldError(number, width);
  return fixedText(String(number).padStart(width, '0'), width);
}

/** A date as `Span` has it. @throws LineFieldError */
export function dayDigits(day: number): string {
  return day >= eightDigits ? fixedText(String(day), dayWidth) : numberText(day, dayWidth);
}

/**
 * Copies an identificatie as doubles, which JavaScript copies without allocating; digits never make
 * a NaN.
 */
export function copyId(from: DataView, start: number, to: DataView, at: number): void {
  to.setFloat64(at, from.getFloat64(start));
  to.setFloat64(at + 8, from.getFloat64(start + 8));
}

/**
 * The date at `start` of a line that is bytes; without a string, as it is read for every address.
 */
export function dayIn(bytes: Uint8Array, start: number): number {
  let day = 0;
  for (let i = start; i < start + dayWidth; i++) day = day * 10 + (bytes[i] as number) - zero;
  return day;
}
