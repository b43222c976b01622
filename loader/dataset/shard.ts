import type { AddressRow } from '../bag/address-row.ts';
import { LineBytes } from './line-bytes.ts';
import { packLineBytes, placeText } from './lines.ts';

const firstShard = 10;
const shardCount = 90;

/**
 * The rows of one worker, kept apart by shard until they are stored. A shard is a part of the country: the first two
 * digits of the postcode, `10` to `99`.
 */
export class ShardedRows {
  readonly #shards: (LineBytes | undefined)[] = Array.from({ length: shardCount }, () => undefined);
  readonly #places = new Map<string, Map<string, Buffer>>();
  #last: { straat: string; woonplaats: string; bytes: Buffer } | null = null;

  add({ postcode, huisnummer, huisletter, huisnummertoevoeging, straat, woonplaats }: AddressRow): void {
    const shard = (postcode.charCodeAt(0) - 48) * 10 + postcode.charCodeAt(1) - 48 - firstShard;
    if (!(shard >= 0 && shard < shardCount)) throw new Error(`${postcode} is not a postcode`);
    this.#shards[shard] ??= new LineBytes();
    this.#shards[shard].add(postcode, huisnummer, huisletter, huisnummertoevoeging, this.#place(straat, woonplaats));
  }

  /** All rows in one object, each shard compressed by itself, and where each shard lies in it. */
  pack(): { bytes: Buffer; segments: Segments } {
    const segments: Segments = {};
    const packed: Buffer[] = [];
    let position = 0;
    this.#shards.forEach((rows, shard) => {
      if (!rows) return;
      const bytes = packLineBytes(rows.bytes);
      packed.push(bytes);
      segments[shard + firstShard] = [position, bytes.length];
      position += bytes.length;
    });
    return { bytes: Buffer.concat(packed), segments };
  }

  /** The bytes of a place are made once a street, and mostly it is the street of the row before. */
  #place(straat: string, woonplaats: string): Buffer {
    const last = this.#last;
    if (last && last.straat === straat && last.woonplaats === woonplaats) return last.bytes;
    const bytes = this.#bytesOf(straat, woonplaats);
    this.#last = { straat, woonplaats, bytes };
    return bytes;
  }

  #bytesOf(straat: string, woonplaats: string): Buffer {
    let inPlace = this.#places.get(woonplaats);
    if (!inPlace) {
      inPlace = new Map();
      this.#places.set(woonplaats, inPlace);
    }
    let bytes = inPlace.get(straat);
    if (!bytes) {
      bytes = Buffer.from(placeText({ straat, woonplaats }), 'latin1');
      inPlace.set(straat, bytes);
    }
    return bytes;
  }
}

/** Shard to position and length of its rows. */
export type Segments = Record<string, [position: number, length: number]>;
