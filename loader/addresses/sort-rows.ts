import {
  huisnummerAt,
  keyLayout,
  leastAddressRow,
  lineEnd,
  segmentDigits,
} from '../register/layouts.ts';
import { firstLineFrom, GrowingBytes, lineBytes, linesOf } from '../register/stored-form.ts';

/**
 * The bytes that tell rows of a segment apart: the rest of the postcode and two bytes of the
 * huisnummer, 7 bits each.
 */
const first = keyLayout.at.postcode + segmentDigits;
const second = first + 1;
const third = first + 2;
const fourth = first + 3;
const fifth = huisnummerAt;
const sixth = huisnummerAt + 1;
const numberBits = 22;
const mostRows = 2 ** numberBits;

/**
 * The rows of a segment in the order of their bytes, which are ASCII. It sorts numbers made from a
 * row's first bytes and position, and makes strings only of rows that begin alike: a third of the
 * time that sorting a load's ten million strings takes. Sorted as strings, a load of the country
 * takes 13% more CPU and 100 MB more.
 */
export function sortedRows(bytes: Buffer): Buffer {
  const most = Math.ceil(bytes.length / leastAddressRow);
  if (most > mostRows) return lineBytes(linesOf(bytes.subarray(0, -1)).sort());
  const starts = new Int32Array(most + 1);
  const halves = new Uint32Array(2 * most);
  const at = (i: number) => bytes[i] as number;
  let count = 0;
  for (let start = 0; start < bytes.length; count++) {
    starts[count] = start;
    halves[2 * count] = ((at(start + fifth) & 7) << 29) | (at(start + sixth) << numberBits) | count;
    const postcode =
      (at(start + first) << 25) | (at(start + second) << 18) | (at(start + third) << 11);
    halves[2 * count + 1] = postcode | (at(start + fourth) << 4) | (at(start + fifth) >> 3);
    start = endOfRow(bytes, start) + 1;
  }
  new BigUint64Array(halves.buffer, 0, count).sort();
  const sorted = new GrowingBytes();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  sorted.reserve(bytes.length + 1);
  const startAt = (place: number) =>
    starts[(halves[2 * place] as number) & (mostRows - 1)] as number;
  const isAlike = (place: number, other: number) =>
    halves[2 * place + 1] === halves[2 * other + 1] &&
    (halves[2 * place] as number) >>> numberBits === (halves[2 * other] as number) >>> numberBits;
  for (let place = 0, next = 0; place < count; place = next) {
    while (++next < count && isAlike(place, next));
    const start = startAt(place);
    if (next === place + 1) {
      sorted.copy(view, start, endOfRow(bytes, start) + 1 - start);
      continue;
    }
    const alike = Array.from({ length: next - place }, (_, i) => startAt(place + i));
    const texts = alike.map((start) => bytes.toString('latin1', start, endOfRow(bytes, start) + 1));
    sorted.write(texts.sort().join(''), 'latin1');
  }
  return sorted.bytes;
}

function endOfRow(bytes: Buffer, start: number): number {
  let end = start + leastAddressRow - 1;
  while (bytes[end] !== lineEnd) end++;
  return end;
}

/** The rows of a part within its sorted segment. */
export function rowsOfPart(sorted: Buffer, part: string): Buffer {
  return sorted.subarray(firstLineFrom(sorted, part), firstLineFrom(sorted, `${part}\xff`));
}
