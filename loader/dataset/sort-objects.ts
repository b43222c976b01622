import { fieldsAt } from './objects.ts';
import { GrowingBytes } from './stored-form.ts';

const lineEnd = 0x0a;
const tilde = 0x7e;
const separator = 0x23;
/** More lines than one part has. A number below this is exact beside the code of a line. */
const mostLines = 2 ** 22;
/** Of a line of another part: comes after all others. */
const lastCode = 2 ** 31 - 1;

/** The code of each line and where it begins: kept from part to part, as new memory takes longer than sorting. */
let [codes, starts] = [new Float64Array(0), new Int32Array(0)];

/**
 * Object lines of one part, as bytes in any order, sorted by them. What the postcode and huisnummer of a line are is a
 * number, by which lines are sorted first. Bytes are compared only of those with the same one (decision 0186).
 */
export function sortObjectLines(text: Buffer): Buffer {
  const most = text.length / fieldsAt.volgnummer + 1;
  if (codes.length < most) [codes, starts] = [new Float64Array(2 * most), new Int32Array(2 * most)];
  let count = 0;
  for (let start = 0; start < text.length; start++) {
    codes[count] = codeAt(text, start) * mostLines + count;
    starts[count++] = start;
    start += fieldsAt.volgnummer;
    while (start < text.length && text[start] !== lineEnd) start++;
  }
  starts[count] = text.length + 1;
  const sorted = codes.subarray(0, count).sort();
  const [lines, view] = [new GrowingBytes(), new DataView(text.buffer, text.byteOffset, text.length)];
  lines.reserve(text.length + 1);
  for (let at = 0, next = 0; at < count; at++) {
    if (at === next) {
      const code = Math.floor((sorted[at] as number) / mostLines) * mostLines;
      for (; (sorted[next] as number) < code + mostLines; next++) sorted[next] = (sorted[next] as number) - code;
      if (next > at + 1) sortByBytes(text, sorted, at, next);
    }
    const line = sorted[at] as number;
    const start = starts[line] as number;
    lines.copy(view, start, (starts[line + 1] as number) - 1 - start);
    lines.memory[lines.length++] = lineEnd;
  }
  return lines.memory.subarray(0, text.length);
}

/** Sorts so many lines with one code: one by one where they are few, as nearly always. */
function sortByBytes(text: Buffer, lines: Float64Array, from: number, end: number): void {
  if (end - from > 32) lines.subarray(from, end).sort((one, other) => compare(text, one, other));
  for (let at = from + 1; at < end; at++) {
    const line = lines[at] as number;
    let to = at;
    for (; to > from && compare(text, lines[to - 1] as number, line) > 0; to--) lines[to] = lines[to - 1] as number;
    lines[to] = line;
  }
}

function compare(text: Buffer, one: number, other: number): number {
  let at = starts[one] as number;
  const offset = (starts[other] as number) - at;
  while (text[at] !== lineEnd && text[at] === text[at + offset]) at++;
  return (text[at] ?? lineEnd) - (text[at + offset] ?? lineEnd);
}

/** Sorts as the key does up to its toevoeging, without the digits that all of the part have: `1381AA#9#A`. */
function codeAt(text: Buffer, start: number): number {
  if (text[start] === tilde) return lastCode;
  if (text[start] === separator) return 0; // without a postcode
  let code = 27 * ((text[start + 3] as number) - 0x30) + (text[start + 4] as number) - 0x40;
  code = 27 * code + (text[start + 5] as number) - 0x40;
  let at = start + 7;
  for (let digit = 0; digit < 5; digit++)
    code = 11 * code + (text[at] === separator ? 0 : (text[at++] as number) - 0x2f);
  return code;
}
