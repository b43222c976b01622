import type { Command } from 'commander';
import type { Plan } from '../../lambdas/shared/accounts/account.ts';
import { type Limits, windowNames } from '../../lambdas/shared/accounts/quota.ts';
import { useAdmin } from '../connect/admin.ts';
import {
  type ConnectionOptions,
  collect,
  count,
  parseLimits,
  planCode,
  type Terminal,
  withConnection,
} from './arguments.ts';
import { renderAudit } from './audit.ts';
import { table } from './output.ts';

/** All plans as a table; `-` is a window that the plan does not configure. */
export function renderPlans(plans: Plan[]): string {
  if (plans.length === 0) return 'There are no plans yet; make one with "plan put CODE --limit day=5000".';
  return table(
    ['plan', 'state', ...windowNames],
    plans.map(({ code, state, limits }) => [code, state, ...windowNames.map((name) => renderLimit(limits[name]))]),
  );
}

/** A plan that was just put, and how many accounts its change reached. */
export function renderPutPlan({ code, state, limits, followed }: Plan & { followed: number }): string {
  const accounts = followed === 1 ? '1 account follows' : `${followed} accounts follow`;
  return `Plan "${code}" is ${state}: ${renderLimits(limits)}. ${accounts} this change.`;
}

/** `minute=60 month=unlimited`, as `--limit` takes them. */
export function renderLimits(limits: Limits): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name}=${renderLimit(limit)}`)
    .join(' ');
}

/** `60`, `unlimited`, or `-` where there is none. */
export function renderLimit(limit: number | null | undefined): string {
  if (limit === undefined) return '-';
  return limit === null ? 'unlimited' : String(limit);
}

type PutOptions = ConnectionOptions & { limit?: string[]; inactive?: true };

/** `plan put`, `plan list` and `plan audit`. */
export function addPlanCommands(program: Command, terminal: Terminal): void {
  const plan = program.command('plan').description('what accounts may use: a limit for each time window');

  withConnection(plan.command('put'))
    .description('make or change a plan; the accounts on it follow before this returns')
    .argument('<code>', 'the plan, like "standard"')
    .option(
      '--limit <window=number>',
      'a limit for minute, hour, day or month, or "unlimited"; give one for each window',
      collect,
    )
    .option('--inactive', 'refuse the requests of every account on the plan; without it the plan is active')
    .addHelpText(
      'after',
      `
The windows that --limit names are the plan's windows from then on; without any --limit a plan keeps those it has.
What accounts have used of a window that stays is kept.

Examples:
  plan put standard --limit minute=60 --limit day=5000 --limit month=unlimited
  plan put standard --inactive`,
    )
    .action(async (code: string, options: PutOptions) => {
      const limits = options.limit && (parseLimits(options.limit, { plan: false }) as Limits);
      const input = { code: planCode(code), limits, state: options.inactive ? 'inactive' : 'active' } as const;
      await useAdmin(terminal, options, async (admin) => {
        const put = await admin.plans.put(input);
        return { json: put, text: renderPutPlan(put) };
      });
    });

  withConnection(plan.command('list'))
    .description('all plans with their limits')
    .action(async (options: ConnectionOptions) => {
      await useAdmin(terminal, options, async (admin) => {
        const plans = await admin.plans.list();
        return { json: plans, text: renderPlans(plans) };
      });
    });

  withConnection(plan.command('audit'))
    .description('who changed a plan, when and how, the newest change first')
    .argument('<code>', 'the plan')
    .option('--last <number>', 'this many changes', '100')
    .action(async (code: string, { last, ...options }: ConnectionOptions & { last: string }) => {
      const input = { code: planCode(code), last: count(last) };
      await useAdmin(terminal, options, async (admin) => {
        const entries = await admin.plans.audit(input.code, input.last);
        return { json: entries, text: renderAudit(entries) };
      });
    });
}
