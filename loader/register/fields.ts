/** The fields of fixed width in stored lines: what follows one is read at a fixed position. */

/**
 * The width of a date: `20211015`, and `00010101`, because objects older than their registration
 * begin then.
 */
export const dayWidth = 8;

const zero = 0x30;
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
