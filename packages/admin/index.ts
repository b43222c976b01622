/**
 * The stable interface of the package `bag-adres-admin` (docs/compatibility.md). It exports nothing
 * else of the admin module, so everything else may change.
 */

export type { AccountState, Plan, PlanState, UnitsByKey } from '../../core/accounts/account.ts';
export type { KeyRecord } from '../../core/accounts/key-record.ts';
export type { Limits } from '../../core/accounts/quota.ts';
export type {
  DayBackup,
  RefusalCounts,
  RefusalKind,
  Refusals,
} from '../../core/accounts/usage-record.ts';
export {
  type keyDay,
  type LongWindowName,
  longWindowNames,
  type QuotaName,
  type WindowName,
  windowNames,
  type windows,
} from '../../core/calendar.ts';
export { dutchTime } from '../../core/dutch-time.ts';
export { allPages, pagesOf } from '../../core/pages.ts';
export type { MemberBackup, MemberView } from './accounts/account-members.ts';
export type {
  AccountChanges,
  AccountInput,
  AccountSummary,
  AccountView,
  WindowUsage,
} from './accounts/accounts.ts';
export {
  AdminError,
  type AdminErrorCode,
  type AdminRefusals,
  type DetailsChanges,
  type Instant,
  isAdminError,
  isPerson,
  maxLimit,
  type OwnLimitChanges,
  type Role,
  roles,
} from './accounts/admin-error.ts';
export type { AdminChange, PageOptions } from './accounts/admin-store.ts';
export type { AuditAction, AuditEntry, AuditPage, AuditPageOptions } from './accounts/audit-log.ts';
export type { AccountBackup, Backup, ImportResult, KeyBackup } from './accounts/backup.ts';
export type { AccountDetails } from './accounts/details.ts';
export type { FoundKey, KeySearch, KeySearchOptions } from './accounts/find-keys.ts';
export type { KeyView } from './accounts/keys.ts';
export {
  type KeyInput,
  type KeyLimitInput,
  labelAfter,
  type RotatedKey,
  type RotationInput,
} from './accounts/keys.ts';
export type { AccountFilter, AccountPage, AccountPageOptions } from './accounts/list-accounts.ts';
export type { PlanChange, PlanInput, PlanPage, PlanProgress } from './accounts/plans.ts';
export type {
  SessionDetails,
  SessionPage,
  SessionScope,
  SessionView,
} from './accounts/sessions.ts';
export type {
  AccountUsage,
  DayRefusals,
  DayUsage,
  KeyUsage,
  ListedUsage,
  UsageByKey,
  UsagePart,
  UsageRange,
} from './accounts/usage.ts';
export { type Admin, type AdminConfig, createAdmin } from './admin.ts';
export { announceWith, changeEventTypes, type EventEntry } from './events.ts';
