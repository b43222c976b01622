import { type LoadReport, reportOf, unchangedReport } from './load-report.ts';
import { inSession, type LoadOptions, type Session } from './load-session.ts';
import { apply, extract, guardAndApply, merge } from './load-stages.ts';
import { discover } from './steps/discover.ts';
import { guard } from './steps/guard.ts';
import { rollback } from './steps/rollback.ts';
import type { Found } from './steps/step.ts';
import { SourceChangedError } from './storage/source.ts';

export type RunOptions = LoadOptions & {
  /** A URL, `s3://bucket/key`, or the path of a file. */
  source: string;
  /** Lets a load go on in spite of objections: `true`, or the id of the one load that may. */
  approve?: boolean | string;
  /** Loads the extract even if it is the one that is served, or one that was gone back from. */
  again?: boolean;
};

/**
 * Makes the table equal to the extract: after it every current address is there, and nothing else. A load that died is
 * taken up where it stopped; one that died while applying is finished first. Running it again is always right.
 * @throws RefusedLoadError, LockedError, SourceError, ExtractError, ForeignStorageError, WorkGoneError
 */
export async function runLoad(options: RunOptions): Promise<LoadReport> {
  return inSession(options, (session) =>
    untilUnchanged(() =>
      afterPending(
        session,
        () => discover(session, options),
        async (load) => {
          await extract(session, load);
          await merge(session, load);
          return guardAndApply(session, load, options.approve);
        },
      ),
    ),
  );
}

/** Everything up to the guard: says what `runLoad` would do, and writes nothing into the table but the lock. */
export async function planLoad(options: RunOptions): Promise<LoadReport> {
  return inSession(options, (session) =>
    untilUnchanged(async () => {
      const found = await discover(session, { ...options, planOnly: true });
      if (found.action === 'none') return unchangedReport(found);
      await extract(session, found.load);
      await merge(session, found.load);
      const { owner, thresholds } = session;
      return reportOf(await guard(session, { load: found.load, owner, planOnly: true }, thresholds), 'planned');
    }),
  );
}

/** Goes back to an earlier state, named by its date (`2021-10-15`) or by its load. @throws UnknownStateError */
export async function rollbackLoad(
  options: LoadOptions & { state: string; approve?: boolean | string },
): Promise<LoadReport> {
  return inSession(options, (session) =>
    afterPending(
      session,
      () => rollback(session, options.state),
      async (load) => {
        await merge(session, load);
        return guardAndApply(session, load, options.approve);
      },
    ),
  );
}

/** Finishes what died while applying, then does the work that remains; the report is of the last that was done. */
async function afterPending(
  session: Session,
  find: () => Promise<Found>,
  work: (load: string) => Promise<LoadReport>,
): Promise<LoadReport> {
  let finished: LoadReport | undefined;
  for (;;) {
    const found = await find();
    if (found.action === 'none') return finished ?? unchangedReport(found);
    if (found.action !== 'finish') return work(found.load);
    finished = await apply(session, found.load);
  }
}

const attempts = 3;

/** An extract that is replaced while it is read is read again from the start: the next time it is all new. */
async function untilUnchanged(work: () => Promise<LoadReport>): Promise<LoadReport> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SourceChangedError) || attempt === attempts) throw error;
    }
  }
}
