import {
  emptyReport,
  mergeReports,
  type ProblemCounts,
  type ProblemReport,
  problemKinds,
} from '../bag/problem-report.ts';
import type { ChangeCounts, ChangeKind } from './diff.ts';
import { type Line, parseLine } from './lines.ts';
import type { ChangeExample, PartCounts } from './load.ts';

/** What merging one shard came to. */
export type ShardCounts = {
  keys: number;
  changes: ChangeCounts;
  examples: Record<ChangeKind, ChangeExample[]>;
};

/** Objects that should have been addresses; an object without postcode has no key and is none of them. */
export function problemCount(report: ProblemReport): number {
  return sum(Object.entries(report), ([kind, { count }]) => (kind === 'no_postcode' ? 0 : count));
}

/** The counts of a report, which is what a manifest keeps of it. */
export function problemCounts(report: ProblemReport): ProblemCounts {
  return Object.fromEntries(problemKinds.map((kind) => [kind, report[kind].count])) as ProblemCounts;
}

/** A report of these counts: its examples were not kept. */
export function reportOfCounts(counts: ProblemCounts): ProblemReport {
  const report = emptyReport();
  for (const kind of problemKinds) report[kind].count = counts[kind];
  return report;
}

/** Several parts as one, in any order. */
export function mergeParts(parts: readonly PartCounts[]): PartCounts {
  return {
    voorkomens: sum(parts, (part) => part.voorkomens),
    addresses: sum(parts, (part) => part.addresses),
    problems: mergeReports(parts.map(({ problems }) => problems)),
  };
}

const examplesPerKind = 5;

/** Several shards as one; the examples are the first of the first shards. */
export function mergeShards(shards: readonly ShardCounts[]): ShardCounts {
  const examples = (kind: ChangeKind) => shards.flatMap((shard) => shard.examples[kind]).slice(0, examplesPerKind);
  return {
    keys: sum(shards, ({ keys }) => keys),
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
    changes: { added: 0, changed: 0, removed: 0 },
    examples: { added: [], changed: [], removed: [] },
  };
}

/** Adds one change to `counts`, and keeps it as an example if there are few yet. */
export function countChange(
  counts: ShardCounts,
  { kind, before, after }: { kind: ChangeKind; before: Line | null; after: Line | null },
): void {
  counts.changes[kind]++;
  const examples = counts.examples[kind];
  if (examples.length >= examplesPerKind) return;
  const { key } = parseLine((after ?? before) as Line);
  examples.push({ key, before: places(before), after: places(after) });
}

function places(line: Line | null): string[] | null {
  return line === null ? null : parseLine(line).places.map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
