/**
 * What the package `bag-adres-admin` promises to keep (docs/compatibility.md). Nothing else of the admin module leaves it,
 * so everything else may change.
 */
export type { AccountState, Plan, PlanState } from '../../lambdas/shared/accounts/account.ts';
export type {
  AccountChanges,
  AccountInput,
  AccountPage,
  AccountSummary,
  AccountView,
  RepairedWindow,
  WindowUsage,
} from '../../lambdas/shared/accounts/accounts.ts';
export { type Admin, type AdminConfig, createAdmin } from '../../lambdas/shared/accounts/admin.ts';
export {
  AdminError,
  type AdminErrorCode,
  type AdminRefusals,
  type Role,
} from '../../lambdas/shared/accounts/admin-error.ts';
export type { PageOptions } from '../../lambdas/shared/accounts/admin-store.ts';
export type { AuditEntry } from '../../lambdas/shared/accounts/audit.ts';
export type { AccountBackup, Backup, ImportResult, KeyBackup } from '../../lambdas/shared/accounts/backup.ts';
export type { KeyRecord } from '../../lambdas/shared/accounts/key-record.ts';
export type { KeyInput, KeyView } from '../../lambdas/shared/accounts/keys.ts';
export type { MemberBackup, MemberView } from '../../lambdas/shared/accounts/members.ts';
export type { PlanInput, PlanPage } from '../../lambdas/shared/accounts/plans.ts';
export { type Limits, type WindowName, windowNames } from '../../lambdas/shared/accounts/quota.ts';
export type { AccountUsage, DayRefusals, DayUsage, UsageRange } from '../../lambdas/shared/accounts/usage.ts';
export type { DayBackup, RefusalCounts, RefusalKind } from '../../lambdas/shared/accounts/usage-record.ts';
export type { OwnLimitChanges } from '../../lambdas/shared/accounts/window-changes.ts';
