import type { Update } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import type { AdminStore } from './admin-store.ts';
import { type WindowName, windowEnd, windowStart } from './quota.ts';
import type { Shards } from './reshard.ts';
import { dateOf, daySeconds } from './usage-count.ts';

/** The windows that are long enough for a message to be useful. */
const watched = ['day', 'month'] as const satisfies WindowName[];

/** A window that has used so much of its limit; `isExhausted` when nothing is left. */
export type LimitMessage = {
  account: string;
  window: WindowName;
  limit: number;
  used: number;
  isExhausted: boolean;
  /** When the window ends, in seconds since 1970. */
  resets: number;
};

/** The messages about an account at `nowSeconds`: one for each watched window that has used `share` of its limit. */
export function limitMessages(shards: Shards, share: number, nowSeconds: number): LimitMessage[] {
  return watched.flatMap((window) => {
    const counts = shards.flatMap(({ quota }) => quota[window] ?? []);
    const { limit = null, total = limit } = shards[0].quota[window] ?? {};
    const start = Math.max(windowStart(window, nowSeconds), ...counts.map((count) => count.start));
    const used = counts.reduce((sum, count) => sum + (count.start === start ? count.used : 0), 0);
    if (total === null || total === 0 || used < total * share) return [];
    return [
      {
        account: shards[0].account,
        window,
        limit: total,
        used,
        isExhausted: used >= total,
        resets: windowEnd(window, start),
      },
    ];
  });
}

/**
 * Sends a message unless it was already sent in this window. It is marked as sent afterwards: if the process ends in
 * between, the message is sent twice rather than never. Returns whether it was sent.
 */
export async function sendOnce(
  store: AdminStore,
  message: LimitMessage,
  send: (message: LimitMessage) => Promise<void>,
): Promise<boolean> {
  const key = markKey(message);
  if (await store.get(key)) return false;
  await send(message);
  await store.update(mark(store.table, key, message));
  return true;
}

/** `notice#month#2026-12-01#used`: by the day on which the window ends. */
function markKey({ account, window, resets, isExhausted }: LimitMessage): Record<string, string> {
  return {
    [accountsTable.partitionKey]: account,
    [accountsTable.sortKey]: `notice#${window}#${dateOf(resets)}#${isExhausted ? 'used' : 'near'}`,
  };
}

function mark(table: string, Key: Record<string, string>, { resets }: LimitMessage): Update {
  return {
    TableName: table,
    Key,
    UpdateExpression: 'SET #expires = :expires',
    ExpressionAttributeNames: { '#expires': accountsTable.expires },
    ExpressionAttributeValues: { ':expires': resets + daySeconds },
  };
}
