import { mapConcurrently } from '../../lambdas/shared/concurrency.ts';
import type { Load } from '../dataset/load.ts';
import { isNamed, type NamedObjects } from '../dataset/named-objects.ts';
import { type Edits, edited } from '../dataset/object-edits.ts';
import { ObjectShardReader } from '../dataset/object-shard.ts';
import type { ObjectLine } from '../dataset/objects.ts';
import {
  concurrentReads,
  findJson,
  findUnpacked,
  getJson,
  MissingObjectError,
  paths,
  type Storage,
  unpacked,
} from '../storage/storage.ts';
import type { Collected } from './collect.ts';
import { readRows } from './extract.ts';

/** The object lines that a load starts with, a shard at a time: those of its extract, or of the live snapshot. */
export type ObjectSource = {
  /** The lines of one part, such as `138`. */
  lines(part: string): Promise<ObjectLine[]>;
  /** Those of them that are among `named`. */
  find(part: string, named: NamedObjects): Promise<ObjectLine[]>;
  /** The stored shard that they come from; `null` where they were read from an extract. */
  stored: ObjectShardReader | null;
};

/** The objects of a shard before any mutation of the load is applied. */
export async function objectSource(storage: Storage, load: Load, shard: string): Promise<ObjectSource> {
  if (load.kind === 'mutations') {
    const { id = '', shards = [] } = load.base?.snapshot ?? {};
    const key = paths.snapshotObjects(id, shard);
    const found = await findUnpacked(storage, key, (bytes) => new ObjectShardReader(bytes));
    if (!found && shards.includes(shard)) throw new MissingObjectError(key);
    const stored = found ?? new ObjectShardReader(null);
    return {
      stored,
      lines: (part) => unpacked(key, () => stored.lines(part)),
      find: (part, named) => unpacked(key, () => stored.find(part, named)),
    };
  }
  const { parts } = await getJson<Collected>(storage, paths.collected(load.id));
  const edits = await readEdits(storage, paths.edits(load.id, shard));
  const lines = async (postcode3: string) => {
    const read = await mapConcurrently(parts, concurrentReads, async ({ part, segments }) => {
      const segment = segments[postcode3];
      if (!segment) return [];
      return readRows(storage, paths.rows(load.id, part), segment);
    });
    return edited(read.flat(), edits[postcode3]);
  };
  const find = async (part: string, named: NamedObjects) => (await lines(part)).filter((line) => isNamed(line, named));
  return { stored: null, lines, find };
}

/** The edits of a shard that are stored under `key`; none if it does not exist. */
export async function readEdits(storage: Storage, key: string): Promise<Edits> {
  return (await findJson<Edits>(storage, key)) ?? {};
}
