import { documents, type Item, type StoreClient, type Update } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import type { RefusalCode } from './account.ts';
import { dateOf, defaultUsageMonths, expiryOfRecord } from './usage-count.ts';
import { usageRecord } from './usage-record.ts';

/** Why requests with a valid key were refused: no quota left (429), invalid input (422), account or plan inactive (403). */
export type RefusalKind = 'quota' | 'input' | 'inactive';

export const refusalKinds: readonly RefusalKind[] = ['quota', 'input', 'inactive'];

/** Refusals by kind: at least so many. */
export type RefusalCounts = Record<RefusalKind, number>;

const kindOf: Partial<Record<RefusalCode, RefusalKind>> = {
  'quota-exceeded': 'quota',
  'invalid-input': 'input',
  'account-inactive': 'inactive',
  'plan-inactive': 'inactive',
};

/**
 * Counts the refusals of an account by day, in the memory of the instance, and now and then adds them to the day's record. What
 * an instance has counted when it ends is lost, so the counts are not exact (decision 0148). Never throws, never waits.
 */
export type RefusalCount = {
  /** Notes a refusal of a request whose key is one of the account. One without a kind is not counted. */
  note(account: string, code: RefusalCode, now: number): void;
  /** Writes what was noted, unless it did so within the last minute. Called beside other work, which does not wait for it. */
  flush(now: number): void;
};

/** Between two flushes of an instance. */
const flushSeconds = 60;

/** Days of accounts that one flush writes, and that an instance remembers; refusals of others are not counted. */
const mostWrites = 10;
const mostPending = 1_000;

const writeMs = 2_000;

export function createRefusalCount(client: StoreClient, table: string): RefusalCount {
  const { update } = documents(client);
  const pending = new Map<string, { account: string; date: string; counts: RefusalCounts }>();
  let flushed = Number.NEGATIVE_INFINITY;

  return {
    note(account, code, now) {
      const kind = kindOf[code];
      if (!kind) return;
      const date = dateOf(Math.floor(now));
      const key = `${account}#${date}`;
      const noted = pending.get(key);
      if (noted) noted.counts[kind]++;
      else if (pending.size < mostPending) {
        pending.set(key, { account, date, counts: { ...noRefusals(), [kind]: 1 } });
      }
    },
    flush(now) {
      if (pending.size === 0 || Math.abs(now - flushed) < flushSeconds) return;
      flushed = now;
      for (const [key, { account, date, counts }] of [...pending].slice(0, mostWrites)) {
        // Before the write, whose answer may be lost: counted once at most.
        pending.delete(key);
        update(addCommand(table, account, date, counts), AbortSignal.timeout(writeMs)).catch(() => undefined);
      }
    },
  };
}

export function noRefusals(): RefusalCounts {
  return { quota: 0, input: 0, inactive: 0 };
}

const attributeOf = (kind: RefusalKind) => `refused_${kind}`;

/** The refusals that the record of a day has; nothing if there are none. */
export function refusalsIn(record: Item): RefusalCounts | undefined {
  const counts = noRefusals();
  for (const kind of refusalKinds) counts[kind] = record[attributeOf(kind)] ?? 0;
  return refusalKinds.some((kind) => counts[kind] > 0) ? counts : undefined;
}

function addCommand(table: string, account: string, date: string, counts: RefusalCounts): Update {
  const kinds = refusalKinds.filter((kind) => counts[kind] > 0);
  return {
    TableName: table,
    Key: { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: usageRecord.sortKey(date) },
    UpdateExpression: `SET #expires = if_not_exists(#expires, :expires) ADD ${kinds.map((kind) => `#${kind} :${kind}`).join(', ')}`,
    ExpressionAttributeNames: {
      '#expires': accountsTable.expires,
      ...Object.fromEntries(kinds.map((kind) => [`#${kind}`, attributeOf(kind)])),
    },
    ExpressionAttributeValues: {
      ':expires': expiryOfRecord(date, defaultUsageMonths),
      ...Object.fromEntries(kinds.map((kind) => [`:${kind}`, counts[kind]])),
    },
  };
}
