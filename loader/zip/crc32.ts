import zlib from 'node:zlib';
import { type SimdLoop, simd, simdLoop } from '../simd.ts';

/**
 * A CRC-32 is the remainder of a division by a polynomial, and 1 + x^89 + x^117 + x^155 + x^300 is a multiple of that
 * where x stands for a word of 16 bytes. So a word can be left out if it is added (XOR) to those at these distances
 * after it, which needs no table and no multiplication (decision 0110).
 */
const distances = [145, 183, 211, 300];
const wordBytes = 16;
const longest = 300 * wordBytes;
const chunkBytes = 128 * 1024;
const leastBytes = 64 * 1024;

/** The words of a chunk that are left out follow the last ones before it in memory, and the chunk follows them. */
const [foldedAt, chunkAt] = [longest, longest + chunkBytes];
let folding: SimdLoop | undefined;

function fold(): SimdLoop {
  return simdLoop(chunkAt + chunkBytes, (at) => [
    ...[...simd.p, ...simd.p, ...simd.load(chunkAt + at)],
    ...distances.flatMap((distance) => [...simd.p, ...simd.load(foldedAt + at - wordBytes * distance), ...simd.xor]),
    ...simd.store(foldedAt + at),
  ]);
}

/** The CRC-32 that zlib computes, in two fifths of the time where there are many bytes. */
export function crc32(bytes: Uint8Array, before = 0): number {
  if (bytes.length < leastBytes) return zlib.crc32(bytes, before);
  const foldable = bytes.length - longest;
  const restAt = foldable - (foldable % (2 * wordBytes));
  const last = Buffer.alloc(longest);
  last.writeInt32LE(~before);
  folding ??= fold();
  const { memory, run } = folding;
  for (let start = 0; start < restAt; start += chunkBytes) {
    const length = Math.min(chunkBytes, restAt - start);
    memory.set(last);
    memory.set(bytes.subarray(start, start + length), chunkAt);
    run(0, length, 0);
    memory.copy(last, 0, length, length + longest);
  }
  const rest = Buffer.from(bytes.subarray(restAt));
  for (const distance of distances) {
    const from = longest - wordBytes * distance;
    for (let at = from; at < longest; at++) rest[at - from] = (rest[at - from] as number) ^ (last[at] as number);
  }
  return zlib.crc32(rest, 0xffffffff);
}
