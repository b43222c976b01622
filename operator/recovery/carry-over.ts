import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { AdminError } from '../../core/accounts/admin/admin-error.ts';
import { accountsTable } from '../../core/names.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import type { Step } from './procedure.ts';

/** A change in the audit. `partition` is an account id, or `plan#` and a code. */
export type RecordedChange = { partition: string; time: string; actor: string; action: string; detail: AuditDetail };

type AuditDetail = Record<string, unknown>;

/** Changes after which somebody has less access: a restore to an earlier time must not give it back. */
const withdrawals = new Set(['key revoke', 'member remove', 'account suspend', 'account delete']);

/** Every change of the accounts table after a time, the oldest first, from its audit. Reads the whole table. */
export async function changesSince(client: DynamoDBClient, table: string, at: Date): Promise<RecordedChange[]> {
  const pages = paginateScan(
    { client },
    {
      TableName: table,
      ConsistentRead: true,
      FilterExpression: '#item BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#item': accountsTable.sortKey },
      ExpressionAttributeValues: { ':from': { S: `audit#${at.toISOString()}` }, ':to': { S: 'audit#~' } },
    },
  );
  const found: RecordedChange[] = [];
  for await (const { Items = [] } of pages) {
    for (const item of Items) {
      const { time, actor, action, detail = {}, ...key } = unmarshall(item);
      found.push({ partition: key[accountsTable.partitionKey], time, actor, action, detail });
    }
  }
  return found.toSorted((a, b) => (a.time < b.time ? -1 : 1));
}

/** The withdrawals that come last for what they are about: a member who was removed and added again stays. */
function withdrawalsIn(changes: readonly RecordedChange[]): RecordedChange[] {
  const latest = new Map<string, RecordedChange>();
  for (const change of changes) {
    const [noun = '', verb = ''] = change.action.split(' ');
    // Another limit leaves a suspension in force.
    if (noun === 'account' && !['suspend', 'activate', 'delete'].includes(verb)) continue;
    const { keyId = '', person = '' } = change.detail;
    latest.set(`${change.partition} ${noun} ${keyId}${person}`, change);
  }
  return [...latest.values()].filter(({ action }) => withdrawals.has(action));
}

/** The changes that a restore loses, and those that it makes again. */
export type LostChanges = { lost: RecordedChange[]; carriedOver: RecordedChange[] };

export function sortChanges(changes: readonly RecordedChange[]): LostChanges {
  const carriedOver = withdrawalsIn(changes);
  return { lost: changes.filter((change) => !carriedOver.includes(change)), carriedOver };
}

/**
 * Makes in the copy the withdrawals that the table has had since: keys that were revoked, members who were removed,
 * accounts that were suspended or deleted.
 */
export function carryOverStep(
  client: DynamoDBClient,
  carriedOver: readonly RecordedChange[],
  { copy, actor, isLive }: { copy: string; actor: string; isLive: () => Promise<boolean> },
): Step {
  const noSecret = async () => Promise.reject(new Error('no key is created here'));
  const admin = createAdmin({
    client: DynamoDBDocumentClient.from(client),
    table: copy,
    checksumSecret: noSecret,
    actor,
  });
  return {
    what: `Withdraw in ${copy} what was withdrawn since: ${carriedOver.length} keys, members and accounts`,
    isDone: async () => {
      if (carriedOver.length === 0 || (await isLive())) return true;
      const still = await Promise.all(carriedOver.map((change) => isInForce(admin, change)));
      return !still.includes(true);
    },
    async run() {
      for (const change of carriedOver) if (await isInForce(admin, change)) await withdraw(admin, change);
    },
  };
}

/** Whether what a change withdrew is there in the copy. */
async function isInForce(admin: Admin, { partition: account, action, detail }: RecordedChange): Promise<boolean> {
  return ifThere(async () => {
    if (action === 'key revoke')
      return (await admin.keys.list(account)).some(({ keyId, state }) => keyId === detail.keyId && state !== 'revoked');
    if (action === 'member remove')
      return (await admin.members.list(account)).some(({ person }) => person === detail.person);
    const { state } = await admin.accounts.show(account);
    return action === 'account delete' || state === 'active';
  });
}

async function withdraw(admin: Admin, { partition: account, action, detail }: RecordedChange): Promise<void> {
  if (action === 'key revoke') await admin.keys.revoke({ account, keyId: String(detail.keyId) });
  else if (action === 'member remove') await admin.members.remove({ account, person: String(detail.person) });
  else await admin.accounts.suspend(account);
  if (action === 'account delete') await admin.accounts.delete(account);
}

/** An account that was created after the time of the copy is not in it. */
async function ifThere(look: () => Promise<boolean>): Promise<boolean> {
  return look().catch((error: unknown) => {
    if (error instanceof AdminError && error.code === 'not_found') return false;
    throw error;
  });
}
