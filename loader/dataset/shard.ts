import { type Line, packLines, unpackLines } from './lines.ts';

/** The part of the country that a line belongs to: the first two digits of its postcode, `10` to `99`. */
export function shardOf(line: Line): string {
  return line.slice(0, 2);
}

const firstShard = 10;
const shardCount = 90;

/** The rows of one worker, kept apart by shard until they are stored. */
export class ShardedRows {
  readonly #rows: Line[][] = Array.from({ length: shardCount }, () => []);

  add(row: Line): void {
    const shard = (row.charCodeAt(0) - 48) * 10 + row.charCodeAt(1) - 48 - firstShard;
    const rows = this.#rows[shard];
    if (!rows) throw new Error(`${row} does not begin with a postcode`);
    rows.push(row);
  }

  /** All rows in one object, each shard compressed by itself, and where each shard lies in it. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#rows.forEach((rows, shard) => {
      if (rows.length === 0) return;
      const bytes = packLines(rows);
      packed.push(bytes);
      segments[shard + firstShard] = [position, bytes.length];
      position += bytes.length;
    });
    return { bytes: Buffer.concat(packed), segments };
  }
}

/** Shard to position and length of its rows. */
export type Segments = Record<string, [position: number, length: number]>;

/** The rows of one segment. */
export const unpackRows = unpackLines;
