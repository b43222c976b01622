import type { Command } from 'commander';
import type { Plan } from '../../core/accounts/account.ts';
import type { Limits } from '../../core/accounts/quota.ts';
import { windowNames } from '../../core/calendar.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import type { PlanProgress } from '../../packages/admin/change-plan.ts';
import type { PlanInput, PlanPage } from '../../packages/admin/plans.ts';
import {
  type AccountsOptions,
  allPages,
  collectValues,
  counted,
  parseLimits,
  planCode,
  type Result,
  type Terminal,
  thousands,
  useAdmin,
  withAccounts,
} from './command.ts';
import { addAudit } from './reports.ts';
import { table } from './table.ts';

/** `plan put`, `plan resume`, `plan list` and `plan audit`. */
export function addPlanCommands(program: Command, terminal: Terminal): void {
  const plan = program.command('plan').description('plans: a limit for each time window, shared by accounts');
  addPut(plan, terminal);
  addResume(plan, terminal);
  addList(plan, terminal);
  addAudit(plan, terminal, {
    description: 'list the changes of a plan: who, when and what, the newest first',
    argument: { name: 'code', description: 'the plan', read: planCode },
    entries: (admin, code, last) => admin.plans.audit(code, last),
  });
}

type PutOptions = AccountsOptions & { limit?: string[]; inactive?: true; dryRun?: true };

function addPut(plan: Command, terminal: Terminal): void {
  withAccounts(plan.command('put'))
    .description('create or change a plan; when this returns, the change applies to every account on it')
    .argument('<code>', 'the plan, like "standard"')
    .option(
      '--limit <window=number>',
      'a limit for minute, hour, day or month, or "unlimited"; repeat it for each window',
      collectValues,
    )
    .option('--inactive', 'refuse the requests of all accounts on the plan; without it the plan is active')
    .option('--dry-run', 'print what would change, and for how many accounts; change nothing')
    .addHelpText(
      'after',
      `
The windows named by --limit replace the plan's windows; without any --limit a plan keeps the windows it has.
What accounts have used of a window still counts, also when the plan drops the window and configures it again.
With many accounts this takes a while: every account is looked at, 1,000 at a time, and the plan says how far the change
has come. If it is interrupted, "plan resume" goes on.

Examples:
  npx bag-adres plan put standard --limit minute=60 --limit day=5000 --limit month=unlimited --local
  npx bag-adres plan put standard --inactive --local`,
    )
    .action(async (code: string, options: PutOptions) => {
      const limits = options.limit && (parseLimits(options.limit, { plan: false }) as Limits);
      const input = { code: planCode(code), limits, state: options.inactive ? 'inactive' : 'active' } as const;
      await useAdmin(terminal, options, async (admin) => {
        if (options.dryRun) return previewOf(admin, input);
        const plan = await admin.plans.begin(input);
        const put = { ...plan, followed: (await followToEnd(admin, plan.code, terminal)).followed };
        return { json: put, text: renderPutPlan(put) };
      });
    });
}

function addResume(plan: Command, terminal: Terminal): void {
  withAccounts(plan.command('resume'))
    .description('finish a change of a plan that was interrupted; "plan list" shows which')
    .argument('<code>', 'the plan')
    .addHelpText('after', '\nExample:\n  npx bag-adres plan resume standard --local')
    .action(async (code: string, options: AccountsOptions) => {
      const name = planCode(code);
      await useAdmin(terminal, options, async (admin) => {
        const { looked, followed } = await followToEnd(admin, name, terminal);
        const text =
          looked === 0
            ? `No change of plan "${name}" was left to finish.`
            : `Every account on plan "${name}" has the change: ${counted(followed, 'account')}.`;
        return { json: { code: name, looked, followed }, text };
      });
    });
}

/** Says on standard error how far it has come, where that takes more than one step. */
async function followToEnd(admin: Admin, code: string, terminal: Terminal): Promise<PlanProgress> {
  for (let last: PlanProgress | undefined; ; ) {
    const progress = await admin.plans.follow(code);
    // Somebody else may have finished it.
    if (progress.done) return last && progress.looked === 0 ? { ...last, done: true } : progress;
    last = progress;
    const { looked, followed } = progress;
    terminal.err(`Looked at ${counted(looked, 'account')}; ${thousands(followed)} on plan "${code}" have the change.`);
  }
}

async function previewOf(admin: Admin, { code, limits, state }: PlanInput): Promise<Result> {
  const [{ plans }, counts] = await Promise.all([admin.plans.list({ prefix: code, limit: 1 }), admin.plans.counts()]);
  const found = plans.find((plan) => plan.code === code);
  const before = found && { state: found.state, limits: found.limits };
  const after = { state, limits: limits ?? found?.limits ?? {} };
  const accounts = counts[code] ?? 0;
  const lines = [
    `Plan "${code}" ${before ? 'would change' : 'would be made'}:`,
    `  before  ${before ? `${before.state}: ${renderLimits(before.limits)}` : '-'}`,
    `  after   ${after.state}: ${renderLimits(after.limits)}`,
    `It applies to ${counted(accounts, 'account')}, except for limits of their own. Nothing was changed.`,
  ];
  return { json: { code, before: before ?? null, after, accounts, executed: false }, text: lines.join('\n') };
}

function addList(plan: Command, terminal: Terminal): void {
  withAccounts(plan.command('list'))
    .description('list all plans with their limits')
    .action(async (options: AccountsOptions) => {
      await useAdmin(terminal, options, async (admin) => {
        const read = (cursor: { cursor?: string }) => admin.plans.list({ ...cursor });
        const [plans, counts] = await Promise.all([allPages(read, ({ plans }) => plans), admin.plans.counts()]);
        const counted = plans.map((plan) => ({ ...plan, accounts: counts[plan.code] ?? 0 }));
        return { json: counted, text: renderPlans(counted) };
      });
    });
}

function renderPutPlan({ code, state, limits, followed }: Plan & { followed: number }): string {
  const accounts = followed === 1 ? '1 account is' : `${followed} accounts are`;
  return `Plan "${code}" is ${state}: ${renderLimits(limits)}. ${accounts} on this plan.`;
}

/** All plans as a table; `-` is a window that the plan does not have. */
function renderPlans(plans: (PlanPage['plans'][number] & { accounts: number })[]): string {
  if (plans.length === 0) return 'There are no plans yet. Create one with "plan put CODE --limit day=5000".';
  const unfinished = plans.flatMap(({ code, change }) =>
    change ? [`A change of plan "${code}" is not finished: "plan resume ${code}" goes on.`] : [],
  );
  const rows = plans.map(({ code, state, limits, accounts }) => [
    code,
    state,
    ...windowNames.map((name) => renderLimit(limits[name])),
    thousands(accounts),
  ]);
  return [table(['plan', 'state', ...windowNames, 'accounts'], rows), ...unfinished].join('\n');
}

/** `minute=60 month=unlimited`, as `--limit` takes them. */
export function renderLimits(limits: Limits): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name}=${renderLimit(limit)}`)
    .join(' ');
}

/** `60`, `unlimited`, or `-` when there is none. */
export function renderLimit(limit: number | null | undefined): string {
  if (limit === undefined) return '-';
  return limit === null ? 'unlimited' : String(limit);
}
