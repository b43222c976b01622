import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../../core/accounts/admin/admin-store.ts';
import { type AuditAction, audited } from '../../core/accounts/admin/audit.ts';
import { loadsPartition } from '../../packages/admin/load-approvals.ts';

/** Runs `work` between writing its entry in the audit and marking it as done. */
export type OperatorAudit = <T>(
  action: AuditAction,
  detail: Record<string, unknown>,
  work: () => Promise<T>,
) => Promise<T>;

/** The partition of the audit of what an operator does to the service: restores, rollbacks and rotations. */
export const servicePartition = 'service#';

/** The audit of what an operator does to the register, beside the approvals of the portal, or to the service. */
export function operatorAudit(options: {
  client: DynamoDBClient;
  accountsTable: string;
  actor: () => Promise<string>;
  print: (line: string) => void;
  partition?: typeof loadsPartition | typeof servicePartition;
}): OperatorAudit {
  const { client, accountsTable, actor, print, partition = loadsPartition } = options;
  return async (action, detail, work) => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return work();
    };
    try {
      const store = createAdminStore(DynamoDBDocumentClient.from(client), accountsTable, await actor(), Date.now);
      return await audited(store, { partition, action, detail }, begin);
    } catch (error) {
      if (hasBegun) throw error;
      // A register or service that must be repaired does not wait for the table of accounts, which may be what is lost.
      print(`Not in the audit, as the accounts table refuses the entry: ${(error as Error).message}`);
      return work();
    }
  };
}
