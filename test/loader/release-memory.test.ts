import { expect, it } from '@jest/globals';
import { releaseMemory } from '../../loader/release-memory.ts';

const { poolSize } = Buffer;

it.each([poolSize / 2, poolSize - 1, poolSize + 1, 10 * poolSize])(
  'memory of %i bytes is freed when it is released, and releasing it again does nothing',
  (length) => {
    const bytes = Buffer.allocUnsafe(length);
    releaseMemory(bytes.subarray(1));
    expect(bytes).toHaveLength(0);
    releaseMemory(bytes);
  },
);

it.each([0, 1, poolSize / 2 - 1])(
  'a buffer of %i bytes, which shares its memory, stays as it is',
  (length) => {
    const bytes = Buffer.allocUnsafe(length).fill(7);
    releaseMemory(bytes);
    expect(bytes).toEqual(Buffer.alloc(length, 7));
  },
);
