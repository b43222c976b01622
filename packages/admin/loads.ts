/** The register's loads, for portals in which operators approve them; as stable as the rest of the package. */

export type { AuditEntry } from '../../lambdas/shared/accounts/audit.ts';
export { createLoads, type LoadsConfig } from '../../lambdas/shared/loads/load-machine.ts';
export type {
  Approval,
  ApprovalState,
  LoadExample,
  Loads,
  LoadsRefusals,
  PublishedLoad,
  RegisterView,
  RunningLoad,
  WaitingLoad,
} from '../../lambdas/shared/loads/loads.ts';
