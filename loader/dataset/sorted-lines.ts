const lineEnd = 0x0a;

/** Where lines begin, and where the line after them does. */
export type LineRange = { start: number; end: number };

/** Lines as bytes, sorted by them: some are looked up and replaced, and no string is made of the others. */
export class SortedLines {
  readonly #text: Buffer;

  /** @param text lines that line ends separate; the last one has none */
  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Where the lines that start with `prefix` are, or where they would be. */
  rangeOf(prefix: string): LineRange {
    const text = this.#text;
    const bytes = Buffer.from(prefix, 'latin1');
    const compare = (at: number) => {
      let i = 0;
      while (i < bytes.length && text[at + i] === bytes[i]) i++;
      return i === bytes.length ? 0 : (text[at + i] ?? -1) - (bytes[i] as number);
    };
    let [start, above] = [0, text.length];
    while (start < above) {
      const middle = (start + above) >> 1;
      const line = middle === 0 ? 0 : text.lastIndexOf(lineEnd, middle - 1) + 1;
      if (compare(line) < 0) start = this.#after(middle);
      else above = line;
    }
    let end = start;
    while (end < text.length && compare(end) === 0) end = this.#after(end);
    return { start, end };
  }

  /** Where this line is, however often, or where it would be. */
  rangeOfLine(line: string): LineRange {
    const { start } = this.rangeOf(line);
    let end = start;
    while (end < this.#text.length && this.#after(end) === end + line.length + 1 && this.#startsWith(end, line)) {
      end = this.#after(end);
    }
    return { start, end };
  }

  /** The lines in a range. */
  linesIn({ start, end }: LineRange): string[] {
    return start === end ? [] : this.#text.toString('latin1', start, end - 1).split('\n');
  }

  /** The lines after some ranges were replaced. Of ranges that begin at the same place the empty ones come first. */
  replaced(ranges: readonly (LineRange & { lines: readonly string[] })[]): Buffer {
    const pieces: Buffer[] = [];
    const add = (bytes: Buffer) => {
      if (bytes.length > 0) pieces.push(...(pieces.length > 0 ? [Buffer.of(lineEnd)] : []), bytes);
    };
    let position = 0;
    for (const { start, end, lines } of ranges.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      if (start > position) add(this.#text.subarray(position, start - 1));
      add(Buffer.from(lines.join('\n'), 'latin1'));
      position = end;
    }
    add(this.#text.subarray(position));
    return Buffer.concat(pieces);
  }

  #startsWith(at: number, prefix: string): boolean {
    return this.#text.toString('latin1', at, at + prefix.length) === prefix;
  }

  /** Where the line after that at `position` begins. */
  #after(position: number): number {
    const end = this.#text.indexOf(lineEnd, position);
    return (end < 0 ? this.#text.length : end) + 1;
  }
}
