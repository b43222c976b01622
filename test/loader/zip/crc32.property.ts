import zlib from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { crc32 } from '../../../loader/zip/crc32.ts';

/** More than three of the chunks that bytes are copied in. */
const mostBytes = 400_000;
const pool = Buffer.alloc(
  mostBytes + 64,
  zlib.deflateRawSync(Buffer.from(Array.from({ length: 999 }, Math.sin).join())),
);

describe('a CRC-32', () => {
  it('is that of zlib, at any length and alignment, after any bytes before', () => {
    fc.assert(
      fc.property(fc.nat(63), fc.nat(mostBytes), fc.nat(0xffffffff), (start, length, before) => {
        const bytes = pool.subarray(start, start + length);
        expect(crc32(bytes, before)).toBe(zlib.crc32(bytes, before));
        expect(crc32(bytes)).toBe(zlib.crc32(bytes));
      }),
    );
  });

  it('is that of zlib at every length around those where the way changes', () => {
    for (const around of [0, 4_800, 64 * 1024, 64 * 1024 + 4_800, 128 * 1024 + 4_800, 256 * 1024 + 4_800]) {
      for (let length = Math.max(0, around - 40); length <= around + 40; length++) {
        const bytes = pool.subarray(1, 1 + length);
        expect([length, crc32(bytes)]).toEqual([length, zlib.crc32(bytes)]);
      }
    }
  });

  it('is another one when any one bit differs', () => {
    const bytes = Buffer.from(pool.subarray(0, mostBytes));
    const before = crc32(bytes);
    fc.assert(
      fc.property(fc.nat(mostBytes - 1), fc.nat(7), (at, bit) => {
        bytes[at] = (bytes[at] as number) ^ (1 << bit);
        const after = crc32(bytes);
        bytes[at] = (bytes[at] as number) ^ (1 << bit);
        return after !== before;
      }),
    );
  });
});
