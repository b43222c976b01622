import { approvalRunPrefix } from '../../../loader/names.ts';
import { AdminError } from '../accounts/admin-error.ts';
import type { AdminStore } from '../accounts/admin-store.ts';
import { audited } from '../accounts/audit.ts';
import { isConflict } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';

/** What became of an approved load. `unknown`: the run that approved it can't be found any more. */
export type ApprovalState = 'running' | 'done' | 'failed' | 'unknown';

/** Who approved a load, when (ISO 8601), and what became of it. */
export type Approval = { by: string; time: string; plan: string; state: ApprovalState };

/** A load that is running: the execution of the state machine, and since when (ISO 8601). */
export type RunningLoad = { name: string; since: string };

/** What runs loads. */
export type LoadRunner = {
  running(): Promise<RunningLoad[]>;
  /** Approves a load and runs it, under a name. The same name again changes nothing. */
  start(name: string, load: string): Promise<void>;
  stateOf(name: string): Promise<ApprovalState | 'none'>;
};

/** The partition of approvals and their audit; no account id has a `#`. */
export const loadsPartition = 'loads#';

/** What an approval leaves: which plan, by whom, and how often it was tried. */
type StoredApproval = { plan: string; by: string; time: string; attempt: number };

/** Longer than a name of an execution can't be used again, and than the work of a load is kept. */
const keptSeconds = 100 * 86_400;

/**
 * Approves what `plan` names of `load`, once: whoever comes second, or twice, finds the run of the first. A run that ended
 * although the load still waits makes way for another one. Throws `conflict`, also while another load is running.
 */
export async function approve(
  store: AdminStore,
  runner: LoadRunner,
  wanted: { load: string; plan: string },
): Promise<{ load: string; started: boolean }> {
  // Of two people at the same moment one claims it; the other looks again and finds the run.
  return (
    (await tryApprove(store, runner, wanted)) ?? (await tryApprove(store, runner, wanted)) ?? notSettled(wanted.load)
  );
}

function notSettled(load: string): never {
  throw new AdminError('conflict', `Load ${load} is being approved by several people. Look at it again.`);
}

/** Returns nothing where somebody else claimed it after this call had looked. */
async function tryApprove(
  store: AdminStore,
  runner: LoadRunner,
  { load, plan }: { load: string; plan: string },
): Promise<{ load: string; started: boolean } | undefined> {
  const last = await findStored(store, load);
  if (last?.plan === plan) {
    const state = await runner.stateOf(runName(load, last));
    if (state === 'running') return { load, started: false };
    if (state === 'none') {
      // Whoever approved it is about to start it, or died before: the same name starts one run.
      await runner.start(runName(load, last), load);
      return { load, started: false };
    }
  }
  const [other] = await runner.running();
  if (other) {
    throw new AdminError(
      'conflict',
      `Another load has been running since ${other.since}. Approve this one when it has ended.`,
    );
  }
  const next: StoredApproval = {
    plan,
    by: store.actor,
    time: new Date(store.now()).toISOString(),
    attempt: (last?.attempt ?? 0) + 1,
  };
  const change = { partition: loadsPartition, action: 'load approve', detail: { load, run: runName(load, next) } };
  if (!(await claim(store, load, next, last?.attempt))) return undefined;
  await audited(store, change, () => runner.start(runName(load, next), load));
  return { load, started: true };
}

/** The last approval of a load, with what became of it. */
export async function approvalOf(store: AdminStore, runner: LoadRunner, load: string): Promise<Approval | null> {
  const stored = await findStored(store, load);
  if (!stored) return null;
  const { by, time, plan } = stored;
  const state = await runner.stateOf(runName(load, stored));
  return { by, time, plan, state: state === 'none' ? 'unknown' : state };
}

/** The name of the run of an approval: at most 80 characters, as Step Functions has it. */
function runName(load: string, { plan, attempt }: StoredApproval): string {
  return `${approvalRunPrefix}${load}-${plan.slice(0, 16)}-${attempt}`;
}

const keyOf = (load: string) => ({
  [accountsTable.partitionKey]: loadsPartition,
  [accountsTable.sortKey]: `approval#${load}`,
});

async function findStored(store: AdminStore, load: string): Promise<StoredApproval | undefined> {
  return (await store.get(keyOf(load))) as StoredApproval | undefined;
}

async function claim(store: AdminStore, load: string, next: StoredApproval, seen = 0): Promise<boolean> {
  const item = { ...keyOf(load), ...next, [accountsTable.expires]: store.nowSeconds() + keptSeconds };
  try {
    await store.put(item, {
      ConditionExpression: 'attribute_not_exists(#attempt) OR #attempt = :seen',
      ExpressionAttributeNames: { '#attempt': 'attempt' },
      ExpressionAttributeValues: { ':seen': seen },
    });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
