/**
 * What the package `bag-adres-admin` promises to keep (docs/compatibility.md). Nothing else of the admin module leaves
 * it, so everything else may change.
 */
export type { AccountState, Plan, PlanState, UnitsByKey } from '../../core/accounts/account.ts';
export {
  AdminError,
  type AdminErrorCode,
  type AdminRefusals,
  type Instant,
  isPerson,
  type Role,
  roles,
} from '../../core/accounts/admin/admin-error.ts';
export type { AdminChange, PageOptions } from '../../core/accounts/admin/admin-store.ts';
export type { AuditAction, AuditEntry, AuditPage, AuditPageOptions } from '../../core/accounts/admin/audit.ts';
export type { AccountDetails, DetailsChanges } from '../../core/accounts/admin/details.ts';
export type { KeyView } from '../../core/accounts/admin/key-views.ts';
export { type KeyInput, labelAfter, type RotatedKey, type RotationInput } from '../../core/accounts/admin/keys.ts';
export type { MemberBackup, MemberView } from '../../core/accounts/admin/members.ts';
export type { AccountUsage, DayRefusals, DayUsage } from '../../core/accounts/admin/usage.ts';
export type { ListedUsage, UsagePage, UsagePageOptions, UsagePart } from '../../core/accounts/admin/usage-pages.ts';
export type { UsageRange } from '../../core/accounts/admin/usage-range.ts';
export type { OwnLimitChanges } from '../../core/accounts/admin/window-changes.ts';
export type { KeyRecord } from '../../core/accounts/key-record.ts';
export type { Limits } from '../../core/accounts/quota.ts';
export type { DayBackup, RefusalCounts, RefusalKind } from '../../core/accounts/usage-record.ts';
export { type WindowName, windowNames, type windows } from '../../core/calendar.ts';
export type { AccountSummary, AccountView, WindowUsage } from './account-views.ts';
export type { AccountChanges, AccountInput, RepairedWindow } from './accounts.ts';
export { type Admin, type AdminConfig, createAdmin } from './admin.ts';
export type { AccountBackup, Backup, ImportResult, KeyBackup } from './backup.ts';
export type { PlanProgress } from './change-plan.ts';
export { announceWith, changeEventTypes, type EventEntry } from './events.ts';
export type { AccountPage, AccountPageOptions } from './list-accounts.ts';
export type { PlanChange, PlanInput, PlanPage } from './plans.ts';
export type { SessionDetails, SessionPage, SessionScope, SessionView } from './sessions.ts';
export { type KeyUsage, type UsageByKey, usageByKeyCsv } from './usage-by-key.ts';
