/** Lines in blocks that are compressed one by one, and the file of them that a segment is stored as (decision 0113). */

import { crc32 } from 'node:zlib';
import { releaseMemory } from '../release-memory.ts';
import type { Line } from './lines.ts';
import {
  bytesOf,
  checkedJson,
  linesOf,
  packLineBytes,
  parseCheckedJson,
  requireForm,
  unpackLineBytes,
} from './stored-form.ts';

/** Blocks of this size compress as well as a megabyte, and a day of the country changes only a seventh of them. */
const usualBlockBytes = 32 * 1024;
const lineEnd = 0x0a;
const separator = '#';

/** Lines as they are stored, and what their index says of them. */
type StoredBlock = { packed: Buffer; index: Buffer };
/** Which lines to remove, every copy of each, and which to add. */
export type LineEdit = { remove: readonly Line[]; add: readonly Line[] };

/** Some lines, and the postcode and huisnummer of the first: stored, with an edit since, or new as bytes. */
type Block = { first: string; text?: Buffer; stored?: StoredBlock; edit?: LineEdit | undefined };

/** A block with more edited lines than this is stored anew. */
const mostEditedLines = 40;

/** Sorted lines in blocks that are unpacked when needed. Those of one postcode and huisnummer are in one block. */
export class BlockedLines {
  readonly blocks: readonly Block[];

  constructor(blocks: readonly Block[]) {
    this.blocks = blocks;
  }

  /** Divides lines as bytes into blocks; the bytes must not change until the blocks are stored. */
  static of(text: Buffer): BlockedLines {
    return new BlockedLines([...blocksOf(text)]);
  }

  static ofLines(lines: readonly Line[]): BlockedLines {
    return BlockedLines.of(bytesOf(lines));
  }

  /** The lines as bytes, a block at a time: each only until the next one. */
  *texts(): Generator<Buffer> {
    for (const block of this.blocks) yield* textIn(block);
  }

  /** Like `texts`, but only the blocks that may have a wanted line, by their index or by a line that an edit added. */
  *textsBy(isWanted: (index: Buffer) => boolean, isWantedLine: (line: Line) => boolean): Generator<Buffer> {
    for (const block of this.blocks) {
      if (!block.stored || isWanted(block.stored.index) || block.edit?.add.some(isWantedLine)) yield* textIn(block);
    }
  }

  lines(): Line[] {
    const all: Line[] = [];
    for (const text of this.texts()) for (const line of linesOf(text)) all.push(line);
    return all;
  }

  /** The lines of a postcode and huisnummer, `1381AA#9#`. */
  linesOf(group: string): Line[] {
    const block = this.blocks[this.#indexOf(group)];
    if (!block) return [];
    const text = textOf(block);
    const start = groupAt(text, 0) === group ? 0 : text.indexOf(`\n${group}`, 0, 'latin1') + 1;
    return groupAt(text, start) === group ? linesOf(text.subarray(start, groupEnd(text, start) - 1)) : [];
  }

  /** The lines after an edit; a block with none or a few of its lines stays as it is stored (decision 0145). */
  edited({ remove, add }: LineEdit): BlockedLines {
    if (this.blocks.length === 0) return BlockedLines.ofLines(add.toSorted());
    const removed = Map.groupBy(new Set(remove), (line) => this.#indexOf(line));
    const added = Map.groupBy(add, (line) => this.#indexOf(line));
    return new BlockedLines(
      this.blocks.flatMap((block, index) => {
        const [gone, more] = [removed.get(index) ?? [], added.get(index) ?? []];
        if (gone.length + more.length === 0) return [block];
        const { first, stored, edit } = block;
        const kept = edit?.add.filter((line) => !gone.includes(line)) ?? [];
        const all = { remove: [...new Set([...(edit?.remove ?? []), ...gone])], add: [...kept, ...more] };
        if (stored && this.blocks.length > 1 && all.remove.length + all.add.length <= mostEditedLines) {
          forgetText(block);
          return [{ first, stored, edit: all }];
        }
        const text = bytesOf(withEdit(linesOf(textOf(block)), { remove: gone, add: more }));
        forgetText(block);
        return [...blocksOf(text)];
      }),
    );
  }

  /** The block with the lines of the same postcode and huisnummer as this line, or where they would be. */
  #indexOf(line: string): number {
    const group = line.slice(0, line.indexOf(separator, line.indexOf(separator) + 1) + 1);
    let [start, end] = [0, this.blocks.length];
    while (end - start > 1) {
      const middle = (start + end) >> 1;
      if ((this.blocks[middle] as Block).first <= group) start = middle;
      else end = middle;
    }
    return start;
  }
}

/** The text of a block, until the next one is asked for. */
function* textIn(block: Block): Generator<Buffer> {
  const isHeld = block.text !== undefined;
  yield textOf(block);
  if (!isHeld) forgetText(block);
}

function textOf(block: Block): Buffer {
  if (!block.text) {
    const stored = unpackLineBytes((block.stored as StoredBlock).packed);
    block.text = block.edit ? bytesOf(withEdit(linesOf(stored), block.edit)) : stored;
  }
  return block.text;
}

/** The lines after an edit, sorted. */
export function withEdit(lines: readonly Line[], { remove, add }: LineEdit): Line[] {
  const removed = new Set(remove);
  return [...lines.filter((line) => !removed.has(line)), ...add].sort();
}

/** Frees the text of a block that can be unpacked again. */
function forgetText(block: Block): void {
  if (!block.stored || !block.text) return;
  releaseMemory(block.text);
  delete block.text;
}

/** Cuts lines into blocks, none of which begins within the lines of one postcode and huisnummer. */
function* blocksOf(text: Buffer): Generator<Block> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = text.length + 1;
    if (end - start > 1.5 * usualBlockBytes) {
      end = Math.max(start, text.lastIndexOf(lineEnd, start + usualBlockBytes) + 1);
      end = groupEnd(text, end);
    }
    yield { first: groupAt(text, start), text: text.subarray(start, end - 1) };
  }
}

/** The postcode and huisnummer that a line begins with. */
function groupAt(text: Buffer, start: number): string {
  return text.toString('latin1', start, text.indexOf(separator, text.indexOf(separator, start) + 1) + 1);
}

/** Where the line after those of the postcode and huisnummer at `start` begins. */
function groupEnd(text: Buffer, start: number): number {
  let end = start;
  for (const group = groupAt(text, start); end < text.length && groupAt(text, end) === group; ) {
    end = text.indexOf(lineEnd, end) + 1 || text.length + 1;
  }
  return end;
}

/** What a file says of a part, a postcode3: its blocks in order, and what else is known of its lines. */
type PartBlocks<About, Block> = { part: string; about: About; blocks: Block[] };
type FiledPart<About> = PartBlocks<
  About,
  [first: string, length: number, indexLength: number, edit?: LineEdit | undefined]
>;
/** `form` is the version of the lines; `indexes` is the packed length of the indexes, `crc` of all after this. */
type Header<About> = { form: string; indexes: number; crc: number; parts: FiledPart<About>[] };

/** What a file begins with, in any version. */
const mark = Buffer.from('BAG1');
const headerAt = mark.length + 4;

/** Makes the file of a segment. Lines that were added and not stored before can't be read afterwards. */
export class BlockFileWriter<About> {
  readonly #form: string;
  readonly #indexOf: (text: Buffer) => Buffer;
  readonly #parts: PartBlocks<About, Block & { stored: StoredBlock }>[] = [];

  /** @param indexOf what is to be known of the lines of a block without unpacking them */
  constructor(form: string, indexOf: (text: Buffer) => Buffer = () => Buffer.alloc(0)) {
    this.#form = form;
    this.#indexOf = indexOf;
  }

  /** Adds a part and returns its lines as they are stored; one without lines leaves no trace. */
  add(part: string, { blocks }: BlockedLines, about: About): BlockedLines {
    const stored = blocks.map(({ first, text, stored = this.#store(text as Buffer), edit }) => ({
      first,
      stored,
      edit,
    }));
    for (const { text, stored } of blocks) if (text && !stored) releaseMemory(text);
    if (blocks.length > 0) this.#parts.push({ part, about, blocks: stored });
    return new BlockedLines(stored);
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** The file, in the pieces that `putPacked` joins. */
  pack(): Buffer[] {
    const all = this.#parts.flatMap(({ blocks }) => blocks.map(({ stored }) => stored));
    const packed = all.map((stored) => stored.packed);
    const index = Buffer.concat(all.map(({ index }) => index));
    const indexes = index.length > 0 ? packLineBytes(index) : index;
    const crc = [indexes, ...packed].reduce((sum, bytes) => crc32(bytes, sum), 0);
    const parts = this.#parts.map(({ blocks, ...part }) => ({ ...part, blocks: blocks.map(filed) }));
    const header = checkedJson({ form: this.#form, indexes: indexes.length, crc, parts } satisfies Header<About>);
    const length = Buffer.alloc(headerAt - mark.length);
    length.writeUInt32LE(header.length);
    return [mark, length, header, indexes, ...packed];
  }

  #store(text: Buffer): StoredBlock {
    return { packed: packLineBytes(text), index: this.#indexOf(text) };
  }
}

function filed({ first, stored, edit }: Block & { stored: StoredBlock }): FiledPart<unknown>['blocks'][number] {
  const { packed, index } = stored;
  return edit ? [first, packed.length, index.length, edit] : [first, packed.length, index.length];
}

/** What a `BlockFileWriter` packed. */
export class BlockFile<About> {
  readonly #parts = new Map<string, { about: About; lines: BlockedLines }>();

  /** @param bytes `null` is a segment without lines @throws UnknownFormError for another version, Error for damage */
  constructor(bytes: Buffer | null, form: string) {
    if (!bytes) return;
    if (!BlockFile.isOne(bytes)) throw new Error('not a file of blocks');
    const start = headerAt + bytes.readUInt32LE(mark.length);
    const header = parseCheckedJson<Header<About>>(bytes.subarray(headerAt, start));
    requireForm(header.form, form);
    const packedIndexes = bytes.subarray(start, start + header.indexes);
    const indexes = header.indexes > 0 ? unpackLineBytes(packedIndexes) : packedIndexes;
    let [position, indexAt] = [start + header.indexes, 0];
    for (const { part, about, blocks } of header.parts) {
      const read = blocks.map(([first, length, indexLength, edit]) => {
        position += length;
        indexAt += indexLength;
        const packed = bytes.subarray(position - length, position);
        return { first, stored: { packed, index: indexes.subarray(indexAt - indexLength, indexAt) }, edit };
      });
      this.#parts.set(part, { about, lines: new BlockedLines(read) });
    }
    if (crc32(bytes.subarray(start, position)) !== header.crc) throw new Error('wrong checksum');
  }

  static isOne(bytes: Buffer): boolean {
    return bytes.subarray(0, mark.length).equals(mark);
  }

  /** The parts that have lines, in their order. */
  get parts(): string[] {
    return [...this.#parts.keys()].sort();
  }

  about(part: string): About | undefined {
    return this.#parts.get(part)?.about;
  }

  lines(part: string): BlockedLines {
    return this.#parts.get(part)?.lines ?? new BlockedLines([]);
  }
}
