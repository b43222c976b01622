import { pipeline, Readable } from 'node:stream';
import { constants, crc32, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { ExtractError } from '../extract-error.ts';
import type { RandomAccess } from './random-access.ts';
import type { ZipEntry } from './zip.ts';

/** Fills `into` with what comes next in a file, and says how many bytes that are: 0 at the end of it, and only there. */
export type ReadBytes = (into: Buffer) => number;

/** A file that can be read through more than once: each call begins at its start. */
export type ByteFile = () => ReadBytes;

/** The file of bytes that are in memory already; they come at most `most` at a time. */
export function heldFile(bytes: Buffer, most = bytes.length): ByteFile {
  return () => {
    let position = 0;
    return (into) => {
      const count = bytes.copy(into, 0, position, position + most);
      position += count;
      return count;
    };
  };
}

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
 * memory, which the system must clear (decision 0111). Should a Node have no such engine any more, it inflates all at
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

const localHeaderSignature = 0x04034b50;
const localHeaderBytes = 30;
const readAheadBytes = 512; // room for the extra fields of a local header, which the central directory does not give
const chunkBytes = 1024 * 1024;
const largestRatio = 1040; // deflate can't do better than 1,032 to 1
const largestInMemory = 512 * 1024 * 1024; // a file of 10,000 occurrences is 13 MB

/**
 * An entry as a file that is inflated while it is read: its compressed bytes are fetched now, for one range read (rarely
 * two). Whoever reads to its end gets an error unless size and CRC-32 are right. Meant for the XML files of NUM and OPR,
 * 13 MB each: an entry over 512 MB is refused; `entryStream` has no limit.
 */
export async function entryFile(source: RandomAccess, entry: ZipEntry, label: string): Promise<ByteFile> {
  if (entry.size > largestInMemory) throw unsupported(label, `${entry.size} bytes are too many to hold in memory`);
  refuseUnreadable(source, entry, label);
  const compressed = await compressedBytes(source, entry, label);
  const bytes = entry.method === 'stored' ? heldFile(compressed) : () => inflated(compressed, entry.size);
  return () => checkedBytes(bytes(), entry, label);
}

/** The bytes of such an entry in one buffer. */
export async function readEntry(source: RandomAccess, entry: ZipEntry, label: string): Promise<Buffer> {
  const read = (await entryFile(source, entry, label))();
  const bytes = Buffer.allocUnsafeSlow(entry.size + 1);
  let filled = 0;
  for (let count = read(bytes); count > 0; count = read(bytes.subarray(filled))) filled += count;
  return bytes.subarray(0, filled);
}

/** The bytes of an entry as they come, of any size; ends in an error unless size and CRC-32 are right. */
export function entryStream(source: RandomAccess, entry: ZipEntry, label: string): Readable {
  return Readable.from(checkedChunks(source, entry, label), { objectMode: false });
}

/** Where the bytes of an entry lie in `source`: of a stored entry they can be read in place. */
export async function entryRange(
  source: RandomAccess,
  entry: ZipEntry,
  label: string,
): Promise<{ position: number; length: number }> {
  refuseUnreadable(source, entry, label);
  const header = await source.read(entry.headerOffset, localHeaderBytes);
  return { position: entry.headerOffset + dataOffset(header, label), length: entry.compressedSize };
}

async function compressedBytes(source: RandomAccess, entry: ZipEntry, label: string): Promise<Buffer> {
  const expected = localHeaderBytes + Buffer.byteLength(entry.name) + readAheadBytes + entry.compressedSize;
  const bytes = await source.read(entry.headerOffset, Math.min(expected, source.size - entry.headerOffset));
  const start = dataOffset(bytes, label);
  if (start + entry.compressedSize <= bytes.length) return bytes.subarray(start, start + entry.compressedSize);
  if (entry.headerOffset + start + entry.compressedSize > source.size) throw cutOff(label);
  return source.read(entry.headerOffset + start, entry.compressedSize);
}

function dataOffset(header: Buffer, label: string): number {
  if (header.readUInt32LE(0) !== localHeaderSignature) throw damaged(label, 'its local header is missing');
  return localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
}

/** Sums each stretch as it comes, while the processor has it at hand: summed afterwards it takes twice as long. */
function checkedBytes(read: ReadBytes, entry: ZipEntry, label: string): ReadBytes {
  let size = 0;
  let crc = 0;
  return (into) => {
    const count = readOrRefuse(read, into, label);
    size += count;
    crc = crc32(into.subarray(0, count), crc);
    if (count === 0 || size > entry.size) check(entry, size, crc, label);
    return count;
  };
}

function readOrRefuse(read: ReadBytes, into: Buffer, label: string): number {
  try {
    return read(into);
  } catch (cause) {
    throw damaged(label, (cause as Error).message, cause);
  }
}

async function* checkedChunks(source: RandomAccess, entry: ZipEntry, label: string): AsyncGenerator<Buffer> {
  const { position, length } = await entryRange(source, entry, label);
  if (position + length > source.size) throw cutOff(label);
  const stored = rangeChunks(source, position, length);
  let size = 0;
  let crc = 0;
  for await (const chunk of entry.method === 'stored' ? stored : inflatedChunks(stored, label)) {
    size += chunk.length;
    if (size > entry.size) break; // a bomb, or damage: never more than the directory promised
    crc = crc32(chunk, crc);
    yield chunk;
  }
  check(entry, size, crc, label);
}

async function* rangeChunks(source: RandomAccess, position: number, length: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < length; done += chunkBytes) {
    yield await source.read(position + done, Math.min(chunkBytes, length - done));
  }
}

async function* inflatedChunks(compressed: AsyncIterable<Buffer>, label: string): AsyncGenerator<Buffer> {
  const inflated = createInflateRaw({ chunkSize: chunkBytes });
  pipeline(Readable.from(compressed), inflated, () => {}); // a failing read reaches the loop below as it is
  try {
    yield* inflated as AsyncIterable<Buffer>;
  } catch (cause) {
    const isZlibs = String((cause as NodeJS.ErrnoException).code).startsWith('Z_');
    throw isZlibs ? damaged(label, (cause as Error).message, cause) : cause;
  }
}

function refuseUnreadable(source: RandomAccess, entry: ZipEntry, label: string): void {
  if (entry.method === 'encrypted') throw unsupported(label, 'it is encrypted');
  if (entry.method === 'unknown') throw unsupported(label, 'it is compressed in another way than deflate');
  if (entry.headerOffset + localHeaderBytes + entry.compressedSize > source.size) throw cutOff(label);
  if (entry.size > entry.compressedSize * largestRatio + largestRatio) throw damaged(label, 'its size can not be true');
}

function check(entry: ZipEntry, size: number, crc: number, label: string): void {
  if (size !== entry.size) throw damaged(label, `it has another size than the ${entry.size} bytes of the directory`);
  if (crc !== entry.crc32) throw damaged(label, 'its CRC-32 is wrong');
}

function cutOff(label: string): ExtractError {
  return damaged(label, 'it ends after the end of the zip');
}

function damaged(label: string, what: string, cause?: unknown): ExtractError {
  return new ExtractError('corrupt_zip', label, `damaged: ${what}; get the extract again`, { cause });
}

function unsupported(label: string, what: string): ExtractError {
  return new ExtractError('unsupported_zip', label, `${what}; make the zip again with plain deflate`);
}
