import type { Objection } from '../../loader/dataset/guard.ts';
import type { Load } from '../../loader/dataset/load.ts';
import type { RepairReport } from '../../loader/run/repair.ts';
import type { LoadReport, Plan } from '../../loader/steps/load-report.ts';
import type { LoadContext } from '../../loader/steps/manifest.ts';
import { paths } from '../../loader/storage/paths.ts';
import { getJson, type Storage } from '../../loader/storage/storage.ts';

/** What is asked of a load; the input of an execution of the state machine. Without a source: the usual one. */
export type LoadRequest = {
  /** A URL, `s3://bucket/key`, or the path of a file on this machine. */
  source?: string;
  /** Loads the extract even if it is served already, or was gone back from. */
  again?: boolean;
  /** Stops before the first write. */
  planOnly?: boolean;
  /** A date or a load to go back to, instead of loading an extract. */
  rollback?: string;
  /** The id of a load that may go on in spite of what the guard has against it. */
  approve?: string;
};

/** A load that is under way. */
export type RunningLoad = { name: string; since: string };

/** Where an operator's loads run: in this process, on the data of the local run, or in the cloud. */
export interface Loads {
  /** Where manifest, snapshots and addresses are. */
  readonly places: LoadContext;
  /** How the same place is named in another command: `--local`. */
  readonly where: string;
  /** Runs a load to its end. @throws RefusedLoadError, and whatever stops a load */
  start(request: LoadRequest): Promise<LoadReport>;
  /** Takes up watching a load that someone started: the named one, else the one under way. @throws CommandError */
  follow(name?: string): Promise<LoadReport>;
  running(): Promise<RunningLoad[]>;
  /** Makes the table hold what the storage says that it does; in this process, wherever they are. @throws LockedError, UnknownSnapshotError */
  repair(options: { planOnly: boolean }): Promise<RepairReport>;
  close(): void;
}

/** A load that the guard stopped, or would stop; it goes on when it is approved. */
export type RefusedLoad = { load: string; peildatum: string; objections: Objection[]; request: LoadRequest };

/** Every refused load onto what is served now: publishing one removes the work of all others. */
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
      request: { ...requestOf(load), approve: load.id },
    }));
}

/** What makes this very load again. An extract that was gone back from is asked for explicitly. */
function requestOf({ kind, target, source }: Load): LoadRequest {
  if (kind === 'rollback' && target) return { rollback: target.load };
  return { ...(source && { source: source.location }), again: true };
}
