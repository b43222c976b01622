import { fieldsAt } from './objects.ts';

const lineEnd = 0x0a;
const tilde = 0x7e;
const separator = 0x23;
/** More lines than one part has. A number below this is exact beside the code of a line. */
const mostLines = 2 ** 22;
/** Of a line of another part: comes after all others. */
const lastCode = 2 ** 31 - 1;

/** The code of each line and where it begins: kept from part to part, as new memory takes longer than sorting. */
let codes = new Float64Array(2 ** 14);
let starts = new Int32Array(2 ** 14);

function grow(): void {
  const [formerCodes, formerStarts] = [codes, starts];
  codes = new Float64Array(2 * formerCodes.length);
  starts = new Int32Array(2 * formerStarts.length);
  codes.set(formerCodes);
  starts.set(formerStarts);
}

/**
 * Object lines of one part, as bytes in any order, sorted by them. What the postcode and huisnummer of a line are is a
 * number, and strings are made only of those with the same one (decision 0186).
 */
export function sortObjectLines(text: Buffer): Buffer {
  let count = 0;
  for (let start = 0; start < text.length; start++) {
    if (count + 1 >= starts.length) grow();
    codes[count] = codeAt(text, start) * mostLines + count;
    starts[count++] = start;
    start += fieldsAt.volgnummer;
    while (start < text.length && text[start] !== lineEnd) start++;
  }
  starts[count] = text.length + 1;
  const sorted = codes.subarray(0, count).sort();
  const lines = Buffer.allocUnsafeSlow(text.length + 1);
  for (let at = 0, to = 0, next = 0; at < sorted.length; at = next) {
    const code = Math.floor((sorted[at] as number) / mostLines) * mostLines;
    // What is left are the numbers of the lines.
    for (; (sorted[next] as number) < code + mostLines; next++) sorted[next] = (sorted[next] as number) - code;
    if (next === at + 1) {
      const line = sorted[at] as number;
      to += text.copy(lines, to, starts[line], (starts[line + 1] as number) - 1);
      lines[to++] = lineEnd;
    } else {
      const same = Array.from(sorted.subarray(at, next), (line) =>
        text.toString('latin1', starts[line], (starts[line + 1] as number) - 1),
      );
      to += lines.write(`${same.sort().join('\n')}\n`, to, 'latin1');
    }
  }
  return lines.subarray(0, text.length);
}

/** Sorts as the key does up to its toevoeging, without the digits that all of the part have: `1381AA#9#A`. */
function codeAt(text: Buffer, start: number): number {
  if (text[start] === tilde) return lastCode;
  if (text[start] === separator) return 0; // without a postcode
  let code = (text[start + 3] as number) - 0x30;
  for (const at of [start + 4, start + 5]) code = 27 * code + (text[at] as number) - 0x40;
  let at = start + 7;
  for (let digit = 0; digit < 5; digit++)
    code = 11 * code + (text[at] === separator ? 0 : (text[at++] as number) - 0x2f);
  return code;
}
