/** The stages of a load in their order. A bulk import exports and imports instead of applying; a repair compares. */
export type LoadStage =
  | ('stage' | 'extract' | 'mutate' | 'objecten' | 'join' | 'merge')
  | ('import' | 'apply' | 'publish' | 'compare');

/** An amount of work: compressed bytes of files, or rows (occurrences, addresses, changes). */
export type Amount = { bytes?: number; rows?: number };

/** Reports the progress of a load. Called often, so an implementation should limit its output. */
export type Progress = {
  /** Begins a stage; amounts missing from `total` are unknown beforehand. */
  begin(stage: LoadStage, total: Amount): StageProgress;
};

/** A stage in progress. */
export type StageProgress = {
  advance(amount: Amount): void;
  /** Ends the stage successfully. A failed stage is not ended. */
  end(): void;
};

/** Reports nothing. */
export const noProgress: Progress = {
  begin: () => ({ advance: () => undefined, end: () => undefined }),
};
