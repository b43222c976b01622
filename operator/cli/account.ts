import type { Command } from 'commander';
import type { DetailsChanges } from '../../core/accounts/admin/details.ts';
import { type WindowName, windowNames } from '../../core/calendar.ts';
import type { AccountSummary, AccountView, WindowUsage } from '../../packages/admin/account-views.ts';
import type { RepairedWindow } from '../../packages/admin/accounts.ts';
import { UsageError } from '../connect/errors.ts';
import { renderKeys } from './access.ts';
import {
  type AccountsOptions,
  accountId,
  allPages,
  carryOut,
  collectValues,
  counted,
  details,
  type Planned,
  parseLimits,
  planCode,
  planOption,
  shardCount,
  type Terminal,
  useAdmin,
  withAccounts,
} from './command.ts';
import { renderLimit, renderLimits } from './plan.ts';
import { addAccountUsage, addAudit } from './reports.ts';
import { table } from './table.ts';

type DetailOptions = { name?: string | false; contact?: string | false; note?: string | false };
type LimitOptions = AccountsOptions & DetailOptions & { plan?: string; limit?: string[] };
type SetOptions = LimitOptions & { shards?: string };

/** `account create`, `show`, `list`, `usage`, `audit`, `suspend`, `activate`, `set`, `repair-windows` and `delete`. */
export function addAccountCommands(program: Command, terminal: Terminal): void {
  const account = program.command('account').description('accounts of customers: a plan, their own limits, and keys');
  addCreate(account, terminal);
  addSet(account, terminal);
  addShow(account, terminal);
  addList(account, terminal);
  addAccountUsage(account, terminal);
  addAudit(account, terminal, {
    description: 'list the changes of an account and its keys: who, when and what, the newest first',
    argument: { name: 'id', description: 'the account', read: accountId },
    entries: (admin, id, last) => admin.accounts.audit(id, last),
  });
  addState(account, terminal, 'suspend', 'refuse every request of an account, starting with the next one');
  addState(account, terminal, 'activate', 'accept the requests of a suspended account again');
  addRepairWindows(account, terminal);
  addDelete(account, terminal);
}

function withDetails(command: Command): Command {
  return command
    .option('--name <text>', 'the customer, as a person calls it')
    .option('--contact <text>', 'whom to reach: an e-mail address, a phone number, or both')
    .option('--note <text>', 'anything for operators');
}

/** @throws UsageError */
function detailsIn({ name, contact, note }: DetailOptions): DetailsChanges {
  const given = Object.entries({ name, contact, note }).filter(([, text]) => text !== undefined);
  const changes: DetailsChanges = Object.fromEntries(
    given.map(([field, text]) => [field, text === false ? null : text]),
  );
  return details(changes);
}

function addCreate(account: Command, terminal: Terminal): void {
  withDetails(withAccounts(account.command('create')))
    .description('create an account')
    .argument('<id>', 'up to 32 letters, digits, ".", "_" or "-"; its keys contain it')
    .requiredOption('--plan <code>', 'the plan it is on')
    .option(
      '--limit <window=number>',
      "a limit of its own, which overrides the plan's; repeat it for more windows",
      collectValues,
    )
    .addHelpText(
      'after',
      `
Example:
  npx bag-adres account create corner-shop --plan standard --limit day=100 --name "Corner shop" --contact jo@corner.example --local`,
    )
    .action(async (id: string, { plan, limit, ...options }: LimitOptions & { plan: string }) => {
      const limits = parseLimits(limit ?? [], { plan: true });
      const input = { id: accountId(id), plan: planCode(plan), limits, ...detailsIn(options) };
      await useAdmin(terminal, options, async (admin) => {
        const made = await admin.accounts.create(input);
        return { json: made, text: renderAccount(made) };
      });
    });
}

function addSet(account: Command, terminal: Terminal): void {
  withDetails(withAccounts(account.command('set')))
    .description('change the plan, the own limits, the quota shards, or the name, contact and note of an account')
    .argument('<id>', 'the account')
    .option('--plan <code>', 'the new plan')
    .option(
      '--limit <window=number>',
      'a limit of its own, "unlimited", or "plan" to use the limit of the plan again',
      collectValues,
    )
    .option('--no-name', 'remove the name')
    .option('--no-contact', 'remove the contact')
    .option('--no-note', 'remove the note')
    .option('--shards <n>', 'the number of quota shards, 1 to 20; each allows up to 1,000 requests a second')
    .addHelpText(
      'after',
      `
What the account has used of a window still counts, and its limits stay exact with any number of quota shards. All of
these changes are safe while the account is in use. --no-name, --no-contact and --no-note remove one.

Examples:
  npx bag-adres account set acme --limit day=plan --local
  npx bag-adres account set acme --name "Acme B.V." --contact ann@acme.example --local
  npx bag-adres account set acme --shards 4 --local`,
    )
    .action(async (id: string, { plan, limit, shards, ...options }: SetOptions) => {
      const limits = parseLimits(limit ?? [], { plan: true });
      const given = detailsIn(options);
      if (plan === undefined && !limit && shards === undefined && Object.keys(given).length === 0) {
        throw new UsageError('Nothing to change. Give --plan, --limit, --shards, --name, --contact or --note.');
      }
      const input = {
        id: accountId(id),
        limits,
        ...given,
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
  withAccounts(account.command('show'))
    .description('show the state of an account, its limits and usage, and its keys')
    .argument('<id>', 'the account')
    .action(async (id: string, options: AccountsOptions) => {
      const name = accountId(id);
      await useAdmin(terminal, options, async (admin) => {
        const shown = await admin.accounts.show(name);
        return { json: shown, text: renderAccount(shown) };
      });
    });
}

function addList(account: Command, terminal: Terminal): void {
  withAccounts(account.command('list'))
    .description('list the accounts with their limits and usage')
    .option('--prefix <text>', 'only accounts whose id begins with it')
    .option('--search <text>', 'only accounts whose id, name, contact, note or a member contains it, in any case')
    .addHelpText('after', '\nExample:\n  npx bag-adres account list --search jansen --local')
    .action(async ({ prefix, search, ...options }: AccountsOptions & { prefix?: string; search?: string }) => {
      await useAdmin(terminal, options, async (admin) => {
        const page = { ...(prefix !== undefined && { prefix }), ...(search !== undefined && { search }) };
        const accounts = await allPages(
          (cursor) => admin.accounts.list({ ...page, ...cursor }),
          ({ accounts }) => accounts,
        );
        return { json: accounts, text: renderAccounts(accounts) };
      });
    });
}

function addState(account: Command, terminal: Terminal, verb: 'suspend' | 'activate', description: string): void {
  withAccounts(account.command(verb))
    .description(description)
    .argument('<id>', 'the account')
    .option(...planOption)
    .action(async (id: string, { plan, ...options }: AccountsOptions & Planned) => {
      const name = accountId(id);
      await useAdmin(terminal, options, async (admin) => {
        const { state, plan: code, keys } = await admin.accounts.show(name);
        const activeKeys = keys.filter((key) => key.state === 'active').length;
        const effect = verb === 'suspend' ? 'refuses with 403' : 'answers';
        const intent = `Account "${name}" is ${state}, on the plan ${code}, with ${counted(activeKeys, 'active key')}. From the next request on the service ${effect} all of its requests.`;
        return carryOut(terminal, { ...options, plan }, intent, async () => {
          const changed = await admin.accounts[verb](name);
          return { json: changed, text: `Account "${name}" is ${changed.state}.` };
        });
      });
    });
}

function addDelete(account: Command, terminal: Terminal): void {
  withAccounts(account.command('delete'))
    .description('delete a suspended account with its keys for good; its audit stays, and its id is not used again')
    .argument('<id>', 'the account')
    .option(...planOption)
    .action(async (id: string, { plan, ...options }: AccountsOptions & Planned) => {
      const name = accountId(id);
      await useAdmin(terminal, options, async (admin) => {
        const { state } = await admin.accounts.show(name);
        // An active one is refused.
        const intent =
          state === 'suspended' &&
          `Deletes account "${name}" with its keys, members and limits, for good. Its audit and usage stay; nobody can use its id again.`;
        return carryOut(terminal, { ...options, plan }, intent, async () => {
          await admin.accounts.delete(name);
          return { json: { id: name, deleted: true }, text: `Account "${name}" and its keys are deleted.` };
        });
      });
    });
}

function addRepairWindows(account: Command, terminal: Terminal): void {
  withAccounts(account.command('repair-windows'))
    .description('reset the windows of an account that start in the future, after a request with a wrong clock')
    .argument('<id>', 'the account')
    .addHelpText(
      'after',
      `
A window never moves backwards, so one that starts in the future refuses requests until then once its limit is reached.
This command brings it back to the present and sets its usage to 0. Make sure first that all clocks are right.

Example:
  npx bag-adres account repair-windows acme --local`,
    )
    .action(async (id: string, options: AccountsOptions) => {
      const name = accountId(id);
      await useAdmin(terminal, options, async (admin) => {
        const repaired = await admin.accounts.repairWindows(name);
        return { json: repaired, text: renderRepaired(name, repaired) };
      });
    });
}

function renderRepaired(id: string, repaired: RepairedWindow[]): string {
  if (repaired.length === 0) return `No window of account "${id}" starts in the future. Nothing was changed.`;
  const windows = repaired.map(({ window, start }) => `  ${window}: started at ${start}`);
  return [`Reset these windows of account "${id}" to now, with nothing used:`, ...windows].join('\n');
}

/** All accounts as a table: used / limit of each window now. */
function renderAccounts(accounts: AccountSummary[]): string {
  if (accounts.length === 0) return 'There are no such accounts. Create one with "account create ID --plan CODE".';
  return table(
    ['account', 'state', 'plan', 'active keys', ...windowNames, 'name'],
    accounts.map((account) => [
      account.id,
      account.state,
      renderPlanOf(account),
      String(account.activeKeys),
      ...windowNames.map((name) => renderUsage(account.windows[name])),
      account.name ?? '',
    ]),
  );
}

/** One account with its windows and keys. */
function renderAccount(account: AccountView): string {
  const unused = Object.entries(account.ownLimits).filter(([name]) => !(name in account.windows));
  return [
    `account  ${account.id}`,
    ...(['name', 'contact', 'note'] as const).flatMap((field) =>
      account[field] === null ? [] : [`${field.padEnd(8)} ${account[field]}`],
    ),
    `state    ${account.state}`,
    `plan     ${renderPlanOf(account)}`,
    `created  ${account.created}`,
    ...(account.shards > 1 ? [`shards   ${account.shards}`] : []),
    ...(unused.length > 0 ? [`unused   ${renderLimits(Object.fromEntries(unused))} (not a window of the plan)`] : []),
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

function renderPlanOf({ plan, planState }: AccountSummary | AccountView): string {
  return planState === 'active' ? plan : `${plan} (inactive)`;
}

function renderUsage(window: WindowUsage | undefined): string {
  return window ? `${window.used} / ${renderLimit(window.limit)}` : '-';
}
