import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { monthOf } from '../../core/calendar.ts';
import { accountsTable } from '../../core/names.ts';
import { loadsPartition } from '../../packages/admin/load-approvals.ts';
import { CommandError } from './errors.ts';
import { servicePartition } from './operator-audit.ts';

/** An entry of the audit of everything: what it is about, and which one. */
export type AuditLine = {
  time: string;
  actor: string;
  action: string;
  kind: 'account' | 'plan' | 'sign-in' | 'register' | 'service';
  /** The account or the plan. */
  id: string | null;
  /** What was changed, with `before` where the entry has it. */
  detail: Record<string, unknown>;
  /** `unknown`: the change was not marked as done, so it may or may not have happened. */
  outcome: 'done' | 'unknown';
};

const prefix = 'audit#';

/** Every entry of a month, `2026-10`, of all kinds, by time. Reads the whole table. */
export async function auditOfMonth(client: DynamoDBDocumentClient, table: string, month: string): Promise<AuditLine[]> {
  const range = monthOf(month);
  if (!range) throw new Error(`${month} is no month`);
  const { partitionKey, sortKey } = accountsTable;
  const scan = {
    TableName: table,
    ConsistentRead: true,
    FilterExpression: '#item BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#item': sortKey },
    ExpressionAttributeValues: { ':first': `${prefix}${range.from}T`, ':last': `${prefix}${range.to}T~` },
  };
  const lines: AuditLine[] = [];
  for await (const { Items = [] } of paginateScan({ client }, scan))
    for (const { [partitionKey]: partition, time, actor, action, detail = {}, outcome } of Items)
      lines.push({
        time,
        actor,
        action,
        ...subjectOf(String(partition)),
        detail,
        outcome: outcome === 'done' ? 'done' : 'unknown',
      });
  return lines.sort((one, other) => (one.time < other.time ? -1 : 1));
}

function subjectOf(partition: string): Pick<AuditLine, 'kind' | 'id'> {
  const { planPartitionPrefix } = accountsTable;
  if (partition.startsWith(planPartitionPrefix))
    return { kind: 'plan', id: partition.slice(planPartitionPrefix.length) };
  if (partition === loadsPartition) return { kind: 'register', id: null };
  if (partition === servicePartition) return { kind: 'service', id: null };
  return partition.includes('#') ? { kind: 'sign-in', id: null } : { kind: 'account', id: partition };
}

/** JSON Lines: an entry a line, which stays readable whatever is added. */
export function auditLines(lines: readonly AuditLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/**
 * Writes an object that nobody can change or delete until `until`, not even the account's root user, to a bucket with
 * Object Lock; returns its version. What is there stays: a second export is another version.
 * @throws CommandError for a bucket without Object Lock
 */
export async function putLocked(location: string, body: string, until: Date): Promise<string> {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(location) ?? [];
  const [{ PutObjectCommand }, { s3Client }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('../../loader/storage/s3.ts'),
  ]);
  const client = s3Client();
  try {
    const { VersionId } = await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body: body,
        ContentType: 'application/x-ndjson',
        ObjectLockMode: 'COMPLIANCE',
        ObjectLockRetainUntilDate: until,
      }),
    );
    return VersionId ?? 'unknown';
  } catch (error) {
    if (!/Object ?Lock/i.test((error as Error).message)) throw error;
    const message = `The bucket ${bucket} has no Object Lock, so the export could be changed there. Use one that was made with it.`;
    throw new CommandError('no_object_lock', message, { cause: error });
  } finally {
    client.destroy();
  }
}
