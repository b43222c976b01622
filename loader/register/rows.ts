/** Rows and records as a load stores them, each with its line end. */

import { recordForm } from './record.ts';
import {
  type ByteRanges,
  GrowingBytes,
  lineBytes,
  packLineBytes,
  requireForm,
  unpackLineBytes,
} from './stored-form.ts';

/** Rows by destination, a number below 1,000: a bucket, or the first digits of a postcode. */
export class RowsByNumber {
  readonly #rows: (GrowingBytes | undefined)[] = [];

  of(number: number): GrowingBytes {
    this.#rows[number] ??= new GrowingBytes();
    return this.#rows[number];
  }

  /** All rows, compressed for each number separately, with their positions. Frees the rows. */
  pack(): { packed: Buffer[]; ranges: ByteRanges } {
    const ranges: ByteRanges = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#rows.forEach((rows, number) => {
      if (!rows || rows.length === 0) return;
      const bytes = packLineBytes(rows.bytes);
      rows.release();
      packed.push(bytes);
      ranges[nameOfNumber(number)] = [position, bytes.length];
      position += bytes.length;
    });
    return { packed, ranges };
  }
}

/** A number as the name of a range and of a stored object: `007`. */
export const nameOfNumber = (number: number) => String(number).padStart(3, '0');

const head = lineBytes([recordForm]);

/** Records in their stored form, in the pieces that `putPacked` joins. */
export function packRecords(records: Buffer): Buffer[] {
  return [head, packLineBytes(records)];
}

/** The records that `packRecords` stored. @throws UnknownFormError for another version, Error for damage */
export function unpackRecords(packed: Buffer): Buffer {
  const form = packed.toString('latin1', 0, head.length - 1);
  if (!/^records \d$/.test(form)) throw new Error('not records');
  requireForm(form, recordForm);
  return unpackLineBytes(packed.subarray(head.length));
}
