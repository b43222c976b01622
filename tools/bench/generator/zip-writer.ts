import { type FileHandle, open } from 'node:fs/promises';
import { crc32, deflateRawSync } from 'node:zlib';

/** An entry, compressed by whoever has the time: a worker thread. */
export type PackedEntry = {
  name: string;
  bytes: Uint8Array;
  size: number;
  crc: number;
  method: 0 | 8;
};

/** Compresses the bytes of an entry as the Kadaster does. */
export function deflated(name: string, bytes: Buffer): PackedEntry {
  return { name, bytes: deflateRawSync(bytes), size: bytes.length, crc: crc32(bytes), method: 8 };
}

type Written = Omit<PackedEntry, 'bytes'> & { compressed: number; offset: number };

/**
 * Writes a zip of zips in one pass: the entries of a stored inner zip go straight to where they
 * will lie, and the header in front of it is filled in when its size and CRC-32 are known. (yazl
 * compresses on the main thread and can't do this.) Under 4 GB and 65,535 entries: no ZIP64.
 */
export class ZipOfZipsWriter {
  readonly #file: FileHandle;
  #position = 0;
  #outer: Written[] = [];

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<ZipOfZipsWriter> {
    return new ZipOfZipsWriter(await open(path, 'w'));
  }

  /** An entry of the outer zip itself. */
  async add(entry: PackedEntry): Promise<void> {
    const written = { ...entry, compressed: entry.bytes.length, offset: this.#position };
    await this.#append(localHeader(written));
    await this.#append(entry.bytes);
    this.#outer.push(written);
  }

  /** A stored entry that is a zip of `entries`, written as they come. */
  async addZip(name: string, entries: AsyncIterable<PackedEntry>): Promise<void> {
    const offset = this.#position;
    await this.#append(localHeader({ name, offset, size: 0, compressed: 0, crc: 0, method: 0 }));
    const start = this.#position;
    let crc = 0;
    const append = async (bytes: Uint8Array) => {
      crc = crc32(bytes, crc);
      await this.#append(bytes);
    };
    const inner: Written[] = [];
    for await (const entry of entries) {
      const written = { ...entry, compressed: entry.bytes.length, offset: this.#position - start };
      await append(localHeader(written));
      await append(entry.bytes);
      inner.push(written);
    }
    await append(centralDirectory(inner, this.#position - start));
    const size = this.#position - start;
    const written: Written = { name, offset, size, compressed: size, crc, method: 0 };
    const header = localHeader(written);
    await this.#file.write(header, 0, header.length, offset);
    this.#outer.push(written);
  }

  async close(): Promise<void> {
    await this.#append(centralDirectory(this.#outer, this.#position));
    await this.#file.close();
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.#file.write(bytes, 0, bytes.length, this.#position);
    this.#position += bytes.length;
  }
}

const version = 20;
const midnight2026 = ((2026 - 1980) << 25) | (1 << 21) | (1 << 16);

function localHeader(entry: Written): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(version, 4);
  writeDescription(header, 8, entry);
  return Buffer.concat([header, Buffer.from(entry.name)]);
}

function centralDirectory(entries: Written[], offset: number): Buffer {
  const headers = entries.map((entry) => {
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE(version, 4);
    header.writeUInt16LE(version, 6);
    writeDescription(header, 10, entry);
    header.writeUInt32LE(entry.offset, 42);
    return Buffer.concat([header, Buffer.from(entry.name)]);
  });
  const directory = Buffer.concat(headers);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([directory, end]);
}

/** The part that both headers have: method, time, CRC-32, sizes, length of the name. */
function writeDescription(header: Buffer, at: number, entry: Written): void {
  header.writeUInt16LE(entry.method, at);
  header.writeUInt32LE(midnight2026, at + 2);
  header.writeUInt32LE(entry.crc, at + 6);
  header.writeUInt32LE(entry.compressed, at + 10);
  header.writeUInt32LE(entry.size, at + 14);
  header.writeUInt16LE(Buffer.byteLength(entry.name), at + 18);
}
