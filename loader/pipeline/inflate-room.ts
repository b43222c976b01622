import { constants, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';

/**
 * What zlib's one-shot functions use inside and have kept since Node 6 (minizlib, under npm's own tar, rests on it too).
 * Only speed depends on it: without `_processChunk`, or should the others lose their meaning, fresh memory is used.
 */
type Engine = InflateRaw & {
  _outBuffer: Buffer;
  _chunkSize: number;
  _processChunk?: (chunk: Buffer, flush: number) => Buffer;
};

/**
 * Memory to inflate into, used again for every entry: it costs a third of inflating into fresh memory, which the system
 * must clear and which makes the garbage collector walk the whole heap every few files (decision 0023).
 */
export class InflateRoom {
  #memory = Buffer.alloc(0);

  /**
   * Inflates raw deflate of which the inflated `size` is known, at most by a little more than that. The bytes are valid
   * until the next call. @throws the errors of zlib
   */
  inflate(compressed: Buffer, size: number): Buffer {
    if (this.#memory.length <= size) this.#memory = Buffer.allocUnsafeSlow(size + (size >> 2) + 64);
    const engine = createInflateRaw({ maxOutputLength: size + 1 }) as Engine;
    if (!engine._processChunk) {
      engine.close();
      return inflateFresh(compressed, size);
    }
    engine._outBuffer = this.#memory;
    engine._chunkSize = this.#memory.length;
    return engine._processChunk(compressed, constants.Z_FINISH);
  }
}

/** The same into fresh memory. One byte more than needed spares zlib a second round. */
export function inflateFresh(compressed: Buffer, size: number): Buffer {
  return inflateRawSync(compressed, { chunkSize: Math.max(size + 1, 64), maxOutputLength: size + 1 });
}
