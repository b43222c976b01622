import { createHash } from 'node:crypto';
import type { ProblemReport } from '../bag/problem-report.ts';
import type { Member } from '../pipeline/extract-members.ts';
import type { ChangeCounts, ChangeKind } from './diff.ts';
import type { SourceVersion } from './source-version.ts';

/** A state of the register that is, was or may be served: its snapshot is `snapshots/<snapshot>/<shard>`. */
export type Snapshot = { id: string; shards: string[] };

/** One load on its way, as `discover` found it. Its id follows from what it loads and from what it starts at. */
export type Load = {
  id: string;
  kind: 'extract' | 'rollback';
  /** The date of the state (peildatum), `2021-10-15`. */
  state: string;
  /** What is served when this load begins, or `null` for the first. */
  base: { load: string; snapshot: Snapshot } | null;
  /** The snapshot to go back to; only of a rollback. */
  target: { load: string; snapshot: Snapshot } | null;
  /** Only of an extract. */
  source: SourceVersion | null;
  members: Member[];
  /** Names the contents of the extract, wherever it lies: from the checksums of its members. */
  identity: string;
};

/** What one worker found in its part of the extract. */
export type PartCounts = { voorkomens: number; addresses: number; problems: ProblemReport };

/** A change as a person reads it. */
export type ChangeExample = { key: string; before: string[] | null; after: string[] | null };

/** What a load comes to, before and after it is applied; plain JSON. */
export type LoadCounts = Omit<PartCounts, 'problems'> & {
  /** `null` of a snapshot to go back to whose problems were not kept. */
  problems: ProblemReport | null;
  keys: number;
  changes: ChangeCounts;
  examples: Record<ChangeKind, ChangeExample[]>;
};

/** The same contents loaded from the same start make the same load: so that it can be taken up again, and approved. */
export function loadId(state: string, identity: string, base: string | null): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([formatVersion, identity, base]))
    .digest('hex');
  return `${state}-${hash.slice(0, 10)}`;
}

/** Raised when the stored form of streets, rows, snapshots or changes changes: no load goes on with the old form. */
const formatVersion = 3;

/** Names the contents of an extract by its members' checksums. */
export function extractIdentity(state: string, members: readonly Member[]): string {
  const contents = members.map(({ kind, path }) => {
    const last = path.at(-1);
    return [kind, last?.crc32, last?.size];
  });
  return createHash('sha256')
    .update(JSON.stringify([state, contents]))
    .digest('hex')
    .slice(0, 16);
}

/** What messages call the extract: the last part of its location. */
export function extractName({ source }: Load): string {
  return source?.location.split('/').at(-1) ?? 'extract';
}
