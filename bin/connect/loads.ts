import type { Objection } from '../../loader/dataset/guard.ts';
import type { Load } from '../../loader/dataset/load.ts';
import type { Progress } from '../../loader/progress.ts';
import type { DiscardReport } from '../../loader/run/discard.ts';
import type { RepairReport } from '../../loader/run/repair.ts';
import type { LoadReport, Plan } from '../../loader/steps/load-report.ts';
import type { LoadContext } from '../../loader/steps/manifest.ts';
import { paths } from '../../loader/storage/paths.ts';
import { getJson, type Storage } from '../../loader/storage/storage.ts';

/** What to load; also the input of an execution of the state machine. Without a source: the deployment's own. */
export type LoadRequest = {
  /** A URL, `s3://bucket/key`, or the path of a file on this machine. */
  source?: string;
  /** Loads the extract even if it is live already, or was rolled back. */
  again?: boolean;
  /** Stops before the first write. */
  planOnly?: boolean;
  /** The snapshot date or load to roll back to, instead of loading an extract. */
  rollback?: string;
  /** The id of a blocked load to continue despite the guard's objections, instead of loading an extract. */
  approve?: string;
};

/** A load that is running. */
export type RunningLoad = { name: string; since: string };

/** Loads of one dataset: in this process on the data of the local run, or by the state machine of a deployment. */
export interface Loads {
  /** The storage and the addresses table. */
  readonly context: LoadContext;
  /** The options that select the same dataset in another command: `--local`. */
  readonly where: string;
  /** Runs a load to its end. @throws RefusedLoadError, and any other error of a load */
  start(request: LoadRequest): Promise<LoadReport>;
  /** Follows a load that was started elsewhere: the named one, else the one that is running. @throws CommandError */
  follow(name?: string): Promise<LoadReport>;
  running(): Promise<RunningLoad[]>;
  /** Makes the table equal to its snapshot; always in this process. @throws LockedError, UnknownSnapshotError */
  repair(options: { planOnly: boolean }): Promise<RepairReport>;
  /** Removes the work of a load that was not published. @throws PendingLoadError, UnknownLoadError, LockedError */
  discard(load: string): Promise<DiscardReport>;
  close(): void;
}

/** How the progress of a load is reported. */
export type ProgressReporter = {
  /** Of work in this process. */
  progress: Progress;
  /** Prints a line about work elsewhere. */
  print: (line: string) => void;
};

/** A load that the guard stopped, or would stop; it continues when it is approved. */
export type RefusedLoad = { load: string; peildatum: string; objections: Objection[] };

/** Every refused load onto the live dataset. Publishing a load removes the work of all others. */
export async function refusedLoads(storage: Storage): Promise<RefusedLoad[]> {
  const keys = (await storage.list(paths.loads)).map(({ key }) => key);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.plan(id) ? [id] : [];
  });
  const found = await Promise.all(
    ids.map(async (id) => ({
      plan: await getJson<Plan>(storage, paths.plan(id)),
      load: await getJson<Load>(storage, paths.load(id)),
    })),
  );
  return found
    .filter(({ plan }) => !plan.go)
    .map(({ plan, load }) => ({
      load: load.id,
      peildatum: load.peildatum,
      objections: plan.objections,
    }));
}
