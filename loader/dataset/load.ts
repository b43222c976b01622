/**
 * A load, from its discovery on, and the manifest of the loads that the table had, has or is
 * getting.
 */

import { createHash } from 'node:crypto';
import type { ChangeCounts } from '../addresses/lines.ts';
import type { Member } from '../bag/extract-members.ts';
import type { ProblemCounts } from '../bag/problem-report.ts';
import type { ZipEntry } from '../zip/zip.ts';

/**
 * The register as it was on one date, in the storage: its lines are in `snapshots/<id>/<segment>`,
 * the records behind them in buckets, `snapshots/<id>/nummeraanduidingen/<bucket>`. Only the
 * objects that it names count, whatever else is stored beside them.
 */
export type Snapshot = {
  id: string;
  segments: string[];
  buckets: number;
  /** The segments with an address of its records, now or later. */
  reach: string[];
  /** Set for a dataset with adresseerbare objecten, even if it contains none. */
  objecten?: true;
};

export const hasObjecten = ({ objecten }: Snapshot) => objecten === true;

/**
 * An object (`WPL 1012`) that stays as it was until a delivery of it matches or an extract comes.
 */
export type SetAsideObject = { object: string; file: string; why: string; addresses: number };

/**
 * How many of the `objects` that one delivery changes were set aside, and why the first ones were.
 */
export type SetAsideOfDay = { file: string; objects: number; count: number; examples: string[] };

/**
 * The version of an extract at its source: enough to detect a change without reading it. Plain
 * JSON.
 */
export type SourceVersion = {
  /** A URL, `s3://bucket/key`, or the path of a file. */
  location: string;
  size: number | null;
  etag: string | null;
  lastModified: string | null;
};

/** One delivery of mutations in the storage; `hash` is of its contents. */
export type MutationFile = {
  name: string;
  key: string;
  vanaf: string;
  tot: string;
  size: number;
  hash: string;
};

/**
 * The last full extract behind a dataset: its own date and contents, without the mutations applied
 * to it since.
 */
export type ExtractInfo = {
  peildatum: string;
  identity: string;
  /**
   * Whether it covers the whole country rather than some municipalities, which most mutations do
   * not concern.
   */
  isNational: boolean;
  /** The codes of the municipalities that it covers, in order; none for the whole country. */
  gemeenten: string[];
};

/** Whether two extracts cover the same municipalities, or both the whole country. */
export function isSameArea(a: ExtractInfo | null, b: ExtractInfo | null): boolean {
  return a !== null && b !== null && String(a.gemeenten) === String(b.gemeenten);
}

/** A snapshot made from an extract, as a base to apply the days since once more. */
export type ReplayBase = { peildatum: string; snapshot: Snapshot };

/**
 * One load, as `discover` found it. Its id is derived from its sources and the live dataset that it
 * starts from.
 */
export type Load = {
  id: string;
  kind: 'extract' | 'mutations' | 'rollback';
  /** Whether the dataset that it makes has adresseerbare objecten. */
  objecten?: true;
  peildatum: string;
  /** The live dataset when this load begins, or `null` for the first. */
  base: { load: string; peildatum: string; snapshot: Snapshot } | null;
  /**
   * The base for the days, if not the live snapshot: the last extract's snapshot, when a day was
   * corrected.
   */
  start?: ReplayBase;
  /** How many of the days must be applied together; 1 if no days are applied again. */
  leastDays?: number;
  /** The snapshot to roll back to; only for a rollback. */
  target: { load: string; snapshot: Snapshot } | null;
  /**
   * The days of mutations to apply, in order: to the live snapshot, or to an extract that is older
   * than that.
   */
  days: MutationFile[];
  /**
   * The fault in the first delivery after these days, which keeps it and later deliveries from
   * being applied.
   */
  stopped?: string;
  /** Deliveries that follow are at hand, but are judged by themselves. */
  more?: true;
  /** Notes for the operator: unreadable sources, unused files. */
  notes?: string[];
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

/** The id of the snapshot that the load makes, or rolls back to. */
export function resultOf({ id, target }: Load): string {
  return target?.snapshot.id ?? id;
}

/** The snapshot whose objects the days of a load of mutations are applied to. */
export function startOf({ start, base }: Load): ReplayBase | null {
  return start ?? base;
}

/** The files that one worker reads, of the member at `member`. */
export type Slice = { slice: string; member: number; files: ZipEntry[] };

/** One file of changes to apply. */
export type ChangeFile = { changes: string; writes: number };

/** A short hash of plain JSON. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/**
 * The same contents loaded onto the same dataset have the same load id, so the load can be
 * continued and approved.
 */
export function loadId(peildatum: string, identity: string, base: string | null): string {
  return `${peildatum}-${digestOf([formatVersion, identity, base]).slice(0, 10)}`;
}

/** Raised when the stored form of something changes, so that no load continues in the old form. */
const formatVersion = 1;

/** Identifies an extract by what identifies the contents of its members. */
export function extractIdentity(peildatum: string, contents: readonly unknown[]): string {
  return digestOf([peildatum, contents]);
}

/** The name of the extract in messages: the last part of its location. */
export function extractName({ source }: Load): string {
  return source?.location.split('/').at(-1) ?? 'extract';
}

/** A load that is live, was live, or is being applied; `days` are the days that it applied. */
export type ManifestEntry = Pick<
  Load,
  'kind' | 'peildatum' | 'identity' | 'source' | 'extract' | 'days' | 'stopped' | 'more' | 'notes'
> &
  ChangeCounts & {
    load: string;
    snapshot: Snapshot;
    /** The load that a rollback made live again. */
    rolledBackTo?: string;
    /**
     * Only pending: the half-written load that this rollback undoes. The table may still be
     * labelled with that load.
     */
    undoes?: string;
    /** Whether it was published despite objections, which an operator approved. */
    approved?: true;
    /** The objects that mutations since the extract did not match and that are not settled yet. */
    setAside?: SetAsideObject[];
    /** The last snapshot that an extract made, and the deliveries that led from it to this one. */
    replayBase?: ReplayBase | null;
    since?: MutationFile[];
    /**
     * How many addresses the days before this extract had got wrong, all 0 if they were applied
     * correctly and none was replaced.
     */
    audit?: ChangeCounts;
    voorkomens: number;
    nummeraanduidingen: number;
    addresses: number;
    lists: number;
    listsChanged: number;
    gemeenteChanged: number;
    objecten?: number;
    /** Objects that should have been addresses; `null` where they were not counted. */
    problems: number | null;
    /** Objects that were not loaded, by reason. */
    problemCounts?: ProblemCounts;
    /** When it was published (or, pending, when applying began), ISO 8601. */
    at: string;
  };

/**
 * The contents of the table: exactly `published`, or during a `pending` load something between the
 * two. The manifest alone decides which snapshot is live: the item `#dataset` in the table is a
 * label, for the date in responses, and so that a table of another storage is noticed.
 */
export type Manifest = {
  published: ManifestEntry | null;
  pending: ManifestEntry | null;
  /**
   * Published loads from new to old, `published` first. Those whose snapshot is kept can be rolled
   * back to.
   */
  history: ManifestEntry[];
  /** Rolled back or rejected sources: extracts by their identity, deliveries by `rejectedDay`. */
  rejected: string[];
};

/** The manifest of a table that nothing was ever loaded into. */
export const emptyManifest: Manifest = {
  published: null,
  pending: null,
  history: [],
  rejected: [],
};

const longestHistory = 100;
const longestRejected = 400;
/** Only a load that is live again can be replayed, so older entries need not name their days. */
const entriesWithDaysSince = 12;

/** The last load of an extract, which days of mutations or a rollback may have followed. */
export function lastExtract({ history }: Manifest): ManifestEntry | undefined {
  return history.find(({ kind }) => kind === 'extract');
}

/**
 * The last extract before a load that needed an approval: if the approval was a mistake, a load
 * restores its data.
 */
export function acceptedBefore({ history }: Pick<Manifest, 'history'>): ManifestEntry | undefined {
  const firstExtract = history.findIndex(({ kind, approved }) => kind === 'extract' && !approved);
  return history.slice(0, firstExtract).some(({ approved }) => approved)
    ? history[firstExtract]
    : undefined;
}

/**
 * Marks `entry` as pending: from now on the table may be between `published` and `entry`. Replacing
 * a pending load undoes it.
 */
export function begin(manifest: Manifest, entry: ManifestEntry): Manifest {
  const { pending } = manifest;
  const isUndo = pending !== null && pending.load !== entry.load;
  return { ...manifest, pending: isUndo ? { ...entry, undoes: pending.load } : entry };
}

/**
 * Whether a table labelled with this load may belong to the manifest. A load writes the manifest
 * (pending), its changes, the label, and the manifest (published), in this order; a load that it
 * undoes may have ended after its label. No other load of the history counts: a table that was
 * restored from a backup must be noticed.
 */
export function isLabelOf({ published, pending }: Manifest, load: string): boolean {
  return [published?.load, pending?.load, pending?.undoes].includes(load);
}

/** The commands that finish or undo a half-written load, as the end of a sentence. */
export function waysToEnd(
  { undoes }: Pick<ManifestEntry, 'undoes'>,
  published: Pick<ManifestEntry, 'load' | 'peildatum'> | null,
): string {
  const finish = 'finish it with "load run --finish"';
  if (!published || undoes !== undefined) return `${finish}.`;
  return `${finish}, or undo it with "load rollback ${published.load}", which puts back the register of ${published.peildatum}.`;
}

/** `The load of 2026-02-08 (2026-02-08-0123456789)`, or the rollback that undoes one. */
export function nameOfLoad({
  load,
  peildatum,
  undoes,
}: Pick<ManifestEntry, 'load' | 'peildatum' | 'undoes'>): string {
  if (undoes === undefined) return `The load of ${peildatum} (${load})`;
  return `The rollback to ${peildatum} (${load}), which undoes load ${undoes},`;
}

/**
 * Marks the pending entry as published: the table now holds it. A rollback rejects the loads that
 * it undoes.
 */
export function complete(manifest: Manifest, at: string): Manifest {
  if (!manifest.pending) return manifest;
  const { undoes: _, ...pending } = manifest.pending;
  const entry = { ...pending, at };
  const accepted = new Set([...contentsOf(entry), ...(entry.since ?? []).map(rejectedDay)]);
  const left = entry.kind === 'rollback' ? undone(manifest.history, entry) : [];
  const history = [entry, ...manifest.history].slice(0, longestHistory);
  return {
    published: entry,
    pending: null,
    history: history.map((entry, index) =>
      index < entriesWithDaysSince ? entry : withoutSince(entry),
    ),
    rejected: [...new Set([...manifest.rejected, ...left])]
      .filter((contents) => !accepted.has(contents))
      .slice(-longestRejected),
  };
}

/** Records that contents must not be loaded again, until an operator asks for them. */
export function reject(manifest: Manifest, contents: readonly string[]): Manifest {
  return {
    ...manifest,
    rejected: [...new Set([...manifest.rejected, ...contents])].slice(-longestRejected),
  };
}

/** The sources of a load: an extract, or deliveries of mutations. */
export function contentsOf({
  kind,
  identity,
  days,
}: Pick<ManifestEntry, 'kind' | 'identity' | 'days'>): string[] {
  if (kind === 'mutations') return days.map(rejectedDay);
  return kind === 'extract' ? [identity, ...days.map(rejectedDay)] : [identity];
}

/** A delivery by its period and its contents: a corrected one of the same period is another. */
export function rejectedDay({ vanaf, tot, hash }: MutationFile): string {
  return `${vanaf} ${tot} ${hash}`;
}

export function rejectedPeriods(
  rejected: readonly string[],
): { vanaf: string; tot: string; text: string }[] {
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
    .filter((contents) => !kept.has(contents));
}

const withoutSince = ({ since: _, ...entry }: ManifestEntry): ManifestEntry => entry;

/**
 * The snapshots to keep: the last `count`, live and pending, the bases they replay, and
 * `acceptedBefore`.
 */
export function keptSnapshots(
  { published, pending, history }: Manifest,
  count: number,
): Set<string> {
  const kept = new Set<string>();
  for (const entry of [published, pending]) if (entry) kept.add(entry.snapshot.id);
  for (const { snapshot } of history) {
    if (kept.size >= count) break;
    kept.add(snapshot.id);
  }
  for (const base of [published?.replayBase, pending?.replayBase]) {
    if (base) kept.add(base.snapshot.id);
  }
  const accepted = acceptedBefore({ history });
  if (accepted) kept.add(accepted.snapshot.id);
  return kept;
}
