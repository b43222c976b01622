/** The register's loads, for portals in which operators approve them; as stable as the rest of the package. */

export type { AuditEntry } from '../../lambdas/shared/accounts/audit.ts';
export type { Approval, ApprovalState, RunningLoad } from '../../lambdas/shared/loads/approval.ts';
export { createLoads, type LoadsConfig } from '../../lambdas/shared/loads/load-machine.ts';
export type {
  LoadExample,
  Loads,
  LoadsRefusals,
  PublishedLoad,
  RegisterView,
  WaitingLoad,
} from '../../lambdas/shared/loads/loads.ts';
