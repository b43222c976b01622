import type { Plan } from '../../core/accounts/account.ts';
import type { AccountSummary } from '../../packages/admin/accounts/accounts.ts';
import type { Admin } from '../../packages/admin/admin.ts';

/** What `read` finds on each page, until it returns no cursor to another one. */
async function pages<Page extends { cursor: string | null }>(
  read: (from: { cursor?: string }) => Promise<Page>,
) {
  const all = [await read({})];
  for (let page = all[0]; page?.cursor; all.push(page)) page = await read({ cursor: page.cursor });
  return all;
}

/** All accounts, page by page. */
export async function allAccounts({
  accounts,
}: Pick<Admin, 'accounts'>): Promise<AccountSummary[]> {
  return (await pages(accounts.list)).flatMap((page) => page.accounts);
}

/** All plans, page by page. */
export async function allPlans({ plans }: Pick<Admin, 'plans'>): Promise<Plan[]> {
  return (await pages(plans.list)).flatMap((page) => page.plans);
}
