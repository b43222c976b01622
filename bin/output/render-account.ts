import type { AccountView, WindowUsage } from '../../lambdas/shared/admin/account-view.ts';
import { type WindowName, windowNames } from '../../lambdas/shared/domain/window.ts';
import { renderKeys } from './render-key.ts';
import { renderLimit, renderLimits } from './render-plan.ts';
import { table } from './table.ts';

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
