/**
 * What the package `bag-adres-admin` promises to keep (docs/compatibility.md). Nothing else of the admin module leaves
 * it, so everything else may change.
 */
export type { AccountState, Plan, PlanState, UnitsByKey } from '../../core/accounts/account.ts';
export {
  AdminError,
  type AdminErrorCode,
  type AdminRefusals,
  type DetailsChanges,
  type Instant,
  isAdminError,
  isPerson,
  type Role,
  roles,
} from '../../core/accounts/admin/admin-error.ts';
export type { AdminChange, PageOptions } from '../../core/accounts/admin/admin-store.ts';
export type { AuditAction, AuditEntry, AuditPage, AuditPageOptions } from '../../core/accounts/admin/audit.ts';
export type { AccountDetails } from '../../core/accounts/admin/details.ts';
export type { KeyView } from '../../core/accounts/admin/keys.ts';
export { type KeyInput, labelAfter, type RotatedKey, type RotationInput } from '../../core/accounts/admin/keys.ts';
export type { MemberBackup, MemberView } from '../../core/accounts/admin/members.ts';
export type {
  AccountUsage,
  DayRefusals,
  DayUsage,
  ListedUsage,
  UsagePage,
  UsagePageOptions,
  UsagePart,
  UsageRange,
} from '../../core/accounts/admin/usage.ts';
export type { OwnLimitChanges } from '../../core/accounts/admin/window-changes.ts';
export type { KeyRecord } from '../../core/accounts/key-record.ts';
export type { Limits } from '../../core/accounts/quota.ts';
export type { DayBackup, RefusalCounts, RefusalKind } from '../../core/accounts/usage-record.ts';
export { type WindowName, windowNames, type windows } from '../../core/calendar.ts';
export { dutchTime } from '../../core/dutch-time.ts';
export type {
  AccountChanges,
  AccountInput,
  AccountSummary,
  AccountView,
  RepairedWindow,
  WindowUsage,
} from './accounts.ts';
export { type Admin, type AdminConfig, createAdmin } from './admin.ts';
export type { AccountBackup, Backup, ImportResult, KeyBackup } from './backup.ts';
export { announceWith, changeEventTypes, type EventEntry } from './events.ts';
export type { FoundKey, KeySearch, KeySearchOptions } from './find-keys.ts';
export type { AccountFilter, AccountPage, AccountPageOptions } from './list-accounts.ts';
export type { PlanChange, PlanInput, PlanPage, PlanProgress } from './plans.ts';
export type { SessionDetails, SessionPage, SessionScope, SessionView } from './sessions.ts';
export { type KeyUsage, type UsageByKey, usageByKeyCsv } from './usage-by-key.ts';
