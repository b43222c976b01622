import { createHash } from 'node:crypto';
import { findRefusedPlan, refusedPlans } from '../../../loader/run/refused-loads.ts';
import type { Plan } from '../../../loader/steps/load-report.ts';
import { readManifest } from '../../../loader/steps/manifest.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { AdminError } from '../accounts/admin-error.ts';
import type { AdminStore } from '../accounts/admin-store.ts';
import { type AuditEntry, auditOf } from '../accounts/audit.ts';
import { type Approval, approvalOf, approve, type LoadRunner, loadsPartition, type RunningLoad } from './approval.ts';

/** The register as lookups are answered from it, and the last loads, the newest first. */
export type RegisterView = { snapshotDate: string | null; loads: PublishedLoad[] };

/** A load that was published. Dates as `2026-11-08`; `at` is an ISO 8601 instant. */
export type PublishedLoad = {
  load: string;
  peildatum: string;
  at: string;
  addresses: number;
  added: number;
  changed: number;
  removed: number;
};

/** One change of a load: what lookups of a key answer before and after it, as `street, town`; `null` for no address. */
export type LoadExample = { key: string; before: string[] | null; after: string[] | null };

/** A load that waits for an approval, and what it would change. */
export type WaitingLoad = {
  load: string;
  /** Stands for exactly this: an approval names it, and is refused where something has changed since. */
  plan: string;
  peildatum: string;
  livePeildatum: string | null;
  /** The addresses after it. */
  addresses: number;
  added: number;
  changed: number;
  removed: number;
  /** Addresses that could not be made; `null`: not counted. */
  problems: number | null;
  /** Why it waits. The codes are stable, the messages are English. */
  objections: { code: string; message: string }[];
  /** Up to five of each kind. */
  examples: { added: LoadExample[]; changed: LoadExample[]; removed: LoadExample[] };
  /** The last time that it was approved; `null` if it never was. */
  approval: Approval | null;
};

/** What each call of `Loads` can refuse with; `conflict` also while another load is running. */
export type LoadsRefusals = {
  'loads.register': never;
  'loads.running': never;
  'loads.waiting': never;
  'loads.show': 'invalid' | 'not_found';
  'loads.approve': 'invalid' | 'not_found' | 'conflict';
  'loads.audit': never;
};

/** The loads of the register, as an operator sees and approves them. `LoadsRefusals` has the codes of each call. */
export type Loads = {
  /** The date of the register and its last loads; 12 unless `last` says otherwise. */
  register(last?: number): Promise<RegisterView>;
  /** The loads that are running now. */
  running(): Promise<RunningLoad[]>;
  /** The loads that wait for an approval, by date. */
  waiting(): Promise<WaitingLoad[]>;
  /** One of them. */
  show(load: string): Promise<WaitingLoad>;
  /**
   * Approves a load that waits and starts it; it is live minutes later. `started` is `false` where this plan of it was
   * approved before and that run has not ended; if its start was lost, it starts now.
   */
  approve(input: { load: string; plan: string }): Promise<{ load: string; started: boolean }>;
  /** Who approved what, the newest first; 100 entries unless `last` says otherwise. */
  audit(last?: number): Promise<AuditEntry[]>;
};

/** Loads over their storage, with approvals in the accounts table (decision 0147). */
export function loadsOf(store: AdminStore, storage: Storage, runner: LoadRunner): Loads {
  const view = async (plan: Plan) => viewOf(plan, await approvalOf(store, runner, plan.load));
  return {
    register: (last = 12) => readRegister(storage, last),
    running: () => runner.running(),
    waiting: async () => Promise.all((await refusedPlans(storage)).map(view)),
    async show(load) {
      checkLoad(load);
      const plan = await findRefusedPlan(storage, load);
      if (!plan) throw notWaiting(load);
      return view(plan);
    },
    async approve({ load, plan: seen }) {
      checkLoad(load);
      const plan = await findRefusedPlan(storage, load);
      if (plan && planName(plan) === seen) return approve(store, runner, { load, plan: seen });
      if (plan) throw new AdminError('conflict', `Load ${load} would change something else by now. Look at it again.`);
      const approved = await approvalOf(store, runner, load);
      // A form that was sent twice, when the first has got as far as the register.
      if (approved?.plan === seen && approved.state !== 'failed') return { load, started: false };
      throw notWaiting(load);
    },
    audit: (last = 100) => auditOf(store, loadsPartition, last),
  };
}

async function readRegister(storage: Storage, last: number): Promise<RegisterView> {
  const { published, history } = await readManifest(storage);
  return {
    snapshotDate: published?.peildatum ?? null,
    loads: history.slice(0, last).map(({ load, peildatum, at, keys, added, changed, removed }) => {
      return { load, peildatum, at, addresses: keys, added, changed, removed };
    }),
  };
}

function viewOf(plan: Plan, approval: Approval | null): WaitingLoad {
  const { load, peildatum, livePeildatum, counts, objections } = plan;
  const { keys, changes, problems, examples } = counts;
  const { no_postcode: _, ...faults } = problems ?? {};
  return {
    load,
    plan: planName(plan),
    peildatum,
    livePeildatum,
    addresses: keys,
    ...changes,
    problems: problems && Object.values(faults).reduce((sum, { count }) => sum + count, 0),
    objections,
    examples,
    approval,
  };
}

/** The id of a load says what it loads onto what; this, what an operator saw of it. */
function planName({ load, livePeildatum, counts, days, objections, waived }: Plan): string {
  const seen = JSON.stringify([load, livePeildatum, counts, days, objections, waived]);
  return createHash('sha256').update(seen).digest('hex').slice(0, 16);
}

/** Part of the name of an object in the storage, so it is checked first. */
function checkLoad(load: string): void {
  if (typeof load === 'string' && /^\d{4}-\d\d-\d\d-[0-9a-f]{10}$/.test(load)) return;
  throw new AdminError('invalid', 'A load has an id like 2026-11-08-0123456789, as the list of loads shows it.');
}

function notWaiting(load: string): AdminError {
  return new AdminError('not_found', `Load ${load} does not wait for an approval: it was run, replaced or removed.`);
}
