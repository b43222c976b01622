import { createHash } from 'node:crypto';
import type { Member } from '../bag/extract-members.ts';
import { mergeReports, type ProblemReport } from '../bag/problem-report.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { addressPart, type Change, type ChangeCounts, type ChangeKind, type Line, parseLine } from './lines.ts';
import type { ExtractInfo, MutationFile, Snapshot, SourceVersion } from './manifest.ts';

/** One load, as `discover` found it. Its id is derived from what it loads and from the live dataset it starts from. */
export type Load = {
  id: string;
  kind: 'extract' | 'mutations' | 'rollback';
  /** The snapshot date, `2021-10-15`. */
  peildatum: string;
  /** The live dataset when this load begins, or `null` for the first. */
  base: { load: string; peildatum: string; snapshot: Snapshot } | null;
  /** The snapshot to roll back to; only for a rollback. */
  target: { load: string; snapshot: Snapshot } | null;
  /** The days of mutations to apply, in order: to the live snapshot, or to an extract that is older than that. */
  days: MutationFile[];
  /** Why the deliveries that follow these days are not applied: what is wrong with the first of them. */
  stopped?: string;
  /** The extract that the result is based on; `null` for a rollback. */
  extract: ExtractInfo | null;
  /** Only for an extract. */
  source: SourceVersion | null;
  members: Member[];
  /** Identifies the contents of the extract at any location, by the checksums of its members. */
  identity: string;
};

/** The date of the extract that the load reads, before its mutations are applied. */
export function extractDate({ extract, peildatum }: Load): string {
  return extract?.peildatum ?? peildatum;
}

/** The XML files that one worker reads: `member` is the place of their zip among the members of the load. */
export type Part = { part: string; member: number; files: ZipEntry[] };

/** What one worker found in its part of the extract. */
export type PartCounts = { voorkomens: number; problems: ProblemReport };

/** A change in readable form. */
export type ChangeExample = { key: string; before: string[] | null; after: string[] | null };

/** The counts of a load, before and after it is applied; plain JSON. */
export type LoadCounts = Omit<PartCounts, 'problems'> & {
  /** `null` for a rollback to a snapshot whose problems were not kept. */
  problems: ProblemReport | null;
  addresses: number;
} & ShardCounts;

/** The same contents loaded onto the same dataset have the same load id, so the load can be continued and approved. */
export function loadId(peildatum: string, identity: string, base: string | null): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([formatVersion, identity, base]))
    .digest('hex');
  return `${peildatum}-${hash.slice(0, 10)}`;
}

/** Raised when the stored form of streets, rows, snapshots or changes changes, so that no load continues in the old form. */
const formatVersion = 4;

/** Identifies the contents of an extract by its members' checksums. */
export function extractIdentity(peildatum: string, members: readonly Member[]): string {
  const contents = members.map(({ kind, path }) => {
    const last = path.at(-1);
    return [kind, last?.crc32, last?.size];
  });
  return createHash('sha256')
    .update(JSON.stringify([peildatum, contents]))
    .digest('hex')
    .slice(0, 16);
}

/** The name of the extract in messages: the last part of its location. */
export function extractName({ source }: Load): string {
  return source?.location.split('/').at(-1) ?? 'extract';
}

/** The counts of one merged shard. */
export type ShardCounts = {
  /** Distinct address keys. */
  keys: number;
  /** Keys that only have a list of toevoegingen, and no address. */
  listKeys: number;
  changes: ChangeCounts;
  /** Lists of toevoegingen that are added, changed or removed where the address under the same key does not change. */
  listsChanged: number;
  examples: Record<ChangeKind, ChangeExample[]>;
};

/** How many objects should have been addresses; one without a postcode should not, because it has no key. */
export function problemCount(report: ProblemReport): number {
  return sum(Object.entries(report), ([kind, { count }]) => (kind === 'no_postcode' ? 0 : count));
}

/** Several parts as one, in any order. */
export function mergeParts(parts: readonly PartCounts[]): PartCounts {
  return {
    voorkomens: sum(parts, (part) => part.voorkomens),
    problems: mergeReports(parts.map(({ problems }) => problems)),
  };
}

const examplesPerKind = 5;

/** Several shards as one; the examples are the first of the first shards. */
export function mergeShards(shards: readonly ShardCounts[]): ShardCounts {
  const examples = (kind: ChangeKind) => shards.flatMap((shard) => shard.examples[kind]).slice(0, examplesPerKind);
  return {
    keys: sum(shards, ({ keys }) => keys),
    listKeys: sum(shards, ({ listKeys }) => listKeys),
    listsChanged: sum(shards, ({ listsChanged }) => listsChanged),
    changes: {
      added: sum(shards, ({ changes }) => changes.added),
      changed: sum(shards, ({ changes }) => changes.changed),
      removed: sum(shards, ({ changes }) => changes.removed),
    },
    examples: { added: examples('added'), changed: examples('changed'), removed: examples('removed') },
  };
}

/** Counts of nothing. */
export function noChanges(): ShardCounts {
  return {
    keys: 0,
    listKeys: 0,
    listsChanged: 0,
    changes: { added: 0, changed: 0, removed: 0 },
    examples: { added: [], changed: [], removed: [] },
  };
}

/** Adds one change to `counts`, and keeps the first few as examples. */
export function countChange(counts: ShardCounts, change: Change): void {
  if (change.kind === 'list') {
    counts.listsChanged++;
    return;
  }
  counts.changes[change.kind]++;
  const examples = counts.examples[change.kind];
  if (examples.length < examplesPerKind) examples.push(changeExample(change));
}

/** A change in readable form, from its lines. */
export function changeExample({ before, after }: Pick<Change, 'before' | 'after'>): ChangeExample {
  const { key } = parseLine((after ?? before) as Line);
  return { key, before: places(before), after: places(after) };
}

function places(line: Line | null): string[] | null {
  const address = line && addressPart(line);
  return address === null
    ? null
    : parseLine(address).places.map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
