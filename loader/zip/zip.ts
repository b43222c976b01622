/**
 * A zip at random access: its entries, from the central directory, and the bytes of each, checked
 * against it.
 */

import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl';
import { ExtractError } from '../load-error.ts';
import { releaseMemory } from '../release-memory.ts';
import type { RandomAccess } from './random-access.ts';

const localHeaderSignature = 0x04034b50;
const localHeaderBytes = 30;
/** May follow the directory: its signature, the end of a zip64, and the end. */
const afterDirectory = [0x05054b50, 0x06064b50, 0x06054b50];
/** The size of a directory entry before its name, the offset of its flags, and two flags. */
const directoryHeaderBytes = 46;
const flagsAt = 8;
const encryption = 0x01;
const strongEncryption = 0x40;
const extraBytes = 512; // enough for the extra fields of a local header, which the central directory does not list
const directoryChunkBytes = 256 * 1024; // each is a request if the zip is in S3
const compressedChunkBytes = 16 * 1024 * 1024; // as well: large ones spend little of their time waiting
const fileChunkBytes = 256 * 1024; // no request, and V8 sees too late how much memory large ones hold
const chunkBytes = 1024 * 1024;
const largestRatio = 1040; // deflate can't do better than 1,032 to 1
const largestInMemory = 256 * 1024 * 1024; // a file of 10,000 occurrences is 13 MB

/**
 * An entry as the directory has it, as JSON for Lambdas. One that is `encrypted` or `unknown` can
 * only be listed.
 */
export type ZipEntry = {
  name: string;
  method: 'stored' | 'deflated' | 'encrypted' | 'unknown';
  compressedSize: number;
  size: number;
  crc32: number;
  headerOffset: number;
  /** When its file was last written, as MS-DOS counts: a later time is a greater number. */
  modified: number;
};

/** Identifies the bytes of some files, in whatever order and however they are zipped. */
export function hashOf(files: readonly ZipEntry[]): string {
  const contents = files.map(({ crc32, size }) => `${crc32} ${size}`).sort();
  return createHash('sha256').update(contents.join()).digest('hex').slice(0, 16);
}

/**
 * Every entry of a zip or ZIP64 in the order of its directory, directories too; two or three reads.
 */
export async function listEntries(source: RandomAccess, label: string): Promise<ZipEntry[]> {
  const reader = new SourceReader(source);
  try {
    const zip = await fromRandomAccessReaderPromise(reader, source.size, {
      autoClose: false,
      validateEntrySizes: false,
    });
    const entries: ZipEntry[] = [];
    for await (const entry of zip.eachEntry()) {
      if (overwritten.test(entry.fileName)) {
        throw new Error('the name of a file has control characters');
      }
      entries.push(zipEntry(entry));
    }
    // A damaged length of a name or comment moves all that is read after it.
    if (entries.length > 0 && !afterDirectory.includes(await reader.signatureAtEnd())) {
      throw new Error('the directory does not end after its last file');
    }
    return entries;
  } catch (error) {
    if (reader.failure) throw reader.failure;
    throw await unreadable(source, label, error as Error);
  }
}

/**
 * Bytes of zeros or ones in a name, which would hide its file: code page 437 reads the latter as a
 * no-break space.
 */
const overwritten = /[\p{Cc}\ufffd\u00a0]/u;

function zipEntry(entry: Entry): ZipEntry {
  return {
    name: entry.fileName,
    method: methodOf(entry),
    compressedSize: entry.compressedSize,
    size: entry.uncompressedSize,
    crc32: entry.crc32,
    headerOffset: entry.relativeOffsetOfLocalHeader,
    modified: entry.lastModFileDate * 0x10000 + entry.lastModFileTime,
  };
}

function methodOf(entry: Entry): ZipEntry['method'] {
  if (entry.isEncrypted()) return 'encrypted';
  return entry.compressionMethod === 0
    ? 'stored'
    : entry.compressionMethod === 8
      ? 'deflated'
      : 'unknown';
}

async function unreadable(
  source: RandomAccess,
  label: string,
  cause: Error,
): Promise<ExtractError> {
  const startsAsZip =
    source.size >= 4 && (await source.read(0, 4)).readUInt32LE(0) === localHeaderSignature;
  return startsAsZip
    ? new ExtractError(
        'corrupt_zip',
        label,
        `a zip that is cut off or damaged; get it again (${cause.message})`,
        {
          cause,
        },
      )
    : new ExtractError(
        'not_a_zip',
        label,
        'not a zip file; give the .zip as the Kadaster or PDOK delivers it',
        {
          cause,
        },
      );
}

/**
 * Serves yauzl's many small reads of the central directory from a few large ones, as each read may
 * be a request.
 */
class SourceReader extends RandomAccessReader {
  failure: Error | undefined;
  readonly #source: RandomAccess;
  #ahead: Buffer = Buffer.alloc(0);
  #aheadStart = 0;
  #end = 0;

  constructor(source: RandomAccess) {
    super();
    this.#source = source;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    // yauzl computes positions from fields of the zip, which may be damaged.
    if (!(position >= 0 && position + length <= this.#source.size)) {
      callback(
        new Error(`it refers to byte ${position + length}, beyond its ${this.#source.size} bytes`),
      );
      return;
    }
    this.#end = position + length;
    this.#range(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        // yauzl refuses a whole zip for one entry with strong encryption, which may be of no use
        // here.
        if (
          length === directoryHeaderBytes &&
          (buffer.readUInt16LE(offset + flagsAt) & strongEncryption) !== 0
        ) {
          buffer.writeUInt16LE(encryption, offset + flagsAt);
        }
        callback(null);
      },
      (error: Error) => {
        this.failure ??= error;
        callback(error);
      },
    );
  }

  /** The four bytes after the last range that was read. */
  signatureAtEnd(): Promise<number> {
    const bytes = Buffer.alloc(4);
    return new Promise((resolve, reject) => {
      this.read(bytes, 0, 4, this.#end, (error) =>
        error ? reject(error) : resolve(bytes.readUInt32LE(0)),
      );
    });
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null); // the caller closes the source
  }

  async #range(position: number, length: number): Promise<Buffer> {
    const held =
      position >= this.#aheadStart && position + length <= this.#aheadStart + this.#ahead.length;
    if (!held) {
      const wanted = Math.min(Math.max(length, directoryChunkBytes), this.#source.size - position);
      this.#ahead = await this.#source.read(position, wanted);
      this.#aheadStart = position;
    }
    return this.#ahead.subarray(position - this.#aheadStart, position - this.#aheadStart + length);
  }
}

/**
 * Passes the bytes of an entry to `use`, and frees their memory afterwards, so that the next entry
 * is inflated into it: keep none of the bytes. Costs one range read (rarely two). For the XML files
 * of NUM and OPR, of 13 MB each: refuses over 256 MB; `entryStream` has no limit.
 */
export async function withEntry<T>(
  source: RandomAccess,
  entry: ZipEntry,
  label: string,
  use: (bytes: Buffer) => T,
): Promise<T> {
  refuseUnreadable(source, entry, label);
  if (entry.size > largestInMemory) {
    throw unsupported(label, `${entry.size} bytes are too many to hold in memory`);
  }
  const compressed = await compressedBytes(source, entry, label);
  const isStored = entry.method === 'stored';
  const bytes = isStored ? compressed : inflated(compressed, entry, label);
  if (!isStored && source.isOwnMemory) releaseMemory(compressed);
  try {
    check(entry, bytes.length, crc32(bytes), label);
    return use(bytes);
  } finally {
    if (!isStored) releaseMemory(bytes);
  }
}

/** The bytes of such an entry, in memory of their own. */
export async function readEntry(
  source: RandomAccess,
  entry: ZipEntry,
  label: string,
): Promise<Buffer> {
  return withEntry(source, entry, label, (bytes) => Buffer.from(bytes));
}

/**
 * The bytes of an entry of any size, as a stream; it fails at its end unless size and CRC-32 are
 * right.
 */
export function entryStream(source: RandomAccess, entry: ZipEntry, label: string): Readable {
  return Readable.from(checkedChunks(source, entry, label), { objectMode: false });
}

/** The range of an entry's bytes in `source`; a stored entry can be read in place. */
export async function entryRange(
  source: RandomAccess,
  entry: ZipEntry,
  label: string,
): Promise<{ position: number; length: number }> {
  refuseUnreadable(source, entry, label);
  const header = await source.read(entry.headerOffset, localHeaderBytes);
  const position = entry.headerOffset + dataOffset(header, label);
  if (position + entry.compressedSize > source.size) throw cutOff(label);
  return { position, length: entry.compressedSize };
}

async function compressedBytes(
  source: RandomAccess,
  entry: ZipEntry,
  label: string,
): Promise<Buffer> {
  const expected =
    localHeaderBytes + Buffer.byteLength(entry.name) + extraBytes + entry.compressedSize;
  const bytes = await source.read(
    entry.headerOffset,
    Math.min(expected, source.size - entry.headerOffset),
  );
  const start = dataOffset(bytes, label);
  if (start + entry.compressedSize <= bytes.length) {
    return bytes.subarray(start, start + entry.compressedSize);
  }
  if (entry.headerOffset + start + entry.compressedSize > source.size) throw cutOff(label);
  return source.read(entry.headerOffset + start, entry.compressedSize);
}

function dataOffset(header: Buffer, label: string): number {
  if (header.readUInt32LE(0) !== localHeaderSignature) {
    throw damaged(label, 'its local header is missing');
  }
  return localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
}

/** A reader may look at so many bytes beyond the end of an entry without leaving its memory. */
const bytesBehind = 1_024;

/** Inflates into one buffer of the known size, where zlib would by default concatenate many. */
function inflated(compressed: Buffer, { size }: ZipEntry, label: string): Buffer {
  try {
    return inflateRawSync(compressed, { chunkSize: size + bytesBehind, maxOutputLength: size + 1 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw anotherSize(size, label);
    }
    throw damaged(label, (cause as Error).message, cause);
  }
}

async function* checkedChunks(
  source: RandomAccess,
  entry: ZipEntry,
  label: string,
): AsyncGenerator<Buffer> {
  const { position, length } = await entryRange(source, entry, label);
  const stored = rangeChunks(source, position, length);
  let size = 0;
  let crc = 0;
  for await (const chunk of entry.method === 'stored' ? stored : inflatedChunks(stored, label)) {
    size += chunk.length;
    if (size > entry.size) break; // a zip bomb or damage: never more bytes than the directory says
    crc = crc32(chunk, crc);
    yield chunk;
  }
  check(entry, size, crc, label);
}

async function* rangeChunks(
  source: RandomAccess,
  position: number,
  length: number,
): AsyncGenerator<Buffer> {
  const most = source.isOwnMemory ? fileChunkBytes : compressedChunkBytes;
  for (let done = 0; done < length; done += most) {
    yield await source.read(position + done, Math.min(most, length - done));
  }
}

async function* inflatedChunks(
  compressed: AsyncIterable<Buffer>,
  label: string,
): AsyncGenerator<Buffer> {
  const inflated = createInflateRaw({ chunkSize: chunkBytes });
  pipeline(Readable.from(compressed), inflated, () => {}); // errors of reads pass through the loop below unchanged
  try {
    yield* inflated as AsyncIterable<Buffer>;
  } catch (cause) {
    const isZlibs = String((cause as NodeJS.ErrnoException).code).startsWith('Z_');
    throw isZlibs ? damaged(label, (cause as Error).message, cause) : cause;
  }
}

function refuseUnreadable(source: RandomAccess, entry: ZipEntry, label: string): void {
  if (entry.method === 'encrypted') throw unsupported(label, 'it is encrypted');
  if (entry.method === 'unknown') {
    throw unsupported(label, 'it is compressed in another way than deflate');
  }
  if (entry.headerOffset + localHeaderBytes + entry.compressedSize > source.size) {
    throw cutOff(label);
  }
  if (entry.size > entry.compressedSize * largestRatio + largestRatio) {
    throw damaged(label, 'its size is impossible');
  }
}

function check(entry: ZipEntry, size: number, crc: number, label: string): void {
  if (size !== entry.size) throw anotherSize(entry.size, label);
  if (crc !== entry.crc32) throw damaged(label, 'its CRC-32 is wrong');
}

function anotherSize(expected: number, label: string): ExtractError {
  return damaged(label, `it has another size than the ${expected} bytes of the directory`);
}

function cutOff(label: string): ExtractError {
  return damaged(label, 'it ends beyond the end of the zip');
}

function damaged(label: string, what: string, cause?: unknown): ExtractError {
  return new ExtractError('corrupt_zip', label, `damaged: ${what}; get the extract again`, {
    cause,
  });
}

function unsupported(label: string, what: string): ExtractError {
  return new ExtractError(
    'unsupported_zip',
    label,
    `${what}; make the zip again with plain deflate`,
  );
}
