import { randomBytes } from 'node:crypto';
import {
  DeleteCommand,
  PutCommand,
  paginateQuery,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../tables.ts';
import { inWindowOrder, type OwnLimitChanges } from './limits.ts';
import { AdminError, type AdminStore } from './updates.ts';

/** What is changed, in whose partition (an account id, or `plan#<code>`), and how. `detail` never holds a key. */
export type Change = { partition: string; action: string; detail: Record<string, unknown> };

/**
 * One change: who, when, what. `unknown` means that nobody came back to say `done`: the change is still running, or its
 * process died, and it may have happened or not. Refused changes leave no entry.
 */
export type AuditEntry = {
  time: string;
  actor: string;
  action: string;
  detail: Record<string, unknown>;
  outcome: 'done' | 'unknown';
};

const prefix = 'audit#';
const outcome = 'outcome';

/** Runs `work` between the two halves of its entry: a change never happens without one (decision 0104). */
export async function audited<T>(store: AdminStore, change: Change, work: () => Promise<T>): Promise<T> {
  const { Key, attributes } = newEntry(store, change);
  await store.client.send(new PutCommand({ TableName: store.table, Item: { ...Key, ...attributes } }));
  try {
    const result = await work();
    await close(store, new UpdateCommand(markDone(store.table, Key)));
    return result;
  } catch (error) {
    if (changedNothing(error)) await close(store, new DeleteCommand({ TableName: store.table, Key }));
    throw error;
  }
}

/**
 * Ends an entry. The caller must hear what became of the change, and a new key is seen only here: where the end can't be
 * written the entry stays `unknown`, which is what it says.
 */
async function close({ client }: AdminStore, command: UpdateCommand | DeleteCommand): Promise<void> {
  await client.send(command as UpdateCommand).catch(() => undefined);
}

/** A change of a plan that gave up on one account has reached others. */
function changedNothing(error: unknown): boolean {
  return error instanceof AdminError && error.code !== 'conflict';
}

function markDone(table: string, Key: Record<string, string>): UpdateCommandInput {
  return {
    TableName: table,
    Key,
    UpdateExpression: 'SET #outcome = :done',
    ExpressionAttributeNames: { '#outcome': outcome },
    ExpressionAttributeValues: { ':done': 'done' },
  };
}

/** The latest `last` entries of a partition, the newest first. */
export async function auditOf({ client, table }: AdminStore, partition: string, last: number): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  const pages = paginateQuery(
    { client },
    {
      TableName: table,
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: last,
      KeyConditionExpression: '#account = :partition AND begins_with(#item, :audit)',
      ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
      ExpressionAttributeValues: { ':partition': partition, ':audit': prefix },
    },
  );
  for await (const { Items = [] } of pages) {
    entries.push(...Items.map(readEntry));
    if (entries.length >= last) break;
  }
  return entries.slice(0, last);
}

function newEntry({ actor, now }: AdminStore, { partition, action, detail }: Change) {
  const time = new Date(now()).toISOString();
  // The time sorts the entries; the random part tells two changes of one millisecond apart.
  const item = `${prefix}${time}#${randomBytes(6).toString('hex')}`;
  return {
    Key: { [accountsTable.partitionKey]: partition, [accountsTable.sortKey]: item },
    attributes: { time, actor, action, detail },
  };
}

function readEntry(item: Record<string, unknown>): AuditEntry {
  // A map comes back from DynamoDB in any order.
  const { limits, ...detail } = item.detail as { limits?: OwnLimitChanges };
  return {
    time: item.time as string,
    actor: item.actor as string,
    action: item.action as string,
    detail: { ...detail, ...(limits && { limits: inWindowOrder(limits) }) },
    outcome: item[outcome] === 'done' ? 'done' : 'unknown',
  };
}
