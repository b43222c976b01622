import type { ByteFile } from './byte-file.ts';

/** So much stays next to the processor while it is inflated, summed and read; and its text is an ordinary string. */
const windowBytes = 128 * 1024;

/**
 * A file in pieces that each end with `end`, but for the last, so that none ends within a letter. All lie in one window
 * of memory, which only grows for what does not fit: a piece is valid until the next one is asked for.
 */
export function* piecesOf(file: ByteFile, end: string): Generator<Buffer> {
  const read = file();
  let memory = Buffer.allocUnsafeSlow(windowBytes);
  let filled = 0;
  for (let count = read(memory); count > 0; count = read(memory.subarray(filled))) {
    filled += count;
    const found = memory.subarray(0, filled).lastIndexOf(end, undefined, 'latin1');
    if (found >= 0) {
      const length = found + end.length;
      yield memory.subarray(0, length);
      memory.copyWithin(0, length, filled);
      filled -= length;
    } else if (filled === memory.length) {
      memory = Buffer.concat([memory], 2 * memory.length);
    }
  }
  yield memory.subarray(0, filled);
}

/** Reads a file to its end for what its reader says about it, such as that it is damaged. */
export function readThrough(file: ByteFile): void {
  for (const _ of piecesOf(file, ''));
}
