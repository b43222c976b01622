import type { ProblemCounts } from '../bag/problem-report.ts';

/** The register as it was on one date, in the storage: its lines are in `snapshots/<id>/<shard>`. */
export type Snapshot = { id: string; shards: string[] };

/** Which copy of an extract a source held: enough to ask "has it changed?" without reading it. Plain JSON. */
export type SourceVersion = {
  /** A URL, `s3://bucket/key`, or the path of a file. */
  location: string;
  size: number | null;
  etag: string | null;
  lastModified: string | null;
};

/** A load that is being served, was served, or is being applied. */
export type ManifestEntry = {
  load: string;
  kind: 'extract' | 'rollback';
  /** The date of the state, `2021-10-15`. */
  peildatum: string;
  snapshot: Snapshot;
  identity: string;
  source: SourceVersion | null;
  voorkomens: number;
  addresses: number;
  keys: number;
  added: number;
  changed: number;
  removed: number;
  /** Addresses that could not be made; `null` where they were not counted. */
  problems: number | null;
  /** What was not loaded, by why. Not there in what versions wrote that did not keep it. */
  problemCounts?: ProblemCounts;
  /** When it was published (or, pending, when applying began), ISO 8601. */
  at: string;
};

/** What the table holds: exactly `published`, unless there is a `pending`: then something between the two. */
export type Manifest = {
  published: ManifestEntry | null;
  pending: ManifestEntry | null;
  /** Published loads from new to old, `published` first. Those of which the snapshot is kept can be gone back to. */
  history: ManifestEntry[];
  /** Contents that an operator went back from: a daily look must not bring them back. */
  rejected: string[];
};

/** Of a table that nothing was ever loaded into. */
export const emptyManifest: Manifest = { published: null, pending: null, history: [], rejected: [] };

const longestHistory = 100;

/** From here on the table may be between `published` and `entry`. */
export function begin(manifest: Manifest, entry: ManifestEntry): Manifest {
  return { ...manifest, pending: entry };
}

/** The table holds what was pending. */
export function complete(manifest: Manifest, at: string): Manifest {
  const { pending, published } = manifest;
  if (!pending) return manifest;
  const entry = { ...pending, at };
  const left = pending.kind === 'rollback' && published ? [published.identity] : [];
  return {
    published: entry,
    pending: null,
    history: [entry, ...manifest.history].slice(0, longestHistory),
    rejected: [...new Set([...manifest.rejected, ...left])].filter((identity) => identity !== entry.identity),
  };
}

/** The ids of the snapshots to keep: those of the last `count` different states published, and what is served. */
export function keptSnapshots({ published, pending, history }: Manifest, count: number): Set<string> {
  const kept = new Set<string>();
  for (const entry of [published, pending]) if (entry) kept.add(entry.snapshot.id);
  for (const { snapshot } of history) {
    if (kept.size >= count) break;
    kept.add(snapshot.id);
  }
  return kept;
}
