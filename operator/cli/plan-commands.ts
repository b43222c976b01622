import type { Limits } from '../../core/accounts/quota.ts';
import { windowNames } from '../../core/calendar.ts';
import { allPages } from '../../core/pages.ts';
import type { PlanInput, PlanPage, PlanProgress } from '../../packages/admin/accounts/plans.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import { audit } from './audit-commands.ts';
import { addCalls, argument, call, option } from './calls.ts';
import type { CliCommand, Result, Tell } from './command.ts';
import { counted, lines, table, thousands } from './terminal-text.ts';
import { limits, planCode } from './values.ts';

type OfCode = { code: string };
type PutOptions = OfCode & { limit?: Limits; inactive?: true; dryRun?: true };

const code = (description = 'the plan') => argument('<code>', description, planCode);

export function addPlanCommands(program: CliCommand): void {
  const plan = program
    .command('plan')
    .description('plans: a limit for each time window, shared by accounts');
  addCalls(plan, {
    put: {
      description:
        'create or change a plan; when this returns, the change applies to every account on it',
      takes: [
        code('the plan, like "standard"'),
        option(
          '--limit <window=number>',
          `a limit for a window (${windowNames.join(', ')}), or "unlimited"; repeat it for each window`,
          limits('plan'),
        ),
        option(
          '--inactive',
          'refuse the requests of all accounts on the plan; without it the plan is active',
        ),
        option('--dry-run', 'print what would change, and for how many accounts; change nothing'),
      ],
      notes: `The windows named by --limit replace the plan's windows; without any --limit a plan keeps the windows it has.
Accounts' usage in a window still counts, also when the plan drops the window and configures it again.
With many accounts this takes a while: every account is looked at, 1,000 at a time, and the plan says how far the change
has come. If it is interrupted, "plan resume" goes on.`,
      examples: [
        'plan put standard --limit minute=60 --limit day=5000 --limit month=unlimited --local',
        'plan put standard --inactive --local',
      ],
      async run({ admin, tell }, { code, limit, inactive, dryRun }: PutOptions) {
        const input = { code, limits: limit, state: inactive ? 'inactive' : 'active' } as const;
        if (dryRun) return previewOf(admin, input);
        const plan = await admin.plans.begin(input);
        const put = { ...plan, followed: (await followToEnd(admin, code, tell)).followed };
        const accounts = `${counted(put.followed, 'account')} ${put.followed === 1 ? 'is' : 'are'}`;
        const text = `Plan "${code}" is ${put.state}: ${renderLimits(put.limits)}. ${accounts} on this plan.`;
        return { json: put, text };
      },
    },
    resume: call({
      description: 'finish a change of a plan that was interrupted; "plan list" shows which',
      takes: [code()],
      examples: ['plan resume standard --local'],
      async call({ admin, tell }, { code }: OfCode) {
        const { looked, followed } = await followToEnd(admin, code, tell);
        return { code, looked, followed };
      },
      text: ({ code, looked, followed }) =>
        looked === 0
          ? `No change of plan "${code}" was left to finish.`
          : `Every account on plan "${code}" has the change: ${counted(followed, 'account')}.`,
    }),
    list: call({
      description: 'list all plans with their limits',
      async call({ admin }) {
        const listed = allPages(admin.plans.list, ({ plans }) => plans);
        const [plans, counts] = await Promise.all([listed, admin.plans.counts()]);
        return plans.map((plan) => ({ ...plan, accounts: counts[plan.code] ?? 0 }));
      },
      text: renderPlans,
    }),
    audit: audit(
      'list the changes of a plan: who, when and what, the newest first',
      code(),
      ({ admin }, { code }: OfCode, page) => admin.plans.audit(code, page),
    ),
  });
}

/** Reports the progress if it takes more than one step. */
async function followToEnd(admin: Admin, code: string, tell: Tell): Promise<PlanProgress> {
  for (let last: PlanProgress | undefined; ; ) {
    const progress = await admin.plans.follow(code);
    // Somebody else may have finished it.
    if (progress.done) return last && progress.looked === 0 ? { ...last, done: true } : progress;
    last = progress;
    const { looked, followed } = progress;
    tell(
      `Looked at ${counted(looked, 'account')}; ${thousands(followed)} on plan "${code}" have the change.`,
    );
  }
}

async function previewOf(admin: Admin, { code, limits, state }: PlanInput): Promise<Result> {
  const [{ plans }, counts] = await Promise.all([
    admin.plans.list({ prefix: code, limit: 1 }),
    admin.plans.counts(),
  ]);
  const found = plans.find((plan) => plan.code === code);
  const before = found && { state: found.state, limits: found.limits };
  const after = { state, limits: limits ?? found?.limits ?? {} };
  const accounts = counts[code] ?? 0;
  const text = lines(
    `Plan "${code}" ${before ? 'would change' : 'would be made'}:`,
    `  before  ${before ? `${before.state}: ${renderLimits(before.limits)}` : '-'}`,
    `  after   ${after.state}: ${renderLimits(after.limits)}`,
    `It applies to ${counted(accounts, 'account')}, except for limits of their own. Nothing was changed.`,
  );
  return { json: { code, before: before ?? null, after, accounts, executed: false }, text };
}

/** All plans as a table; `-` is a window that the plan does not have. */
function renderPlans(plans: (PlanPage['plans'][number] & { accounts: number })[]): string {
  if (plans.length === 0) {
    return 'There are no plans yet. Create one: "plan put standard --limit day=5000".';
  }
  return lines(
    table(
      ['plan', 'state', ...windowNames, 'accounts'],
      plans,
      ({ code, state, limits, accounts }) => {
        return [code, state, ...windowNames.map((name) => renderLimit(limits[name])), accounts];
      },
    ),
    plans.map(
      ({ code, change }) =>
        change && `A change of plan "${code}" is not finished: "plan resume ${code}" goes on.`,
    ),
  );
}

/** `minute=60 month=unlimited`, as `--limit` takes them. */
export function renderLimits(limits: Limits): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name}=${limit ?? 'unlimited'}`)
    .join(' ');
}

/** `5,000`, `unlimited`, or `-` without a limit. */
export function renderLimit(limit: number | null | undefined): string {
  if (limit === undefined) return '-';
  return limit === null ? 'unlimited' : thousands(limit);
}
