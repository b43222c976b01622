/** The register's loads, for portals in which operators approve them; as stable as the rest of the package. */

export type { AuditAction, AuditEntry } from '../../core/accounts/admin/audit.ts';
export { createLoads, type LoadsConfig } from '../../loader/loads/load-machine.ts';
export type {
  Approval,
  ApprovalState,
  LoadDecision,
  LoadExample,
  Loads,
  LoadsRefusals,
  PublishedLoad,
  RegisterView,
  RunningLoad,
  WaitingLoad,
} from '../../loader/loads/loads.ts';
