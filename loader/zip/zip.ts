import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl';
import { ExtractError } from '../extract-error.ts';
import type { RandomAccess } from './random-access.ts';

/**
 * One entry of a zip, as its central directory describes it. Plain JSON: entries are passed between Lambdas. An
 * `encrypted` entry, or one compressed in an `unknown` way, can be listed but not read.
 */
export type ZipEntry = {
  name: string;
  method: 'stored' | 'deflated' | 'encrypted' | 'unknown';
  compressedSize: number;
  size: number;
  crc32: number;
  headerOffset: number;
};

/**
 * Every entry of the zip in `source`, including directories, in the order of its central directory; ZIP64 is supported.
 * Costs two or three reads, however many entries. `label` names the zip in an `ExtractError`; a read that fails is
 * rethrown unchanged.
 */
export async function listEntries(source: RandomAccess, label: string): Promise<ZipEntry[]> {
  const reader = new SourceReader(source);
  try {
    const zip = await fromRandomAccessReaderPromise(reader, source.size, { autoClose: false });
    const entries: ZipEntry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(zipEntry(entry));
    return entries;
  } catch (error) {
    if (reader.failure) throw reader.failure;
    throw await unreadable(source, label, error as Error);
  }
}

function zipEntry(entry: Entry): ZipEntry {
  return {
    name: entry.fileName,
    method: methodOf(entry),
    compressedSize: entry.compressedSize,
    size: entry.uncompressedSize,
    crc32: entry.crc32,
    headerOffset: entry.relativeOffsetOfLocalHeader,
  };
}

function methodOf(entry: Entry): ZipEntry['method'] {
  if (entry.isEncrypted()) return 'encrypted';
  return entry.compressionMethod === 0 ? 'stored' : entry.compressionMethod === 8 ? 'deflated' : 'unknown';
}

const localHeaderSignature = 0x04034b50;

async function unreadable(source: RandomAccess, label: string, cause: Error): Promise<ExtractError> {
  const startsAsZip = source.size >= 4 && (await source.read(0, 4)).readUInt32LE(0) === localHeaderSignature;
  return startsAsZip
    ? new ExtractError('corrupt_zip', label, `a zip that is cut off or damaged; get it again (${cause.message})`, {
        cause,
      })
    : new ExtractError('not_a_zip', label, 'not a zip file; give the .zip as the Kadaster or PDOK delivers it', {
        cause,
      });
}

const readAheadBytes = 256 * 1024;

/**
 * Serves yauzl's many small reads of the central directory from a few large ones, because each read may be a request.
 */
class SourceReader extends RandomAccessReader {
  failure: Error | undefined;
  readonly #source: RandomAccess;
  #ahead: Buffer = Buffer.alloc(0);
  #aheadStart = 0;

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
      callback(new Error(`it refers to byte ${position + length}, beyond its ${this.#source.size} bytes`));
      return;
    }
    this.#range(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        callback(null);
      },
      (error: Error) => {
        this.failure ??= error;
        callback(error);
      },
    );
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null); // the caller closes the source
  }

  async #range(position: number, length: number): Promise<Buffer> {
    const held = position >= this.#aheadStart && position + length <= this.#aheadStart + this.#ahead.length;
    if (!held) {
      const wanted = Math.min(Math.max(length, readAheadBytes), this.#source.size - position);
      this.#ahead = await this.#source.read(position, wanted);
      this.#aheadStart = position;
    }
    return this.#ahead.subarray(position - this.#aheadStart, position - this.#aheadStart + length);
  }
}
