import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Bytes of a file, a buffer, S3 or HTTP. `read` returns exactly `length` or rejects; callers stay
 * within `size`.
 */
export type RandomAccess = {
  readonly size: number;
  /** Whether each read returns memory of its own, which the caller may release. */
  readonly isOwnMemory?: boolean;
  read(position: number, length: number): Promise<Buffer>;
};

/**
 * A file on disk; call `close` when done. Each call waits for the disk: a load reads some kilobytes
 * at a time, mostly right after writing them, and promises would take eight times the CPU.
 */
export async function fileAccess(path: string): Promise<RandomAccess & { close(): Promise<void> }> {
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  return {
    size,
    isOwnMemory: true,
    async read(position, length) {
      const buffer = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const bytesRead = readSync(file, buffer, filled, length - filled, position + filled);
        if (bytesRead === 0) throw new Error(`${path}: ends before byte ${position + length}`);
        filled += bytesRead;
      }
      return buffer;
    },
    close: async () => closeSync(file),
  };
}

/** A buffer; reads share its memory. */
export function bufferAccess(buffer: Buffer): RandomAccess {
  return {
    size: buffer.length,
    async read(position, length) {
      if (position + length > buffer.length) {
        throw new Error(`a buffer ends before byte ${position + length}`);
      }
      return buffer.subarray(position, position + length);
    },
  };
}

/** Access to `length` bytes of `source`, beginning at `position`. */
export function subRange(source: RandomAccess, position: number, length: number): RandomAccess {
  return {
    size: length,
    async read(start, count) {
      if (start + count > length) throw new Error(`a range ends before byte ${start + count}`);
      return source.read(position + start, count);
    },
  };
}
