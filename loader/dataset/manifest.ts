/** The manifest: past, live and pending loads of the table, and operators' decisions about them. */

import type { ManifestEntry, MutationFile } from './load.ts';

/** The contents of the table: exactly `published`, or during a `pending` load something between the two. */
export type Manifest = {
  published: ManifestEntry | null;
  pending: ManifestEntry | null;
  /** Published loads from new to old, `published` first. Those whose snapshot is kept can be rolled back to. */
  history: ManifestEntry[];
  /** Rolled back or rejected sources: extracts by their identity, deliveries by `rejectedDay`. */
  rejected: string[];
};

/** The manifest of a table that nothing was ever loaded into. */
export const emptyManifest: Manifest = { published: null, pending: null, history: [], rejected: [] };

const longestHistory = 100;
const longestRejected = 400;
/** Only a load that is live again can be replayed, so older entries need not name their days. */
const entriesWithDaysSince = 12;

/** The last load of an extract, which days of mutations or a rollback may have followed. */
export function lastExtract({ history }: Manifest): ManifestEntry | undefined {
  return history.find(({ kind }) => kind === 'extract');
}

/** The last extract before a load that needed an approval: if the approval was a mistake, a load restores its data. */
export function acceptedBefore({ history }: Pick<Manifest, 'history'>): ManifestEntry | undefined {
  const firstExtract = history.findIndex(({ kind, approved }) => kind === 'extract' && !approved);
  return history.slice(0, firstExtract).some(({ approved }) => approved) ? history[firstExtract] : undefined;
}

/** Marks `entry` as pending: from now on the table may be between `published` and `entry`. */
export function begin(manifest: Manifest, entry: ManifestEntry): Manifest {
  return { ...manifest, pending: entry };
}

/** Marks the pending entry as published: the table now holds it. A rollback rejects the loads that it undoes. */
export function complete(manifest: Manifest, at: string): Manifest {
  const { pending } = manifest;
  if (!pending) return manifest;
  const entry = { ...pending, at };
  const accepted = new Set([...contentsOf(entry), ...(entry.since ?? []).map(rejectedDay)]);
  const left = entry.kind === 'rollback' ? undone(manifest.history, entry) : [];
  const history = [entry, ...manifest.history].slice(0, longestHistory);
  return {
    published: entry,
    pending: null,
    history: history.map((one, index) => (index < entriesWithDaysSince ? one : withoutSince(one))),
    rejected: [...new Set([...manifest.rejected, ...left])].filter((one) => !accepted.has(one)).slice(-longestRejected),
  };
}

/** Records that contents must not be loaded again, until an operator asks for them. */
export function reject(manifest: Manifest, contents: readonly string[]): Manifest {
  return { ...manifest, rejected: [...new Set([...manifest.rejected, ...contents])].slice(-longestRejected) };
}

/** The sources of a load: an extract, or deliveries of mutations. */
export function contentsOf({ kind, identity, days }: Pick<ManifestEntry, 'kind' | 'identity' | 'days'>): string[] {
  if (kind === 'mutations') return days.map(rejectedDay);
  return kind === 'extract' ? [identity, ...days.map(rejectedDay)] : [identity];
}

/** A delivery by its period and its contents: a corrected one of the same period is another. */
export function rejectedDay({ vanaf, tot, hash }: MutationFile): string {
  return `${vanaf} ${tot} ${hash}`;
}

/** The periods of the rejected deliveries. */
export function rejectedPeriods(rejected: readonly string[]): { vanaf: string; tot: string; text: string }[] {
  return rejected.flatMap((text) => {
    const [vanaf = '', tot, hash] = text.split(' ');
    return tot !== undefined && hash !== undefined ? [{ vanaf, tot, text }] : [];
  });
}

/** The sources of the loads after the restored load, which it does not contain. */
function undone(history: readonly ManifestEntry[], back: ManifestEntry): string[] {
  const target = history.findIndex(
    ({ load, snapshot }) => load === back.rolledBackTo || snapshot.id === back.snapshot.id,
  );
  const kept = new Set(back.since?.map(rejectedDay));
  return history
    .slice(0, Math.max(0, target))
    .filter(({ kind }) => kind !== 'rollback')
    .flatMap((entry) => (entry.kind === 'extract' ? [entry.identity] : contentsOf(entry)))
    .filter((one) => !kept.has(one));
}

function withoutSince({ since: _, ...entry }: ManifestEntry): ManifestEntry {
  return entry;
}

/** The snapshots to keep: the last `count`, live and pending, the bases they replay, and `acceptedBefore`. */
export function keptSnapshots({ published, pending, history }: Manifest, count: number): Set<string> {
  const kept = new Set<string>();
  for (const entry of [published, pending]) if (entry) kept.add(entry.snapshot.id);
  for (const { snapshot } of history) {
    if (kept.size >= count) break;
    kept.add(snapshot.id);
  }
  for (const base of [published?.replayBase, pending?.replayBase]) if (base) kept.add(base.snapshot.id);
  const accepted = acceptedBefore({ history });
  if (accepted) kept.add(accepted.snapshot.id);
  return kept;
}
