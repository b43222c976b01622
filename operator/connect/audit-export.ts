import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { monthOf } from '../../core/calendar.ts';
import { accountsTable } from '../../core/names.ts';
import { loadsPartition } from '../../packages/admin/load-approvals.ts';
import { CommandError } from './errors.ts';
import { servicePartition } from './operator-audit.ts';

/** A change in the audit. `partition` is an account id, or `plan#` and a code. */
export type RecordedChange = {
  partition: string;
  time: string;
  actor: string;
  action: string;
  detail: Record<string, unknown>;
};

/** An entry of the audit of everything: what it is about, and which one. */
export type AuditLine = Omit<RecordedChange, 'partition'> & {
  kind: 'account' | 'plan' | 'sign-in' | 'register' | 'service';
  /** The account or the plan. */
  id: string | null;
  /** `unknown`: the change was not marked as done, so it may or may not have happened. */
  outcome: 'done' | 'unknown';
};

/** Every entry between two times, of all kinds, the oldest first. Reads the whole table. */
export async function auditBetween(
  client: DynamoDBDocumentClient,
  table: string,
  from: string,
  to: string,
): Promise<(RecordedChange & Pick<AuditLine, 'outcome'>)[]> {
  const { partitionKey, sortKey } = accountsTable;
  const scan = {
    TableName: table,
    ConsistentRead: true,
    FilterExpression: '#item BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#item': sortKey },
    ExpressionAttributeValues: { ':from': `audit#${from}`, ':to': `audit#${to}` },
  };
  const found: (RecordedChange & Pick<AuditLine, 'outcome'>)[] = [];
  for await (const { Items = [] } of paginateScan({ client }, scan))
    for (const { [partitionKey]: partition, time, actor, action, detail = {}, outcome } of Items)
      found.push({ partition, time, actor, action, detail, outcome: outcome === 'done' ? 'done' : 'unknown' });
  return found.sort((one, other) => (one.time < other.time ? -1 : 1));
}

/** Every entry of a month, `2026-10`. */
export async function auditOfMonth(client: DynamoDBDocumentClient, table: string, month: string): Promise<AuditLine[]> {
  const range = monthOf(month);
  if (!range) throw new Error(`${month} is no month`);
  const found = await auditBetween(client, table, `${range.from}T`, `${range.to}T~`);
  return found.map(({ partition, time, actor, action, ...rest }) => {
    return { time, actor, action, ...subjectOf(partition), ...rest };
  });
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
