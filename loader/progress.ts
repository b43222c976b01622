/**
 * The parts of a load that a person may wait for, in their order; a bulk import exports and imports instead of applying.
 * A repair compares.
 */
export type LoadStage =
  | 'stage'
  | 'reference'
  | 'extract'
  | 'mutate'
  | 'merge'
  | 'export'
  | 'import'
  | 'apply'
  | 'publish'
  | 'compare';

/** How much there is to do or was done: bytes as stored (of files read), rows (occurrences, addresses, changes). */
export type Amount = { bytes?: number; rows?: number };

/** Tells someone how far a load is. Called often: an implementation draws no more than it has to. */
export interface Progress {
  /** A stage begins; what is not in `total` is not known beforehand. */
  begin(stage: LoadStage, total: Amount): StageProgress;
}

/** One stage under way. */
interface StageProgress {
  advance(amount: Amount): void;
  /** The stage has ended well. One that fails is simply not ended. */
  end(): void;
}

/** Tells nobody. */
export const noProgress: Progress = {
  begin: () => ({ advance: () => undefined, end: () => undefined }),
};
