import { bytesOf, GrowingBytes, linesOf } from '../register/stored-form.ts';

const lineEnd = 0x0a;
/** Rows begin with their part; the bytes after it are 7 bits each, before the number. */
const [prefixAt, numberBits] = [3, 22];
const mostRows = 2 ** numberBits;
const leastLength = 40;

/**
 * The rows of a part in the order of their bytes, which are ASCII. Numbers are sorted, of a row's first bytes and its
 * place, and strings made only of rows that begin alike: it takes a third of the time of sorting strings, of which a
 * load has ten million.
 */
export function sortedRows(bytes: Buffer): Buffer {
  const most = Math.ceil(bytes.length / leastLength);
  if (most > mostRows) return bytesOf([...linesOf(bytes.subarray(0, -1)).sort(), '']);
  const starts = new Int32Array(most + 1);
  const halves = new Uint32Array(2 * most);
  let count = 0;
  for (let start = 0; start < bytes.length; count++) {
    starts[count] = start;
    const at = (i: number) => bytes[start + prefixAt + i] as number;
    halves[2 * count] = ((at(4) & 7) << 29) | (at(5) << numberBits) | count;
    halves[2 * count + 1] = (at(0) << 25) | (at(1) << 18) | (at(2) << 11) | (at(3) << 4) | (at(4) >> 3);
    start = endOfRow(bytes, start + leastLength - 1) + 1;
  }
  new BigUint64Array(halves.buffer, 0, count).sort();
  const [sorted, view] = [new GrowingBytes(), new DataView(bytes.buffer, bytes.byteOffset, bytes.length)];
  sorted.reserve(bytes.length + 1);
  const startAt = (place: number) => starts[(halves[2 * place] as number) & (mostRows - 1)] as number;
  const isAlike = (place: number, other: number) =>
    halves[2 * place + 1] === halves[2 * other + 1] &&
    (halves[2 * place] as number) >>> numberBits === (halves[2 * other] as number) >>> numberBits;
  for (let place = 0, next = 0; place < count; place = next) {
    while (++next < count && isAlike(place, next));
    const alike = Array.from({ length: next - place }, (_, i) => startAt(place + i));
    if (alike.length > 1) {
      const texts = alike.map((start) => bytes.toString('latin1', start, endOfRow(bytes, start) + 1));
      sorted.write(texts.sort().join(''), 'latin1');
    } else {
      const start = startAt(place);
      sorted.copy(view, start, endOfRow(bytes, start) + 1 - start);
    }
  }
  return sorted.bytes;
}

function endOfRow(bytes: Buffer, from: number): number {
  let end = from;
  while (bytes[end] !== lineEnd) end++;
  return end;
}
