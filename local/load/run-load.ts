import { resolve } from 'node:path';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { retryWithBackoff } from '../../core/retry.ts';
import type { Load } from '../../loader/dataset/load.ts';
import type { StageProgress } from '../../loader/progress.ts';
import { applyChanges, importAll } from '../../loader/steps/apply.ts';
import { type Collected, collect, type SegmentItem } from '../../loader/steps/collect.ts';
import { discover } from '../../loader/steps/discover.ts';
import { approve, guard } from '../../loader/steps/guard.ts';
import {
  finishedReport,
  type LoadProposal,
  type LoadReport,
  RefusedLoadError,
  reportOf,
  unchangedReport,
} from '../../loader/steps/load-report.ts';
import type { ChangeFile, Discovery } from '../../loader/steps/manifest.ts';
import { mutate } from '../../loader/steps/mutate.ts';
import { publish } from '../../loader/steps/publish.ts';
import { planParts, readReference } from '../../loader/steps/reference.ts';
import { stage, unlimited } from '../../loader/steps/stage.ts';
import { rejectRefused, resume, rollback } from '../../loader/steps/stored-loads.ts';
import { SourceChangedError } from '../../loader/storage/source.ts';
import { findJson, getJson, paths, type Storage, UnusableObjectError } from '../../loader/storage/storage.ts';
import { inSession, type LoadOptions, type LoadSession } from './session.ts';
import { type Task, tasksAtOnce } from './threads.ts';
import { inSmallYoungGeneration } from './young-generation.ts';

/** The first half of a load, up to rows by segment; skips what is stored. Streets are read while the rest is copied. */
async function extract(session: LoadSession, load: string): Promise<void> {
  const { storage, progress, options } = session;
  const { members, source } = await getJson<Load>(storage, paths.load(load));
  let shown: StageProgress | undefined;
  async function* tasks(): AsyncGenerator<Task> {
    // Without a version, and without ranges, each `stage` downloads the whole extract.
    if (source?.etag || source?.lastModified) await stage(storage, load, progress, unlimited, ['OPR', 'WPL']);
    else await stage(storage, load, progress);
    yield { kind: 'reference', load };
    await stage(storage, load, progress);
    const parts = await planParts(storage, load, options.partBytes);
    shown = progress.begin('extract', { bytes: sum(parts, ({ files }) => sum(files, (file) => file.compressedSize)) });
    for (const part of parts) yield { kind: 'extract', load, part };
  }
  const workers = session.workers(sum(members, ({ path }) => path.at(-1)?.size ?? 0));
  await workers.run(tasks(), (amount) => shown?.advance(amount));
  shown?.end();
  await collect(storage, load);
}

/** Makes the new snapshot and the changes of all segments. */
async function merge(session: LoadSession, load: string): Promise<void> {
  const { storage, progress, options } = session;
  const segments = await getJson<SegmentItem[]>(storage, paths.segments(load));
  const workers = session.workers(0);
  const { objects } = await getJson<Collected>(storage, paths.collected(load));
  const shown = progress.begin('merge', { rows: objects });
  const reference = await readReference(storage, load);
  const { changesPerFile } = options;
  await workers.run(
    segments.map(({ segment }) => ({
      kind: 'merge',
      load,
      segment,
      reference,
      ...(changesPerFile ? { changesPerFile } : {}),
    })),
    (amount) => shown.advance(amount),
  );
  shown.end();
}

/** What an operator allows a load in advance. */
type ApprovalOptions = {
  /** The id of the load that may continue despite every objection. */
  approve?: string;
  /** Ignores how much would change, as when one area replaces another. Other objections still stop the load. */
  waiveSize?: boolean;
  /** Path of an extract, such as the demo, that may replace a newer one and be replaced by an older one. */
  disposable?: string;
};

/**
 * The part of a load from the guard to the end; `null` for days that are to be tried in smaller numbers.
 * @throws RefusedLoadError
 */
async function guardAndApply(
  session: LoadSession,
  load: string,
  { approve: approved, waiveSize = false, disposable }: ApprovalOptions,
): Promise<LoadReport | null> {
  if (approved === load) await approve(session.storage, load);
  const { fence, thresholds, options } = session;
  const proposal = await guard(session, load, fence, thresholds, {
    waiveSize,
    ...(disposable !== undefined && { disposable: resolve(disposable) }),
    // If an import can't be done, the load must not become pending: the next start would have to finish it first.
    beforeApply: async (size) => options.bulkImport?.takesOn(size),
  });
  if (proposal.divided) return null;
  if (!proposal.go) throw new RefusedLoadError(reportOf(proposal, 'refused'));
  return apply(session, load);
}

/** The second half of a load that is pending, also of one that was interrupted there. */
async function apply(session: LoadSession, load: string): Promise<LoadReport> {
  const { storage, progress, fence, options } = session;
  const proposal = await findJson<LoadProposal>(storage, paths.proposal(load));
  const files = await getJson<ChangeFile[]>(storage, paths.changeFiles(load));
  const { bulkImport } = options;
  if (!(bulkImport && (await importAll(session, { load, files }, fence, bulkImport)))) {
    const shown = progress.begin('apply', { rows: sum(files, ({ writes }) => writes) });
    await forEachConcurrently(files, tasksAtOnce, async ({ changes, writes }) => {
      const { written } = await applyChanges(session, { load, changes }, fence, (rows) => shown.advance({ rows }));
      if (written === 0) shown.advance({ rows: writes });
    });
    shown.end();
  }
  const publishing = progress.begin('publish', {});
  const entry = await publish(session, load, fence, options.keep);
  publishing.end();
  return proposal ? reportOf(proposal, 'published') : finishedReport(entry);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}

export type RunOptions = LoadOptions &
  ApprovalOptions & {
    /** The extract: a URL, `s3://bucket/key`, or the path of a file. Without it, only mutations are applied. */
    source?: string | undefined;
    /** Where mutations are: lists, folders and zips. */
    mutations?: readonly string[] | undefined;
    /** Loads the extract even if it is the live one, or one that was rolled back. */
    again?: boolean;
    /** Called after each published load: an extract, and then its mutations. */
    onPublished?: (report: LoadReport) => void;
  };

/**
 * Syncs the table to the extract, and then to the mutations that lead on from it: afterwards it holds every current
 * address and no other. Each day is judged by itself, and those before one that is wrong or refused are applied.
 * Continues an interrupted load where it stopped, and first finishes one that was interrupted while applying. Safe to
 * run again at any time.
 * @throws RefusedLoadError, LockedError, SourceError, ExtractError, MutationGapError, ForeignStorageError,
 * WorkGoneError
 */
export async function runLoad(options: RunOptions): Promise<LoadReport> {
  return inSession(options, async (session) => {
    let report = await loadOnce(session, options);
    while (report.outcome === 'published') {
      options.onPublished?.(report);
      // After days that end at one which can't be applied too: its error is for the caller.
      const goesOn = report.kind === 'extract' || report.stopped !== null || report.more;
      if (!options.mutations?.length || !goesOn) break;
      const later = await loadOnce(session, { ...options, source: undefined, again: false });
      if (later.outcome === 'unchanged') break;
      report = later;
    }
    return report;
  });
}

function loadOnce(session: LoadSession, options: RunOptions): Promise<LoadReport> {
  return untilUnchanged(session, async () => {
    for (;;) {
      const report = await afterPending(
        session,
        () => inSmallYoungGeneration(() => discover(session, options)),
        async (load, found) => {
          await prepare(session, load, found);
          return guardAndApply(session, load, options);
        },
      );
      if (report) return report;
    }
  });
}

/** Everything up to the guard. */
async function prepare(session: LoadSession, load: string, { action }: Discovery): Promise<void> {
  if (action === 'load') await extract(session, load);
  const { days } = await getJson<Load>(session.storage, paths.load(load));
  if (days.length > 0 || action === 'mutations') {
    const shown = session.progress.begin('mutate', {});
    await inSmallYoungGeneration(() => mutate(session.storage, load));
    shown.end();
  }
  await (action === 'mutations' ? inSmallYoungGeneration(() => merge(session, load)) : merge(session, load));
}

/** Everything up to the guard: returns what `runLoad` would do, and writes nothing to the table but the lock. */
export async function planLoad(options: RunOptions): Promise<LoadReport> {
  return inSession(options, (session) =>
    untilUnchanged(session, async () => {
      const { fence, thresholds } = session;
      for (;;) {
        const found = await inSmallYoungGeneration(() => discover(session, { ...options, planOnly: true }));
        if (found.action === 'none') return unchangedReport(found);
        await prepare(session, found.load, found);
        const proposal = await guard(session, found.load, fence, thresholds, { planOnly: true });
        if (!proposal.divided) return reportOf(proposal, 'planned');
      }
    }),
  );
}

/** Rolls back to an earlier snapshot, named by its date (`2021-10-15`) or its load. @throws UnknownSnapshotError */
export async function rollbackLoad(options: LoadOptions & { snapshot: string } & ApprovalOptions): Promise<LoadReport> {
  return inSession(options, (session) =>
    untilUnchanged(session, () =>
      afterPending(
        session,
        () => rollback(session, options.snapshot),
        async (load) => {
          await merge(session, load);
          return whole(await guardAndApply(session, load, options));
        },
      ),
    ),
  );
}

/**
 * Approves a load that the guard refused, named by its id, and continues it. The extract is not read again.
 * @throws UnknownLoadError, StaleLoadError
 */
export async function approveLoad(options: LoadOptions & { load: string }): Promise<LoadReport> {
  return inSession(options, (session) =>
    afterPending(
      session,
      () => resume(session, options.load),
      async (load) => {
        await merge(session, load);
        return whole(await guardAndApply(session, load, { approve: options.load }));
      },
    ),
  );
}

/**
 * Rejects a load that the guard refused, named by its id: it is not loaded again until an operator asks for it.
 * @throws UnknownLoadError, NotRefusedError
 */
export async function rejectLoad(options: LoadOptions & { load: string }): Promise<LoadReport> {
  return inSession(options, async (session) => unchangedReport(await rejectRefused(session, options.load)));
}

/** The report of a load that is never divided: one without days, or an approved one. */
function whole(report: LoadReport | null): LoadReport {
  if (!report) throw new Error('only days of mutations are divided');
  return report;
}

/**
 * Finishes a load that was interrupted while applying, then does the remaining work; the report is about the last
 * load.
 */
async function afterPending<Report extends LoadReport | null>(
  session: LoadSession,
  find: () => Promise<Discovery>,
  work: (load: string, found: Discovery) => Promise<Report>,
): Promise<Report | LoadReport> {
  let finished: LoadReport | undefined;
  for (;;) {
    const found = await find();
    if (found.action === 'none') {
      return finished ? { ...finished, isSkipped: found.isSkipped ?? false } : unchangedReport(found);
    }
    if (found.action !== 'finish') return work(found.load, found);
    finished = await apply(session, found.load);
  }
}

/**
 * Starts again if the extract is replaced while it is read, or if work of the load is damaged or missing, which it
 * removes.
 */
async function untilUnchanged({ storage }: LoadSession, work: () => Promise<LoadReport>): Promise<LoadReport> {
  return retryWithBackoff(work, {
    attempts: 3,
    firstPauseMilliseconds: 0,
    retryIf: (error) =>
      error instanceof SourceChangedError || (error instanceof UnusableObjectError && drop(storage, error.key)),
  });
}

/** Removes all work of the load that this object belongs to, or a copy of mutations: the next attempt remakes it. */
async function drop(storage: Storage, key: string): Promise<boolean> {
  if (key.startsWith(paths.mutations)) {
    await storage.delete([key]);
    return true;
  }
  if (!key.startsWith(paths.loads)) return false;
  const [load] = key.slice(paths.loads.length).split('/');
  const work = await storage.list(`${paths.loads}${load}/`);
  await storage.delete(work.map((object) => object.key));
  return true;
}
