import { constants, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { heldFile, type ReadBytes } from '../bag/byte-file.ts';

/**
 * What zlib's one-shot functions do in the end, the same since Node 9 (pngjs rests on it too): inflates some input into
 * some memory, and leaves in `_writeState` how much of the memory and of the input remains.
 */
type Engine = InflateRaw & {
  _handle?: { writeSync(flush: number, input: Buffer, inputAt: number, inputLength: number, ...into: Into): void };
  _writeState?: Uint32Array;
};
type Into = [output: Buffer, outputAt: number, outputLength: number];

/**
 * Reads what raw deflate holds, inflated into the reader's own memory: a quarter of the CPU of inflating into fresh
 * memory, which the system must clear (decision 0023). Should a Node have no such engine any more, it inflates all at
 * once, up to `size` bytes. @throws the errors of zlib
 */
export function inflated(compressed: Buffer, size: number): ReadBytes {
  const engine = createInflateRaw({ chunkSize: constants.Z_MIN_CHUNK }) as Engine;
  const { _handle: handle, _writeState: state } = engine;
  if (!handle?.writeSync || !state) return heldFile(inflateRawSync(compressed, { maxOutputLength: size + 1 }))();
  engine.on('error', () => {}); // it is thrown below
  let position = 0;
  return (into) => {
    if (engine.destroyed) return 0;
    handle.writeSync(constants.Z_FINISH, compressed, position, compressed.length - position, into, 0, into.length);
    if (engine.errored) throw engine.errored;
    const [outputLeft = 0, inputLeft = 0] = state;
    position = compressed.length - inputLeft;
    if (outputLeft === into.length) engine.close();
    return into.length - outputLeft;
  };
}
