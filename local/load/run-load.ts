import { resolve } from 'node:path';
import { retryWithBackoff } from '../../core/retry.ts';
import type { ChangeFile, ManifestEntry } from '../../loader/dataset/load.ts';
import {
  finishedReport,
  type LoadProposal,
  type LoadReport,
  RefusedLoadError,
  reportOf,
  unchangedReport,
} from '../../loader/guard/load-report.ts';
import { type StepName, stepOf, stepsFrom } from '../../loader/steps/load-steps.ts';
import type { Guarded, LoadRequest, StepInput, StepOptions } from '../../loader/steps/step.ts';
import { SourceChangedError } from '../../loader/storage/source.ts';
import {
  findJson,
  getJson,
  paths,
  type Storage,
  UnusableObjectError,
} from '../../loader/storage/storage.ts';
import type { Discovery } from '../../loader/storage/stored-loads.ts';
import { importAll } from './import-all.ts';
import { inSession, type LoadOptions, type LoadSession } from './session.ts';
import { thisThread } from './threads.ts';
import { inSmallYoungGeneration } from './young-generation.ts';

/** The options of a load on one machine: the request, and options that only such a load has. */
export type RunOptions = LoadOptions &
  LoadRequest &
  Omit<StepOptions, 'beforeApply'> & {
    /** Called after each published load: an extract, and then its mutations. */
    onPublished?: (report: LoadReport) => void;
    /** Called after each step. */
    onStep?: (name: StepName, input: StepInput, result: unknown) => void;
  };

/**
 * Carries out a request by the steps that a deployment runs too. A load makes the table equal to
 * the extract, and then to the mutations that lead on from it: afterwards it holds every current
 * address and no other. Each day is judged by itself, and the days before a wrong or refused day
 * are applied. Continues an interrupted load at the point of its interruption, and first finishes a
 * load that was interrupted while applying. Safe to run again at any time.
 * @throws RefusedLoadError, LockedError, SourceError, ExtractError, MutationGapError,
 * ForeignStorageError, WorkGoneError, UnknownSnapshotError, UnknownLoadError, NotRefusedError,
 * StaleLoadError
 */
export async function runLoad({ disposable, ...options }: RunOptions): Promise<LoadReport> {
  const { source, mutations, rollback, approve, reject, again, planOnly, onPublished } = options;
  const { bulkImport, sliceBytes, bucketBytes, changesPerFile, waiveSize } = options;
  const stepOptions: StepOptions = {
    ...(sliceBytes !== undefined && { sliceBytes }),
    ...(bucketBytes !== undefined && { bucketBytes }),
    ...(changesPerFile !== undefined && { changesPerFile }),
    ...(waiveSize !== undefined && { waiveSize }),
    ...(disposable !== undefined && { disposable: resolve(disposable) }),
    // If an import can't be done, the load must not become pending: the next start would have to
    // finish it first.
    beforeApply: async (size) => bulkImport?.takesOn(size),
  };
  return inSession({ ...options, stepOptions }, async (session) => {
    const run = new LoadRun(session, options);
    let report = await run.load({ source, mutations, rollback, approve, reject, again, planOnly });
    while (report.outcome === 'published') {
      onPublished?.(report);
      // Days before an unusable day are followed too; the caller receives the error of that day.
      const goesOn = report.kind === 'extract' || report.stopped !== null || report.more;
      if (!mutations?.length || !goesOn) break;
      const later = await run.load({ mutations });
      if (later.outcome === 'unchanged') break;
      report = later;
    }
    return report;
  });
}

/** The loads of one session, one after the other. */
class LoadRun {
  readonly #session: LoadSession;
  readonly #options: RunOptions;

  constructor(session: LoadSession, options: RunOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Carries out a request once, after finishing a load that was interrupted while applying. */
  async load(request: LoadRequest): Promise<LoadReport> {
    const once = async () => {
      let finished: LoadReport | undefined;
      for (;;) {
        const input = { ...request, load: '', owner: this.#session.owner };
        const found = await inSmallYoungGeneration(() => this.#step<Discovery>('discover', input));
        if (found.action === 'none') {
          return finished
            ? { ...finished, isSkipped: found.isSkipped ?? false }
            : unchangedReport(found);
        }
        const report = await this.#steps(found, { ...input, load: found.load });
        if (report && found.action !== 'finish') return report;
        finished = report ?? finished;
      }
    };
    // The work of a load that somebody decides about can't be made again here.
    const isDecision =
      request.source === undefined && (request.approve ?? request.reject) !== undefined;
    return isDecision ? once() : untilUnchanged(this.#session.storage, once);
  }

  /**
   * The steps of a load from the first that its action needs; `null` for days that are to be tried
   * in smaller numbers.
   * @throws RefusedLoadError
   */
  async #steps(
    { action }: Exclude<Discovery, { action: 'none' }>,
    input: StepInput,
  ): Promise<LoadReport | null> {
    const { storage } = this.#session;
    const { load } = input;
    // The last step removes it.
    const proposal =
      action === 'finish' ? await findJson<LoadProposal>(storage, paths.proposal(load)) : null;
    let report = proposal && reportOf(proposal, 'published');
    for (const name of stepsFrom(action)) {
      if (name === 'apply' && (await this.#imports(load))) continue;
      const work = () => this.#step(name, input);
      const isSmall = action === 'mutations' || name === 'mutate' || name === 'stage';
      const result = await (isSmall ? inSmallYoungGeneration(work) : work());
      // A country has gigabytes of rows, which nothing reads any more.
      if (name === 'merge') {
        await storage.delete((await storage.list(paths.workOf(load))).filter(paths.isRows));
      }
      if (name === 'guard') {
        const { divided, go, report: ofGuard } = result as Guarded;
        if (divided) return null;
        if (ofGuard.outcome === 'planned') return ofGuard;
        if (!go) throw new RefusedLoadError(ofGuard);
        report = ofGuard;
      }
      if (name === 'publish') report ??= finishedReport(result as ManifestEntry);
    }
    return report;
  }

  async #step<Result>(name: StepName, input: StepInput): Promise<Result> {
    const result = await this.#run(name, input);
    this.#options.onStep?.(name, input, result);
    return result as Result;
  }

  async #run(name: StepName, input: StepInput): Promise<unknown> {
    const { module, each, computes } = stepOf(name);
    const { storage, progress } = this.#session;
    const { step } = await module();
    if ('run' in step && !computes) return step.run(this.#session, input);
    const workers = computes ? await this.#session.workers(input.load) : thisThread(this.#session);
    if ('run' in step || !each) {
      return (await workers.run({ step: name, input }, [null], () => undefined))[0];
    }
    const items = await getJson<unknown[]>(storage, `${paths.workOf(input.load)}${each}`);
    const shared = await step.share(storage, input.load);
    const shown = progress.begin(name as 'merge', step.total?.(items, shared) ?? {});
    const results = await workers.run({ step: name, input, shared }, items, (amount) =>
      shown.advance(amount),
    );
    shown.end();
    return results;
  }

  /** Applies a load by importing its whole snapshot, if that is faster. */
  async #imports(load: string): Promise<boolean> {
    const { bulkImport } = this.#options;
    if (!bulkImport) return false;
    const files = await getJson<ChangeFile[]>(this.#session.storage, paths.changeFiles(load));
    return importAll(this.#session, { load, files }, await this.#session.fence(), bulkImport);
  }
}

/**
 * Starts again if the extract is replaced while it is read, or if work of the load is damaged or
 * missing, which it removes.
 */
async function untilUnchanged(
  storage: Storage,
  work: () => Promise<LoadReport>,
): Promise<LoadReport> {
  return retryWithBackoff(work, {
    attempts: 3,
    firstPauseMilliseconds: 0,
    retryIf: (error) =>
      error instanceof SourceChangedError ||
      (error instanceof UnusableObjectError && drop(storage, error.key)),
  });
}

/**
 * Removes all work of the load that this object belongs to, or a copy of mutations: the next
 * attempt remakes it.
 */
async function drop(storage: Storage, key: string): Promise<boolean> {
  if (key.startsWith(paths.mutations)) {
    await storage.delete([key]);
    return true;
  }
  if (!key.startsWith(paths.loads)) return false;
  const [load] = key.slice(paths.loads.length).split('/');
  const work = await storage.list(`${paths.loads}${load}/`);
  await storage.delete(work);
  return true;
}
