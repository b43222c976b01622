import { crc32 } from 'node:zlib';

const bits = 32;

/**
 * JSON that ends in a line with the CRC-32 of all before it, each bit a space (0) or a tab (1). JSON parsers ignore
 * that line as white space: Step Functions reads some of these files as the items of a map, so they must stay plain
 * JSON.
 */
export function checkedJson(value: unknown): Buffer {
  const text = Buffer.from(`${JSON.stringify(value)}\n`);
  return Buffer.concat([text, Buffer.from(checksumLine(text))]);
}

/**
 * Parses what `checkedJson` made and verifies its checksum; JSON without one was written by another program and is
 * accepted unverified.
 * @throws Error when the bytes are not what was written
 */
export function parseCheckedJson<T>(bytes: Buffer): T {
  const start = bytes.length - bits;
  const line = bytes.toString('latin1', Math.max(0, start));
  if (/^[ \t]{32}$/.test(line) && line !== checksumLine(bytes.subarray(0, start))) throw new Error('wrong checksum');
  return JSON.parse(bytes.toString()) as T;
}

function checksumLine(text: Uint8Array): string {
  return crc32(text).toString(2).padStart(bits, '0').replaceAll('0', ' ').replaceAll('1', '\t');
}
