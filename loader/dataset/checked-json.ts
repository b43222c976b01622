import { crc32 } from 'node:zlib';

const bits = 32;

/**
 * JSON that ends in a line with the CRC-32 of all before it, each bit a space (0) or a tab (1). JSON parsers ignore
 * that line as white space: Step Functions reads some of these files as the items of a map, so they must stay plain
 * JSON. With a `name`, the checksum covers that too, so what is stored under one name is not accepted under another.
 */
export function checkedJson(value: unknown, name = ''): Buffer {
  const text = Buffer.from(`${JSON.stringify(value)}\n`);
  return Buffer.concat([text, Buffer.from(checksumLine(text, name))]);
}

/**
 * Parses what `checkedJson` made and verifies its checksum; JSON without one was written by another program and is
 * accepted unverified.
 * @throws Error when the bytes are not what was written
 */
export function parseCheckedJson<T>(bytes: Buffer, name = ''): T {
  const start = bytes.length - bits;
  const line = bytes.toString('latin1', Math.max(0, start));
  if (/^[ \t]{32}$/.test(line)) {
    const text = bytes.subarray(0, start);
    // Earlier versions wrote no name.
    if (line !== checksumLine(text, name) && line !== checksumLine(text, '')) throw new Error('wrong checksum');
  }
  return JSON.parse(bytes.toString()) as T;
}

function checksumLine(text: Uint8Array, name: string): string {
  return crc32(text, crc32(name)).toString(2).padStart(bits, '0').replaceAll('0', ' ').replaceAll('1', '\t');
}
