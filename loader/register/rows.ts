/** Rows and records as a load stores them, each with its line end. */

import { crc32 } from 'node:zlib';
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

  /** All rows, one piece for each number, with their ranges. */
  pieces(): { pieces: Buffer[]; ranges: ByteRanges } {
    const ranges: ByteRanges = {};
    const pieces: Buffer[] = [];
    let position = 0;
    this.#rows.forEach((rows, number) => {
      if (!rows || rows.length === 0) return;
      const { bytes } = rows;
      pieces.push(bytes);
      ranges[nameOfNumber(number)] = [position, bytes.length, crc32(bytes)];
      position += bytes.length;
    });
    return { pieces, ranges };
  }
}

/** A number as the name of a range and of a stored object: `007`. */
export const nameOfNumber = (number: number) => String(number).padStart(3, '0');

const head = lineBytes([recordForm]);

/** Records in their stored form, in the pieces that `putPacked` joins. */
export function packRecords(records: Buffer): Buffer[] {
  return [head, packLineBytes(records)];
}

/**
 * The records that `packRecords` stored. @throws UnknownFormError for another version, Error for
 * damage
 */
export function unpackRecords(packed: Buffer): Buffer {
  const form = packed.toString('latin1', 0, head.length - 1);
  if (!/^records \d$/.test(form)) throw new Error('not records');
  requireForm(form, recordForm);
  return unpackLineBytes(packed.subarray(head.length));
}
