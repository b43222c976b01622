import type { Command } from 'commander';
import type { AccountView, WindowUsage } from '../../lambdas/shared/accounts/accounts.ts';
import { type WindowName, windowNames } from '../../lambdas/shared/accounts/quota.ts';
import { useAdmin } from '../connect/admin.ts';
import {
  accountId,
  type ConnectionOptions,
  collect,
  count,
  parseLimits,
  planCode,
  shardCount,
  type Terminal,
  UsageError,
  withConnection,
} from './arguments.ts';
import { renderAudit } from './audit.ts';
import { renderKeys } from './key.ts';
import { table } from './output.ts';
import { renderLimit, renderLimits } from './plan.ts';

/** All accounts as a table: used / limit of each window as of now. */
export function renderAccounts(accounts: AccountView[]): string {
  if (accounts.length === 0) return 'There are no accounts yet; make one with "account create ID --plan CODE".';
  return table(
    ['account', 'state', 'plan', 'active keys', ...windowNames],
    accounts.map((account) => [
      account.id,
      account.state,
      renderPlanOf(account),
      String(account.keys.filter(({ state }) => state === 'active').length),
      ...windowNames.map((name) => renderUsage(account.windows[name])),
    ]),
  );
}

/** One account with its windows and keys. */
export function renderAccount(account: AccountView): string {
  const asleep = Object.entries(account.ownLimits).filter(([name]) => !(name in account.windows));
  return [
    `account  ${account.id}`,
    `state    ${account.state}`,
    `plan     ${renderPlanOf(account)}`,
    `created  ${account.created}`,
    ...(account.shards > 1 ? [`shards   ${account.shards}`] : []),
    ...(asleep.length > 0 ? [`asleep   ${renderLimits(Object.fromEntries(asleep))} (the plan lacks the window)`] : []),
    '',
    renderWindows(account),
    '',
    renderKeys(account.keys),
  ].join('\n');
}

function renderWindows({ windows, ownLimits }: AccountView): string {
  return table(
    ['window', 'limit', 'set by', 'used', 'left', 'resets'],
    windowNames.flatMap((name: WindowName) => {
      const window = windows[name];
      if (!window) return [];
      const { limit, used, resets } = window;
      const left = limit === null ? 'unlimited' : String(Math.max(0, limit - used));
      return [[name, renderLimit(limit), name in ownLimits ? 'account' : 'plan', String(used), left, resets]];
    }),
  );
}

function renderPlanOf({ plan, planState }: AccountView): string {
  return planState === 'active' ? plan : `${plan} (inactive)`;
}

function renderUsage(window: WindowUsage | undefined): string {
  return window ? `${window.used} / ${renderLimit(window.limit)}` : '-';
}

type LimitOptions = ConnectionOptions & { plan?: string; limit?: string[] };
type SetOptions = LimitOptions & { shards?: string };

/** `account create`, `show`, `list`, `audit`, `suspend`, `activate` and `set`. */
export function addAccountCommands(program: Command, terminal: Terminal): void {
  const account = program.command('account').description('customers: a plan, limits of their own, and keys');
  addCreate(account, terminal);
  addSet(account, terminal);
  addShow(account, terminal);
  addList(account, terminal);
  addAudit(account, terminal);
  addState(account, terminal, 'suspend', 'refuse every request of an account, from the next one on');
  addState(account, terminal, 'activate', 'let a suspended account in again');
}

function addCreate(account: Command, terminal: Terminal): void {
  withConnection(account.command('create'))
    .description('make an account')
    .argument('<id>', 'letters, digits, ".", "_" and "-", 32 at most; it becomes a part of its keys')
    .requiredOption('--plan <code>', 'the plan it is on')
    .option(
      '--limit <window=number>',
      "a limit of its own, which goes before the plan's; may be given many times",
      collect,
    )
    .addHelpText('after', '\nExample:\n  account create acme --plan standard --limit day=100')
    .action(async (id: string, { plan, limit, ...options }: LimitOptions & { plan: string }) => {
      const input = { id: accountId(id), plan: planCode(plan), limits: parseLimits(limit ?? [], { plan: true }) };
      await useAdmin(terminal, options, async (admin) => {
        const made = await admin.accounts.create(input);
        return { json: made, text: renderAccount(made) };
      });
    });
}

function addSet(account: Command, terminal: Terminal): void {
  withConnection(account.command('set'))
    .description('move an account to another plan, change its own limits, or spread it for more requests a second')
    .argument('<id>', 'the account')
    .option('--plan <code>', 'the plan it is on from now')
    .option('--limit <window=number>', 'a limit of its own, "unlimited", or "plan" to follow the plan again', collect)
    .option('--shards <n>', 'spread it over so many quota shards, 1 to 20; each takes up to 1,000 requests a second')
    .addHelpText(
      'after',
      `
What the account has used of a window stays used, and its limits stay exact, however many quota shards it has. All of
this may be done while the account is in use.

Examples:
  account set acme --limit day=plan
  account set acme --shards 4`,
    )
    .action(async (id: string, { plan, limit, shards, ...options }: SetOptions) => {
      const limits = parseLimits(limit ?? [], { plan: true });
      if (plan === undefined && !limit && shards === undefined) {
        throw new UsageError('There is nothing to change; give --plan or --limit, or --shards.');
      }
      const input = {
        id: accountId(id),
        limits,
        ...(plan !== undefined && { plan: planCode(plan) }),
        ...(shards !== undefined && { shards: shardCount(shards) }),
      };
      await useAdmin(terminal, options, async (admin) => {
        const changed = await admin.accounts.set(input);
        return { json: changed, text: renderAccount(changed) };
      });
    });
}

function addShow(account: Command, terminal: Terminal): void {
  withConnection(account.command('show'))
    .description('the state of an account, its limits, what it has used of them, and its keys')
    .argument('<id>', 'the account')
    .action(async (id: string, options: ConnectionOptions) => {
      const name = accountId(id);
      await useAdmin(terminal, options, async (admin) => {
        const shown = await admin.accounts.show(name);
        return { json: shown, text: renderAccount(shown) };
      });
    });
}

function addList(account: Command, terminal: Terminal): void {
  withConnection(account.command('list'))
    .description('all accounts with what they have used of each limit')
    .action(async (options: ConnectionOptions) => {
      await useAdmin(terminal, options, async (admin) => {
        const accounts = await admin.accounts.list();
        return { json: accounts, text: renderAccounts(accounts) };
      });
    });
}

function addAudit(account: Command, terminal: Terminal): void {
  withConnection(account.command('audit'))
    .description('who changed an account and its keys, when and how, the newest change first')
    .argument('<id>', 'the account')
    .option('--last <number>', 'this many changes', '100')
    .action(async (id: string, { last, ...options }: ConnectionOptions & { last: string }) => {
      const input = { id: accountId(id), last: count(last) };
      await useAdmin(terminal, options, async (admin) => {
        const entries = await admin.accounts.audit(input.id, input.last);
        return { json: entries, text: renderAudit(entries) };
      });
    });
}

function addState(account: Command, terminal: Terminal, verb: 'suspend' | 'activate', description: string): void {
  withConnection(account.command(verb))
    .description(description)
    .argument('<id>', 'the account')
    .action(async (id: string, options: ConnectionOptions) => {
      const name = accountId(id);
      await useAdmin(terminal, options, async (admin) => {
        const changed = await admin.accounts[verb](name);
        return { json: changed, text: `Account "${name}" is ${changed.state}.` };
      });
    });
}
