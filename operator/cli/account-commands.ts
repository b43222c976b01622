import { type WindowName, windowNames } from '../../core/calendar.ts';
import type { AccountSummary, AccountView, WindowUsage } from '../../packages/admin/accounts/accounts.ts';
import type { DetailsChanges } from '../../packages/admin/accounts/admin-error.ts';
import type { OwnLimitChanges } from '../../packages/admin/accounts/window-changes.ts';
import { UsageError } from '../connect/errors.ts';
import { renderKeys } from './access-commands.ts';
import { addAudit } from './audit-commands.ts';
import { allPages, type CliCommand, counted, type Result, type Terminal, thousands } from './command.ts';
import { renderLimit, renderLimits } from './plan-commands.ts';
import { table } from './text-table.ts';
import { ago } from './time.ts';
import { addAccountUsage } from './usage-commands.ts';
import { accountId, details, limits, planCode } from './values.ts';

type DetailOptions = { name?: string | false; contact?: string | false; note?: string | false };

/** `account`: accounts of customers. */
export function addAccountCommands(program: CliCommand): void {
  const account = program.command('account').description('accounts of customers: a plan, their own limits, and keys');
  addCreate(account);
  addSet(account);
  account
    .command('show')
    .description('show the state of an account, its limits and usage, and its keys')
    .argument('<id>', 'the account', accountId)
    .onAccounts(async ({ admin }, id: string) => shown(account.terminal, await admin.accounts.show(id)));
  addList(account);
  addAccountUsage(account);
  addAudit(account, {
    description: 'list the changes of an account and its keys: who, when and what, the newest first',
    argument: { name: 'id', description: 'the account', read: accountId },
    read: (admin, id, page) => admin.accounts.audit(id, page),
  });
  addState(account, 'suspend', 'refuse every request of an account, starting with the next one');
  addState(account, 'activate', 'accept the requests of a suspended account again');
  addDelete(account);
}

function withDetails(command: CliCommand): CliCommand {
  return command
    .option('--name <text>', 'the customer, as a person calls it')
    .option('--contact <text>', 'whom to reach: an e-mail address, a phone number, or both')
    .option('--note <text>', 'anything for operators');
}

/** @throws UsageError */
function detailsIn({ name, contact, note }: DetailOptions): DetailsChanges {
  const given = Object.entries({ name, contact, note }).filter(([, text]) => text !== undefined);
  return details(Object.fromEntries(given.map(([field, text]) => [field, text === false ? null : text])));
}

type CreateOptions = DetailOptions & { plan: string; limit?: OwnLimitChanges };

function addCreate(account: CliCommand): void {
  withDetails(account.command('create'))
    .description('create an account')
    .argument('<id>', 'up to 32 letters, digits, ".", "_" or "-"; its keys contain it', accountId)
    .requiredOption('--plan <code>', 'the plan it is on', planCode)
    .option(
      '--limit <window=number>',
      "a limit of its own, which overrides the plan's; repeat it for more windows",
      limits('account'),
    )
    .examples(
      'account create corner-shop --plan standard --limit day=100 --name "Corner shop" --contact jo@corner.example --local',
    )
    .onAccounts(async ({ admin }, id: string, { plan, limit = {}, ...options }: CreateOptions) =>
      shown(account.terminal, await admin.accounts.create({ id, plan, limits: limit, ...detailsIn(options) })),
    );
}

type SetOptions = Partial<CreateOptions>;

function addSet(account: CliCommand): void {
  withDetails(account.command('set'))
    .description('change the plan, the own limits, or the name, contact and note of an account')
    .argument('<id>', 'the account', accountId)
    .option('--plan <code>', 'the new plan', planCode)
    .option(
      '--limit <window=number>',
      'a limit of its own, "unlimited", or "plan" to use the limit of the plan again',
      limits('account'),
    )
    .option('--no-name', 'remove the name')
    .option('--no-contact', 'remove the contact')
    .option('--no-note', 'remove the note')
    .notes(
      `The account's usage in a window still counts. All changes are safe while the account is in use.
--no-name, --no-contact and --no-note remove one.`,
    )
    .examples(
      'account set acme --limit day=plan --local',
      'account set acme --name "Acme B.V." --contact ann@acme.example --local',
    )
    .checks((_: string, options: SetOptions) => {
      if (Object.keys(changesIn(options)).length > 0) return;
      throw new UsageError('Nothing to change. Give --plan, --limit, --name, --contact or --note.');
    })
    .onAccounts(async ({ admin }, id: string, options: SetOptions) =>
      shown(account.terminal, await admin.accounts.set({ id, limits: {}, ...changesIn(options) })),
    );
}

function changesIn({ plan, limit, ...options }: SetOptions) {
  return { ...detailsIn(options), ...(plan && { plan }), ...(limit && { limits: limit }) };
}

type ListOptions = { prefix?: string; search?: string };

function addList(account: CliCommand): void {
  account
    .command('list')
    .description('list the accounts with their limits and usage')
    .option('--prefix <text>', 'only accounts whose id begins with it')
    .option(
      '--search <text>',
      'only accounts with every word of the text in their id, name, contact, note or members, in any order and case',
    )
    .examples('account list --search jansen --local')
    .onAccounts(async ({ admin }, { prefix, search }: ListOptions) => {
      const accounts = await allPages(
        (page) => admin.accounts.list({ ...(prefix && { prefix }), ...(search && { search }), ...page }),
        (page) => page.accounts,
      );
      return { json: accounts, text: renderAccounts(accounts, account.terminal.columns) };
    });
}

function addState(account: CliCommand, verb: 'suspend' | 'activate', description: string): void {
  account
    .command(verb)
    .description(description)
    .argument('<id>', 'the account', accountId)
    .canPlan()
    .onAccounts(async ({ admin, carryOut }, id: string) => {
      const { state, plan: code, keys } = await admin.accounts.show(id);
      const activeKeys = keys.filter((key) => key.state === 'active').length;
      const effect = verb === 'suspend' ? 'refuses with 403' : 'answers';
      const intent = `Account "${id}" is ${state}, on the plan ${code}, with ${counted(activeKeys, 'active key')}. From the next request on the service ${effect} all of its requests.`;
      return carryOut(intent, async () => {
        const changed = await admin.accounts[verb](id);
        return { json: changed, text: `Account "${id}" is ${changed.state}.` };
      });
    });
}

function addDelete(account: CliCommand): void {
  account
    .command('delete')
    .description('delete a suspended account with its keys for good; its audit stays, and its id is not used again')
    .argument('<id>', 'the account', accountId)
    .onAccounts(async ({ admin, carryOut }, id: string) => {
      const { state, plan, created, keys } = await admin.accounts.show(id);
      const lastUsed = keys
        .flatMap((key) => key.lastUsed ?? [])
        .sort()
        .at(-1);
      // An active account is refused by the call itself.
      const intent =
        state !== 'suspended'
          ? {
              nothing: `Account "${id}" is ${state}, so it can't be deleted. Suspend it first: "account suspend ${id}".`,
            }
          : `Deletes account "${id}", on the plan ${plan} since ${created}, ${lastUsed ? `last used on ${lastUsed}` : 'never used'}, with its ${counted(keys.length, 'key')}, members and limits, for good. Its audit and usage stay; nobody can use its id again.`;
      return carryOut(intent, async () => {
        await admin.accounts.delete(id);
        return { json: { id, deleted: true }, text: `Account "${id}" and its keys are deleted.` };
      });
    });
}

/** All accounts as a table: used / limit of each window now. */
function renderAccounts(accounts: AccountSummary[], columns?: number): string {
  if (accounts.length === 0) return 'There are no such accounts. Create one: "account create acme --plan standard".';
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
    columns,
    ['active keys', 'name'],
  );
}

/** One account with its windows and keys. */
function shown({ columns }: Terminal, account: AccountView): Result {
  const unused = Object.entries(account.ownLimits).filter(([name]) => !(name in account.windows));
  const text = [
    `account  ${account.id}`,
    ...(['name', 'contact', 'note'] as const).flatMap((field) =>
      account[field] === null ? [] : [`${field.padEnd(8)} ${account[field]}`],
    ),
    `state    ${account.state}`,
    `plan     ${renderPlanOf(account)}`,
    `created  ${account.created}, ${ago(account.created)}`,
    ...(unused.length > 0 ? [`unused   ${renderLimits(Object.fromEntries(unused))} (not a window of the plan)`] : []),
    '',
    renderWindows(account, columns),
    '',
    renderKeys(account.keys, account.id, columns),
  ].join('\n');
  return { json: account, text };
}

function renderWindows({ windows, ownLimits }: AccountView, columns: number | undefined): string {
  return table(
    ['window', 'limit', 'used', 'left', 'limit set by', 'resets'],
    windowNames.flatMap((name: WindowName) => {
      const window = windows[name];
      if (!window) return [];
      const { limit, used, resets } = window;
      const left = limit === null ? null : Math.max(0, limit - used);
      const setBy = name in ownLimits ? 'account' : 'plan';
      return [[name, ...[limit, used, left].map(renderLimit), setBy, `${ago(resets)}, ${resets}`]];
    }),
    columns,
  );
}

function renderPlanOf({ plan, planState }: AccountSummary | AccountView): string {
  return planState === 'active' ? plan : `${plan} (inactive)`;
}

function renderUsage(window: WindowUsage | undefined): string {
  return window ? `${thousands(window.used)} / ${renderLimit(window.limit)}` : '-';
}
