import type { Command } from 'commander';
import type { Plan } from '../../core/accounts/account.ts';
import type { Limits } from '../../core/accounts/quota.ts';
import { windowNames } from '../../core/calendar.ts';
import {
  type AccountsOptions,
  allPages,
  collectValues,
  parseLimits,
  planCode,
  type Terminal,
  table,
  useAdmin,
  withAccounts,
} from './command.ts';
import { addAudit } from './reports.ts';

/** `plan put`, `plan list` and `plan audit`. */
export function addPlanCommands(program: Command, terminal: Terminal): void {
  const plan = program.command('plan').description('plans: a limit for each time window, shared by accounts');
  addPut(plan, terminal);
  addList(plan, terminal);
  addAudit(plan, terminal, {
    description: 'list the changes of a plan: who, when and what, the newest first',
    argument: { name: 'code', description: 'the plan', read: planCode },
    entries: (admin, code, last) => admin.plans.audit(code, last),
  });
}

type PutOptions = AccountsOptions & { limit?: string[]; inactive?: true };

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
    .addHelpText(
      'after',
      `
The windows named by --limit replace the plan's windows; without any --limit a plan keeps the windows it has.
What accounts have used of a window still counts, also when the plan drops the window and configures it again.

Examples:
  npx bag-adres plan put standard --limit minute=60 --limit day=5000 --limit month=unlimited --local
  npx bag-adres plan put standard --inactive --local`,
    )
    .action(async (code: string, options: PutOptions) => {
      const limits = options.limit && (parseLimits(options.limit, { plan: false }) as Limits);
      const input = { code: planCode(code), limits, state: options.inactive ? 'inactive' : 'active' } as const;
      await useAdmin(terminal, options, async (admin) => {
        const put = await admin.plans.put(input);
        return { json: put, text: renderPutPlan(put) };
      });
    });
}

function addList(plan: Command, terminal: Terminal): void {
  withAccounts(plan.command('list'))
    .description('list all plans with their limits')
    .action(async (options: AccountsOptions) => {
      await useAdmin(terminal, options, async (admin) => {
        const plans = await allPages(
          (cursor) => admin.plans.list({ ...cursor }),
          ({ plans }) => plans,
        );
        return { json: plans, text: renderPlans(plans) };
      });
    });
}

function renderPutPlan({ code, state, limits, followed }: Plan & { followed: number }): string {
  const accounts = followed === 1 ? '1 account is' : `${followed} accounts are`;
  return `Plan "${code}" is ${state}: ${renderLimits(limits)}. ${accounts} on this plan.`;
}

/** All plans as a table; `-` is a window that the plan does not have. */
function renderPlans(plans: Plan[]): string {
  if (plans.length === 0) return 'There are no plans yet. Create one with "plan put CODE --limit day=5000".';
  return table(
    ['plan', 'state', ...windowNames],
    plans.map(({ code, state, limits }) => [code, state, ...windowNames.map((name) => renderLimit(limits[name]))]),
  );
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
