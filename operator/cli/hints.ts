import { nearest } from '../../core/similar.ts';
import { AdminError } from '../../packages/admin/accounts/admin-error.ts';
import type { Admin } from '../../packages/admin/admin.ts';

/**
 * A refusal of the admin module with the command that comes next. The module serves portals too, so
 * it names no command. The proposal depends on the contents of the tables, so that it can be run as
 * it is.
 */
export async function withNextCommand(error: AdminError, admin: Admin): Promise<AdminError> {
  // The refusal matters more than the advice.
  const text = await nextCommand(error, admin).catch(() => undefined);
  if (text === undefined) return error;
  return new AdminError(error.code, text, { ...error, cause: error });
}

async function nextCommand(
  { code, subject, message }: AdminError,
  admin: Admin,
): Promise<string | undefined> {
  // Messages name their subject first: There is no account "acme".
  const [, name = ''] = /"([^"]+)"/.exec(message) ?? [];
  const [month] = /\d{4}-\d\d/.exec(message) ?? [];
  if (message.endsWith('already exists.')) {
    return `${message} Change it with "account set ${name}", or choose another id.`;
  }
  if (code === 'not_suspended') return `${message} Use "account suspend ${name}".`;
  if (subject === 'account') return ofMissingAccount(message, name, admin);
  if (subject === 'plan') return ofMissingPlan(message, name, admin);
  if (subject === 'key') {
    return `${message} "key list --account ${name}" shows the keys of the account.`;
  }
  if (subject !== 'statement') return undefined;
  return `${message} "usage months" lists all months; "usage close --month ${month}" closes a month that has ended.`;
}

async function ofMissingAccount(message: string, id: string, admin: Admin): Promise<string> {
  const deleted = await admin.accounts.audit(id, { limit: 1 }).catch(() => undefined);
  if (deleted) {
    return `Account "${id}" was deleted, and its id can't be used again. "account audit ${id}" shows when, and who deleted it.`;
  }
  const ids = (await admin.accounts.list({ prefix: id.slice(0, 2), limit: 100 })).accounts.map(
    (account) => account.id,
  );
  const meant = nearest(id, ids);
  if (meant !== undefined) {
    return `${message} Did you mean "${meant}"? Look at it with "account show ${meant}".`;
  }
  const [plan] = (await admin.plans.list({ limit: 1 })).plans;
  const create = `"account create ${id} --plan ${plan?.code ?? 'standard'}"`;
  if (plan) return `${message} Create it with ${create}.`;
  return `${message} Create a plan with "plan put standard --limit day=5000", then the account with ${create}.`;
}

async function ofMissingPlan(message: string, code: string, admin: Admin): Promise<string> {
  const codes = (await admin.plans.list()).plans.map((plan) => plan.code);
  const meant = nearest(code, codes);
  if (meant !== undefined) {
    return `${message} Did you mean "${meant}"? "plan list" shows all plans.`;
  }
  return `${message} Create it with "plan put ${code} --limit day=5000".`;
}
