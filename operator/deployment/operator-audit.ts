import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../core/tables.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import {
  type AuditAction,
  type AuditEntry,
  audited,
} from '../../packages/admin/accounts/audit-log.ts';
import { loadsPartition } from '../../packages/admin/load-approvals.ts';
import type { AccountsAt } from './find-tables.ts';

/** Runs `work` between writing its entry in the audit and marking it as done. */
export type OperatorAudit = <T>(
  action: AuditAction,
  detail: Record<string, unknown>,
  work: () => Promise<T>,
) => Promise<T>;

/**
 * The audit's partition for an operator's actions on the service: restores, rollbacks and
 * rotations.
 */
export const servicePartition = 'service#';

/** The audit of an operator's actions on the register, beside the portal's approvals. */
export function operatorAudit(
  client: DynamoDBClient,
  table: string,
  actor: () => Promise<string>,
  print: (line: string) => void,
): OperatorAudit {
  return async (action, detail, work) => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return work();
    };
    try {
      const store = createAdminStore(
        DynamoDBDocumentClient.from(client),
        table,
        await actor(),
        Date.now,
      );
      return await audited(store, { partition: loadsPartition, action, detail }, begin);
    } catch (error) {
      if (hasBegun) throw error;
      // A register that must be repaired does not wait for the accounts table, which may be the
      // lost one.
      print(
        `Not in the audit, as the accounts table refuses the entry: ${(error as Error).message}`,
      );
      return work();
    }
  };
}

/** A change in the audit. `partition` is an account id, or `plan#` and a code. */
export type RecordedChange = AuditEntry & { partition: string };

/** An entry of the complete audit: the kind of its subject, and the subject's name. */
export type AuditLine = AuditEntry & {
  kind: 'account' | 'plan' | 'sign-in' | 'register' | 'service';
  /** The account or the plan. */
  id: string | null;
};

/** Every entry between two times, of all kinds, the oldest first. Reads the whole table. */
export async function auditBetween({ client, table }: AccountsAt, from: string, to: string) {
  const { partitionKey, sortKey } = accountsTable;
  const scan = {
    TableName: table,
    ConsistentRead: true,
    FilterExpression: '#item BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#item': sortKey },
    ExpressionAttributeValues: { ':from': `audit#${from}`, ':to': `audit#${to}` },
  };
  const found: RecordedChange[] = [];
  for await (const { Items = [] } of paginateScan({ client }, scan)) {
    for (const { [partitionKey]: partition, time, actor, action, detail = {}, outcome } of Items) {
      found.push({
        partition,
        time,
        actor,
        action,
        detail,
        outcome: outcome === 'done' ? 'done' : 'unknown',
      });
    }
  }
  return found.sort((change, other) => (change.time < other.time ? -1 : 1));
}

export async function auditOfMonth(
  at: AccountsAt,
  { from, to }: { from: string; to: string },
): Promise<AuditLine[]> {
  const found = await auditBetween(at, `${from}T`, `${to}T~`);
  return found.map(({ partition, time, actor, action, ...rest }) => {
    return { time, actor, action, ...subjectOf(partition), ...rest };
  });
}

function subjectOf(partition: string): Pick<AuditLine, 'kind' | 'id'> {
  const { planPartitionPrefix } = accountsTable;
  if (partition.startsWith(planPartitionPrefix)) {
    return { kind: 'plan', id: partition.slice(planPartitionPrefix.length) };
  }
  if (partition === loadsPartition) return { kind: 'register', id: null };
  if (partition === servicePartition) return { kind: 'service', id: null };
  return partition.includes('#')
    ? { kind: 'sign-in', id: null }
    : { kind: 'account', id: partition };
}
