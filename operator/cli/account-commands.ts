import { windowNames } from '../../core/calendar.ts';
import { allPages } from '../../core/pages.ts';
import type { AccountSummary, AccountView } from '../../packages/admin/accounts/accounts.ts';
import type { DetailsChanges, OwnLimitChanges } from '../../packages/admin/accounts/admin-error.ts';
import { UsageError } from '../deployment/errors.ts';
import { renderKeys } from './access-commands.ts';
import { audit } from './audit-commands.ts';
import { addCalls, type CallTools, call, id, option, required } from './calls.ts';
import type { CliCommand } from './command.ts';
import { renderLimit, renderLimits } from './plan-commands.ts';
import { ago, counted, lines, table, thousands } from './terminal-text.ts';
import { accountUsage } from './usage-commands.ts';
import { checkedDetails, limits, planCode } from './values.ts';

type OfId = { id: string };
type DetailOptions = { name?: string | false; contact?: string | false; note?: string | false };
type CreateOptions = OfId & DetailOptions & { plan: string; limit?: OwnLimitChanges };
type SetOptions = OfId & Partial<CreateOptions>;

const details = ['name', 'contact', 'note'] as const;
const detailOptions = [
  option('--name <text>', 'the customer, as a person calls it'),
  option('--contact <text>', 'whom to reach: an e-mail address, a phone number, or both'),
  option('--note <text>', 'anything for operators'),
];
const ownLimit = (description: string) =>
  option('--limit <window=number>', description, limits('account'));

export function addAccountCommands(program: CliCommand): void {
  const account = program
    .command('account')
    .description('accounts of customers: a plan, their own limits, and keys');
  addCalls(account, {
    create: call({
      description: 'create an account',
      takes: [
        id('up to 32 letters, digits, ".", "_" or "-"; its keys contain it'),
        required('--plan <code>', 'the plan it is on', planCode),
        ownLimit("a limit of its own, which overrides the plan's; repeat it for more windows"),
        ...detailOptions,
      ],
      examples: [
        'account create corner-shop --plan standard --limit day=100 --name "Corner shop" --contact jo@corner.example --local',
      ],
      call: ({ admin }, { id, plan, limit = {}, ...options }: CreateOptions) =>
        admin.accounts.create({ id, plan, limits: limit, ...detailsIn(options) }),
      text: renderAccount,
    }),
    set: call({
      description: 'change the plan, the own limits, or the name, contact and note of an account',
      takes: [
        id(),
        option('--plan <code>', 'the new plan', planCode),
        ownLimit('a limit of its own, "unlimited", or "plan" to use the limit of the plan again'),
        ...detailOptions,
        ...details.map((field) => option(`--no-${field}`, `remove the ${field}`)),
      ],
      notes: `The account's usage in a window still counts. All changes are safe while the account is in use.
--no-name, --no-contact and --no-note remove one.`,
      examples: [
        'account set acme --limit day=plan --local',
        'account set acme --name "Acme B.V." --contact ann@acme.example --local',
      ],
      check(options: SetOptions) {
        if (Object.keys(changesIn(options)).length > 0) return;
        throw new UsageError(
          'Nothing to change. Give --plan, --limit, --name, --contact or --note.',
        );
      },
      call: ({ admin }, options: SetOptions) =>
        admin.accounts.set({ id: options.id, limits: {}, ...changesIn(options) }),
      text: renderAccount,
    }),
    show: call({
      description: 'show the state of an account, its limits and usage, and its keys',
      takes: [id()],
      call: ({ admin }, { id }: OfId) => admin.accounts.show(id),
      text: renderAccount,
    }),
    list: call({
      description: 'list the accounts with their limits and usage',
      takes: [
        option('--prefix <text>', 'only accounts whose id begins with it'),
        option(
          '--search <text>',
          'only accounts with every word of the text in their id, name, contact, note or members, in any order and case',
        ),
      ],
      examples: ['account list --search jansen --local'],
      call: ({ admin }, { prefix, search }: { prefix?: string; search?: string }) =>
        allPages(
          (page) => admin.accounts.list({ prefix, search, ...page }),
          (page) => page.accounts,
        ),
      text: renderAccounts,
    }),
    usage: accountUsage,
    audit: audit(
      'list the changes of an account and its keys: who, when and what, the newest first',
      id(),
      ({ admin }, { id }: OfId, page) => admin.accounts.audit(id, page),
    ),
    suspend: stateCall('suspend', 'refuse every request of an account, starting with the next one'),
    activate: stateCall('activate', 'accept the requests of a suspended account again'),
    delete: call({
      description:
        'delete a suspended account with its keys for good; its audit stays, and its id is not used again',
      takes: [id()],
      plan: planOfDeletion,
      async call({ admin }, { id }: OfId) {
        await admin.accounts.delete(id);
        return { id, deleted: true };
      },
      text: ({ id }) => `Account "${id}" and its keys are deleted.`,
    }),
  });
}

/** @throws UsageError */
function detailsIn({ name, contact, note }: DetailOptions): DetailsChanges {
  const given = Object.entries({ name, contact, note }).filter(([, text]) => text !== undefined);
  return checkedDetails(
    Object.fromEntries(given.map(([field, text]) => [field, text === false ? null : text])),
  );
}

function changesIn({ plan, limit, ...options }: SetOptions) {
  return { ...detailsIn(options), ...(plan && { plan }), ...(limit && { limits: limit }) };
}

function stateCall(verb: 'suspend' | 'activate', description: string) {
  return call({
    description,
    takes: [id()],
    async plan({ admin }, { id }: OfId) {
      const { state, plan: code, keys } = await admin.accounts.show(id);
      const activeKeys = keys.filter((key) => key.state === 'active').length;
      const effect = verb === 'suspend' ? 'refuses with 403' : 'answers';
      return `Account "${id}" is ${state}, on the plan ${code}, with ${counted(activeKeys, 'active key')}. From the next request on the service ${effect} all of its requests.`;
    },
    call: ({ admin }, { id }) => admin.accounts[verb](id),
    text: ({ id, state }) => `Account "${id}" is ${state}.`,
  });
}

async function planOfDeletion({ admin }: CallTools, { id }: OfId) {
  const { state, plan, created, keys } = await admin.accounts.show(id);
  // An active account is refused by the call itself.
  const nothing = `Account "${id}" is ${state}, so it can't be deleted. Suspend it first: "account suspend ${id}".`;
  if (state !== 'suspended') return { nothing };
  const [used] = keys.flatMap((key) => key.lastUsed ?? []).sort((a, b) => (a < b ? 1 : -1));
  return `Deletes account "${id}", on the plan ${plan} since ${created}, ${used ? `last used on ${used}` : 'never used'}, with its ${counted(keys.length, 'key')}, members and limits, for good. Its audit and usage stay; nobody can use its id again.`;
}

/** All accounts as a table: used / limit of each window now. */
function renderAccounts(accounts: AccountSummary[]): string {
  if (accounts.length === 0) {
    return 'There are no such accounts. Create one: "account create acme --plan standard".';
  }
  return table(
    ['account', 'state', 'plan', 'active keys', ...windowNames, 'name'],
    accounts,
    (account) => {
      const usage = windowNames.map((name) => {
        const window = account.windows[name];
        return window && `${thousands(window.used)} / ${renderLimit(window.limit)}`;
      });
      return [
        account.id,
        account.state,
        renderPlanOf(account),
        account.activeKeys,
        ...usage,
        account.name ?? '',
      ];
    },
  );
}

function renderAccount(account: AccountView): string {
  const { id, state, created, windows, ownLimits, keys } = account;
  const unused = Object.entries(ownLimits).filter(([name]) => !(name in windows));
  return lines(
    `account  ${id}`,
    details.map((field) => account[field] !== null && `${field.padEnd(8)} ${account[field]}`),
    `state    ${state}`,
    `plan     ${renderPlanOf(account)}`,
    `created  ${created}, ${ago(created)}`,
    unused.length > 0 &&
      `unused   ${renderLimits(Object.fromEntries(unused))} (not a window of the plan)`,
    ['', renderWindows(account)],
    ['', renderKeys(keys, id)],
  );
}

function renderWindows({ windows, ownLimits }: AccountView): string {
  const named = windowNames.flatMap((name) => (windows[name] ? [{ name, ...windows[name] }] : []));
  return table(
    ['window', 'limit', 'used', 'left', 'limit set by', 'resets'],
    named,
    ({ name, limit, used, resets }) => {
      const left = limit === null ? null : Math.max(0, limit - used);
      const setBy = name in ownLimits ? 'account' : 'plan';
      return [name, ...[limit, used, left].map(renderLimit), setBy, `${ago(resets)}, ${resets}`];
    },
  );
}

function renderPlanOf({ plan, planState }: AccountSummary | AccountView): string {
  return planState === 'active' ? plan : `${plan} (inactive)`;
}
