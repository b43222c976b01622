import { type Line, packLines, unpackLines } from '../dataset/lines.ts';

const usualLinesAPack = 10_000;

/** Lines that come in any order, compressed until the shard that they are of is wanted: the country takes 200 MB. */
export class LinesByShard {
  readonly #linesAPack: number;
  readonly #shards = new Map<string, { packed: Buffer[]; loose: Line[] }>();

  constructor(linesAPack = usualLinesAPack) {
    this.#linesAPack = linesAPack;
  }

  get shards(): string[] {
    return [...this.#shards.keys()];
  }

  add(line: Line): void {
    const name = line.slice(0, 2);
    let shard = this.#shards.get(name);
    if (!shard) {
      shard = { packed: [], loose: [] };
      this.#shards.set(name, shard);
    }
    shard.loose.push(line);
    if (shard.loose.length < this.#linesAPack) return;
    shard.packed.push(packLines(shard.loose));
    shard.loose = [];
  }

  /** All lines of a shard, in order. */
  of(name: string): Line[] {
    const { packed, loose } = this.#shards.get(name) ?? { packed: [], loose: [] };
    return [...packed.map(unpackLines), loose].flat().sort();
  }
}
