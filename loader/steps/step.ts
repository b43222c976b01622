import type * as z from 'zod';
import type { Thresholds } from '../guard/limits.ts';
import type { LoadReport } from '../guard/load-report.ts';
import type { ImportSize } from '../storage/address-table.ts';
import type { Fence } from '../storage/lock.ts';
import type { Storage } from '../storage/storage.ts';
import type { LoadContext } from '../storage/stored-loads.ts';
import type { loadRequest, stepInput } from './step-input.ts';

/**
 * The stages of a load in their order. A bulk import exports and imports instead of applying; a
 * repair compares.
 */
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

export type StageProgress = {
  advance(amount: Amount): void;
  /** Ends the stage successfully. A failed stage is not ended. */
  end(): void;
};

export const noProgress: Progress = {
  begin: () => ({ advance: () => undefined, end: () => undefined }),
};

/**
 * An operator's request for a load: the input of an execution, and part of the options of a load on
 * one machine.
 */
export type LoadRequest = z.infer<typeof loadRequest>;

/** The request that began the load, its id (empty before `discover`), and the owner of the lock. */
export type StepInput = z.infer<typeof stepInput>;

/** Options that only a load on one machine has. */
export type StepOptions = {
  /** Bytes of XML that one task reads, and of nummeraanduidingen that one bucket has. */
  sliceBytes?: number;
  bucketBytes?: number;
  /** Changes that one task applies. */
  changesPerFile?: number;
  /**
   * Ignores how much an extract of another location or area would change, but no other objection.
   */
  waiveSize?: boolean;
  /**
   * Location of an extract, such as the demo, that may replace a newer one and be replaced by an
   * older one.
   */
  disposable?: string;
  /**
   * Called for a load that may continue, before the manifest records it; an error stops the load.
   */
  beforeApply?: (size: ImportSize) => Promise<unknown>;
};

/** The context of a step, in a Lambda or on one machine. */
export type StepContext = LoadContext & {
  thresholds: Thresholds;
  keep: number;
  options: StepOptions;
  progress: Progress;
  /** Called with the amount of work that a step for each item has done. */
  onDone(amount: Amount): void;
  /** Proof that this load holds the lock. @throws LockedError */
  fence(): Promise<Fence>;
};

/** A step that runs once. */
export type Step<Result = unknown> = {
  run(context: StepContext, input: StepInput): Promise<Result>;
};

/** A step that runs for each item of a stored list. */
export type StepOfItems<Item, Result = unknown, Shared = undefined> = {
  /**
   * Makes the input that all items share: once in a Lambda, or on one machine, which passes it to
   * its threads.
   */
  share(storage: Storage, load: string): Promise<Shared>;
  /** How much there is to do for all items, for the progress; nothing is known without it. */
  total?(items: readonly Item[], shared: Shared): Amount;
  each(context: StepContext, input: StepInput, item: Item, shared: Shared): Promise<Result>;
};

/** The exports of a step's file, besides its Lambda. */
export type StepModule = { step: Step | StepOfItems<unknown, unknown, unknown> };

/** The decision on a load. */
export type Guarded = { load: string; go: boolean; divided: boolean; report: LoadReport };
