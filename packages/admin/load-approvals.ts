import { gunzipSync } from 'node:zlib';
import { itemKey } from '../../core/accounts/account-item.ts';
import { mapConcurrently } from '../../core/concurrency.ts';
import { guardExpression, isStill, wasMade } from '../../core/dynamodb.ts';
import { accountsTable } from '../../core/tables.ts';
import {
  type ChangeExample,
  type ChangesCsv,
  changesCsvHead,
  type ObjectenCounts,
  problemCount,
  setAsideOf,
} from '../../loader/guard/load-counts.ts';
import { type LoadProposal, proposalName } from '../../loader/guard/load-report.ts';
import { approvalRunPrefix } from '../../loader/names.ts';
import { concurrentReads, getUnpacked, paths, type Storage } from '../../loader/storage/storage.ts';
import {
  findRefusedProposal,
  readManifest,
  refusedProposals,
} from '../../loader/storage/stored-loads.ts';
import { AdminError } from './accounts/admin-error.ts';
import type { AdminStore } from './accounts/admin-store.ts';
import { checkArguments } from './accounts/arguments.ts';
import {
  type AuditPage,
  type AuditPageOptions,
  audited,
  auditPageOf,
} from './accounts/audit-log.ts';

/** The register as lookups are answered from it, and the last loads, the newest first. */
export type RegisterView = {
  peildatum: string | null;
  /**
   * Changes of the register that did not match and were set aside: how many, until they are
   * corrected.
   */
  setAside: { count: number; addresses: number; examples: string[] };
  loads: PublishedLoad[];
};

/** The values that every load has, published or not. Dates as `2026-11-08`. */
export type LoadChanges = {
  load: string;
  peildatum: string;
  /** The number of addresses after it. */
  addresses: number;
  added: number;
  changed: number;
  removed: number;
};

/** A load that was published; `at` is an ISO 8601 instant. */
export type PublishedLoad = LoadChanges & { at: string };

/** One reason why a load waits. */
export type LoadObjection = {
  code: string;
  message: string;
  count?: number;
  of?: number;
  place?: string;
  since?: string;
  examples?: string[];
};

/** A load that waits for an approval, and the changes that it would make. */
export type WaitingLoad = LoadChanges & {
  /**
   * Stands for exactly this: an approval names it, and is refused where something has changed
   * since.
   */
  proposal: string;
  livePeildatum: string | null;
  /** Addresses that could not be made; `null`: not counted. */
  problems: number | null;
  /** The adresseerbare objecten of its addresses, and their changes; absent without objects. */
  objecten?: ObjectenCounts;
  /**
   * Why it waits. The codes are stable, the messages are English. `count` of `of` addresses or
   * streets are too many, in all or at a `place` (a woonplaats or a street), such as the
   * `examples`; `since`: with the days since that date.
   */
  objections: LoadObjection[];
  /** The ten streets (`Buitenveer, Weesp`) and places with the most changes. */
  streets: { name: string; changes: number }[];
  woonplaatsen: { name: string; changes: number }[];
  /** Up to five of each kind. */
  examples: { added: ChangeExample[]; changed: ChangeExample[]; removed: ChangeExample[] };
  /** How many files `changes` has of it; none of a first load. */
  changesFiles: number;
  /** The last time that it was approved or rejected; `null` if it never was. */
  approval: Approval | null;
};

/** The state of an approved load. `unknown`: the run that approved it can't be found any more. */
export type ApprovalState = 'running' | 'done' | 'failed' | 'unknown';

export type LoadDecision = 'approve' | 'reject';

/** Who approved or rejected a load, when (ISO 8601), and what became of it. */
export type Approval = {
  decision: LoadDecision;
  by: string;
  time: string;
  proposal: string;
  state: ApprovalState;
};

/** A load that is running: the execution of the state machine, and since when (ISO 8601). */
export type RunningLoad = { name: string; since: string };

/** Where loads run: the state machine of a deployment. */
export type LoadRunner = {
  /** The executions that have not ended. */
  running(): Promise<RunningLoad[]>;
  /**
   * Approves a load and runs it, or rejects it, under a name. The same name again changes nothing.
   */
  start(name: string, load: string, decision: LoadDecision): Promise<void>;
  /** `none` if no run has this name. */
  stateOf(name: string): Promise<ApprovalState | 'none'>;
};

/**
 * The result of a decision: the run that carries it out, and whether this call started that run.
 */
export type Decided = { load: string; run: string; started: boolean };

/**
 * The loads of the register, as an operator sees and approves them. `LoadsRefusals` has the codes
 * of each call.
 */
export type Loads = {
  /** The date of the register and its last loads; 12 unless `last` says otherwise. */
  register(last?: number): Promise<RegisterView>;
  running(): Promise<RunningLoad[]>;
  /** The loads that wait for an approval, by date. */
  waiting(): Promise<WaitingLoad[]>;
  show(load: string): Promise<WaitingLoad>;
  /**
   * Every change of a load that waits as CSV: key, before, after and BAG ids, by key, in
   * `changesFiles` files of up to 4 MB; `file` is 1 for the first.
   */
  changes(input: { load: string; file: number }): Promise<string>;
  /**
   * Approves a load that waits and starts it; it is live minutes later. `started` is `false` if
   * this proposal was approved before and that run has not ended. If the start of that run was
   * lost, it starts now.
   */
  approve(input: { load: string; proposal: string }): Promise<Decided>;
  /**
   * Rejects a load that waits. Its changes are not loaded again until they are corrected or an
   * operator asks for them. Seconds later it no longer waits. `started` is as for `approve`.
   */
  reject(input: { load: string; proposal: string }): Promise<Decided>;
  /** A page of who approved what, the newest first. */
  audit(options?: AuditPageOptions): Promise<AuditPage>;
};

/** Loads over their storage, with approvals in the accounts table (decision 0146). */
export function loadsOf(store: AdminStore, storage: Storage, runner: LoadRunner): Loads {
  const view = async (proposal: LoadProposal) =>
    viewOf(proposal, await approvalOf(store, runner, proposal.load));
  const find = async (load: string) => {
    const proposal = await findRefusedProposal(storage, load);
    if (proposal) return proposal;
    throw notWaiting(load);
  };
  return checkArguments('loads', {
    register: (last = 12) => readRegister(storage, last),
    running: () => runner.running(),
    waiting: async () => Promise.all((await refusedProposals(storage)).map(view)),
    show: async (load) => view(await find(load)),
    changes: async ({ load, file }) => readChanges(storage, await find(load), file),
    approve: (input) => decide(store, storage, runner, { ...input, decision: 'approve' }),
    reject: (input) => decide(store, storage, runner, { ...input, decision: 'reject' }),
    audit: (options) => auditPageOf(store, loadsPartition, options),
  });
}

function notWaiting(load: string): AdminError {
  return new AdminError(
    'not_found',
    `Load ${load} does not wait for an approval: it was run, replaced or removed.`,
  );
}

/** The partition of approvals and of the audit of the register; no account id has a `#`. */
export const loadsPartition = 'loads#';

/** The record of a decision: the proposal, the person and the number of attempts. */
type StoredApproval = {
  decision: LoadDecision;
  proposal: string;
  by: string;
  time: string;
  attempt: number;
};

/** Longer than an execution's name stays reserved, and than the work of a load is kept. */
const keptSeconds = 100 * 86_400;

type Decision = { load: string; proposal: string; decision: LoadDecision };

/**
 * Approves or rejects what `proposal` names of `load`. Idempotent: a second decision returns the
 * first run. A run that ended although the load still waits makes way for another one.
 * @throws AdminError `conflict`, also while another load is running
 */
async function decide(
  store: AdminStore,
  storage: Storage,
  runner: LoadRunner,
  wanted: Decision,
): Promise<Decided> {
  const { load } = wanted;
  const proposal = await findRefusedProposal(storage, load);
  if (!proposal) {
    const last = await findStored(store, load);
    // A form that was sent twice, when the first has got as far as the register.
    if (last && isSame(last, wanted) && (await runner.stateOf(runName(load, last))) !== 'failed') {
      return { load, run: runName(load, last), started: false };
    }
    throw notWaiting(load);
  }
  if (proposalName(proposal) !== wanted.proposal) {
    throw new AdminError(
      'conflict',
      `Load ${load} would change something else by now. Look at it again.`,
    );
  }
  // If two people decide at the same moment, one claims it; the other looks again and finds the
  // run.
  const decided =
    (await tryDecide(store, runner, wanted)) ?? (await tryDecide(store, runner, wanted));
  if (decided) return decided;
  throw new AdminError(
    'conflict',
    `Several people are deciding about load ${load}. Look at it again.`,
  );
}

const isSame = (last: StoredApproval, { proposal, decision }: Decision) =>
  last.proposal === proposal && last.decision === decision;

/** Returns nothing if another call has claimed it since this one read it. */
async function tryDecide(
  store: AdminStore,
  runner: LoadRunner,
  wanted: Decision,
): Promise<Decided | undefined> {
  const { load, proposal, decision } = wanted;
  const last = await findStored(store, load);
  if (last && isSame(last, wanted)) {
    const run = runName(load, last);
    const state = await runner.stateOf(run);
    // Whoever decided it is about to start it, or died before: the same name starts one run.
    if (state === 'none') await runner.start(run, load, decision);
    if (state === 'none' || state === 'running') return { load, run, started: false };
  }
  const [other] = await runner.running();
  if (other) {
    throw new AdminError(
      'conflict',
      `Another load has been running since ${other.since}. Decide about this one when it has ended.`,
    );
  }
  const time = new Date(store.now()).toISOString();
  const next: StoredApproval = {
    decision,
    proposal,
    by: store.actor,
    time,
    attempt: (last?.attempt ?? 0) + 1,
  };
  const run = runName(load, next);
  if (!(await claim(store, load, next, last?.attempt))) return undefined;
  const change = {
    partition: loadsPartition,
    action: `load ${decision}` as const,
    detail: { load, run },
  };
  await audited(store, change, () => runner.start(run, load, decision));
  return { load, run, started: true };
}

/** The last decision about a load, with what became of it. */
async function approvalOf(
  store: AdminStore,
  runner: LoadRunner,
  load: string,
): Promise<Approval | null> {
  const stored = await findStored(store, load);
  if (!stored) return null;
  const { decision, by, time, proposal } = stored;
  const state = await runner.stateOf(runName(load, stored));
  return { decision, by, time, proposal, state: state === 'none' ? 'unknown' : state };
}

/** The name of the run of a decision: at most 80 characters, as Step Functions has it. */
function runName(load: string, { proposal, attempt }: StoredApproval): string {
  return `${approvalRunPrefix}${load}-${proposal.slice(0, 16)}-${attempt}`;
}

const keyOf = (load: string) => itemKey(loadsPartition, `approval#${load}`);

async function findStored(store: AdminStore, load: string): Promise<StoredApproval | undefined> {
  return (await store.get(keyOf(load))) as StoredApproval | undefined;
}

async function claim(
  store: AdminStore,
  load: string,
  next: StoredApproval,
  seen?: number,
): Promise<boolean> {
  const item = {
    ...keyOf(load),
    ...next,
    [accountsTable.expires]: store.nowSeconds() + keptSeconds,
  };
  return wasMade(store.put(item, guardExpression([isStill('attempt', seen)])));
}

export async function readRegister(storage: Storage, last: number): Promise<RegisterView> {
  const { published, history } = await readManifest(storage);
  const loads = history
    .slice(0, last)
    .map(({ load, peildatum, at, addresses, added, changed, removed }) => {
      return { load, peildatum, at, addresses, added, changed, removed };
    });
  return {
    peildatum: published?.peildatum ?? null,
    setAside: setAsideOf(published?.setAside ?? []),
    loads,
  };
}

/** A refused load as its operators see it. */
export function viewOf(proposal: LoadProposal, approval: Approval | null): WaitingLoad {
  const { load, peildatum, livePeildatum, counts, objections, byPlace } = proposal;
  const { addresses, changes, problems, examples, objecten } = counts;
  return {
    load,
    proposal: proposalName(proposal),
    peildatum,
    livePeildatum,
    addresses,
    ...changes,
    problems: problems && problemCount(problems),
    ...(objecten && { objecten }),
    objections,
    changesFiles: changesFilesOf(proposal).length,
    streets: placesIn(byPlace.streets),
    woonplaatsen: placesIn(byPlace.woonplaatsen),
    examples,
    approval,
  };
}

const placesIn = (counted: Record<string, number>) =>
  Object.entries(counted).map(([name, changes]) => ({ name, changes }));

/** A response of a Lambda function holds 6 MB. */
const mostBytes = 4_000_000;

/** The stored parts of the changes of a load, by the file that a reader gets. */
export function changesFilesOf({ csv }: LoadProposal): ChangesCsv[][] {
  const files: ChangesCsv[][] = [];
  let bytes = Infinity;
  for (const part of csv) {
    if (bytes + part.bytes > mostBytes) {
      files.push([]);
      bytes = 0;
    }
    files.at(-1)?.push(part);
    bytes += part.bytes;
  }
  return files;
}

/** One change file, the first is 1, with its head. @throws AdminError `not_found` */
export async function readChanges(
  storage: Storage,
  proposal: LoadProposal,
  file: number,
): Promise<string> {
  const { load } = proposal;
  const parts = changesFilesOf(proposal)[file - 1];
  if (!parts) throw new AdminError('not_found', `Load ${load} has no file ${file} of its changes.`);
  const texts = await mapConcurrently(parts, concurrentReads, ({ name }) =>
    getUnpacked(storage, paths.changesCsv(load, name), (packed) => gunzipSync(packed).toString()),
  );
  return changesCsvHead + texts.join('');
}
