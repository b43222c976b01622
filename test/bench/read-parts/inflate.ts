import { inflateRawSync } from 'node:zlib';
import { InflateRoom } from '../../../loader/pipeline/inflate-room.ts';

/** The deflated bytes of an entry, and its inflated size. */
export type Compressed = { bytes: Buffer; size: number };

/** The reference: each entry into a new buffer of its known size. */
export function inflateFresh(entries: Compressed[]): void {
  for (const { bytes, size } of entries) inflateRawSync(bytes, { chunkSize: size + 1, maxOutputLength: size + 1 });
}

const room = new InflateRoom();

/** The same entries, each into the memory of the one before. */
export function inflateInRoom(entries: Compressed[]): void {
  for (const { bytes, size } of entries) room.inflate(bytes, size);
}
