import type { LoadReport } from '../../loader/load-report.ts';
import type { RepairReport } from '../../loader/repair/repair-table.ts';
import type { Places } from '../../loader/steps/step.ts';

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
  readonly places: Places;
  /** How the same place is named in another command: `--local`. */
  readonly where: string;
  /** Runs a load to its end. @throws RefusedLoadError, and whatever stops a load */
  start(request: LoadRequest): Promise<LoadReport>;
  /** Takes up watching a load that someone started: the named one, else the one under way. @throws CommandError */
  follow(name?: string): Promise<LoadReport>;
  running(): Promise<RunningLoad[]>;
  /** Makes the table hold what the storage says that it does; in this process, wherever they are. @throws LockedError, UnknownStateError */
  repair(options: { planOnly: boolean }): Promise<RepairReport>;
  close(): void;
}
