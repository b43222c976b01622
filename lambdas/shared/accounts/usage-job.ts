import { forEachConcurrently } from '../concurrency.ts';
import { accountsTable } from '../tables.ts';
import { listNames, type NamePage } from './account-index.ts';
import { accessKey, readAccess } from './account-item.ts';
import type { AdminStore } from './admin-store.ts';
import { type LimitMessage, limitMessages, sendOnce } from './limit-messages.ts';
import { allShards } from './reshard.ts';
import { recordUsage } from './usage.ts';

export type UsageJob = {
  /** How many whole months records of usage are kept. */
  months: number;
  /** The share of a limit from which a message is sent; 0 sends none. */
  messageAtShare: number;
  send: (message: LimitMessage) => Promise<void>;
};

/** How many accounts had days to record, how many messages were sent, and the accounts that failed with their errors. */
export type UsageJobResult = { recorded: number; messages: number; failures: { account: string; error: unknown }[] };

const concurrency = 16;

/**
 * Looks at every account: days that have ended become records, and a limit that is nearly or entirely used up is reported
 * once a window. One account that fails stops no other. It may run at any time, also while it is running already.
 */
export async function runUsageJob(
  store: AdminStore,
  { months, messageAtShare, send }: UsageJob,
): Promise<UsageJobResult> {
  const result: UsageJobResult = { recorded: 0, messages: 0, failures: [] };
  let cursor: string | null = null;
  do {
    const page: NamePage = await listNames(store, 'account', cursor === null ? {} : { cursor });
    const items = await store.getAll(page.names.map((id) => accessKey(id)));
    await forEachConcurrently(items, concurrency, async (item) => {
      try {
        const access = readAccess(item);
        if (await recordUsage(store, access, months)) result.recorded++;
        if (messageAtShare === 0) return;
        for (const message of limitMessages(await allShards(store, access), messageAtShare, store.nowSeconds())) {
          if (await sendOnce(store, message, send)) result.messages++;
        }
      } catch (error) {
        result.failures.push({ account: item[accountsTable.partitionKey], error });
      }
    });
    cursor = page.cursor;
  } while (cursor !== null);
  return result;
}
