import type { Plan } from '../../core/accounts/account.ts';
import type { AccountSummary } from '../../packages/admin/accounts.ts';
import type { Admin } from '../../packages/admin/admin.ts';

/** All accounts, page by page. */
export async function allAccounts({ accounts }: Pick<Admin, 'accounts'>): Promise<AccountSummary[]> {
  const all: AccountSummary[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await accounts.list(cursor === undefined ? {} : { cursor });
    all.push(...page.accounts);
    cursor = page.cursor;
  }
  return all;
}

/** All plans, page by page. */
export async function allPlans({ plans }: Pick<Admin, 'plans'>): Promise<Plan[]> {
  const all: Plan[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await plans.list(cursor === undefined ? {} : { cursor });
    all.push(...page.plans);
    cursor = page.cursor;
  }
  return all;
}
