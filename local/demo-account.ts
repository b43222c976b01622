import type { Admin } from '../lambdas/shared/admin/admin.ts';
import { AdminError } from '../lambdas/shared/admin/admin-error.ts';

const demoAccount = 'demo';
const demoPlan = 'demo';

/**
 * Makes sure that there is a demo plan and account, and gives a key of it that works: `known` as long as it is active.
 * What someone changed of plan or account stays changed.
 */
export async function demoKey(admin: Admin, known: string | undefined): Promise<string> {
  const plans = await admin.plans.list();
  if (!plans.some(({ code }) => code === demoPlan)) {
    await admin.plans.put({ code: demoPlan, limits: { minute: 600, day: 50_000, month: null } });
  }
  await admin.accounts.create({ id: demoAccount, plan: demoPlan }).catch((error) => {
    if (!(error instanceof AdminError && error.code === 'exists')) throw error;
  });
  const keys = await admin.keys.list(demoAccount);
  const isActive = keys.some(({ keyId, state }) => state === 'active' && known?.includes(`_${keyId}`));
  if (known !== undefined && isActive) return known;
  const { key } = await admin.keys.create({ account: demoAccount, label: 'made by npm start' });
  return key;
}
