import type { Role as MemberRole } from '../../shared/accounts/admin-error.ts';

/** What somebody who signed in is to an account: a member with a role, or an operator of the whole service. */
export type Role = MemberRole | 'operator';

/** Everything that a page of the portal can show or do. */
export type Action =
  | 'account.view'
  | 'audit.view'
  | 'usage.view'
  | 'key.change'
  | 'member.view'
  | 'member.change'
  | 'account.manage'
  | 'operator.view'
  | 'plan.change'
  | 'load.approve';

/** The one place that decides who may do what; on an account, a member has a role in that account only. */
export const permissions: Readonly<Record<Action, readonly Role[]>> = {
  'account.view': ['viewer', 'admin', 'operator'],
  'audit.view': ['viewer', 'admin', 'operator'],
  'usage.view': ['viewer', 'admin', 'operator'],
  'key.change': ['admin', 'operator'],
  'member.view': ['admin', 'operator'],
  'member.change': ['admin', 'operator'],
  'account.manage': ['operator'],
  'operator.view': ['operator'],
  'plan.change': ['operator'],
  'load.approve': ['operator'],
};

/** Whether a role allows an action. */
export function may(role: Role, action: Action): boolean {
  return permissions[action].includes(role);
}
