import type { Access } from '../../../core/accounts/account.ts';
import { itemKey } from '../../../core/accounts/account-item.ts';
import { currentQuota } from '../../../core/accounts/quota.ts';
import {
  dateOf,
  daySeconds,
  instant,
  longWindowNames,
  type WindowName,
  windowEnd,
} from '../../../core/calendar.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import { guardedUpdate } from '../../../core/dynamodb.ts';
import { eventVersion } from '../../../core/event-types.ts';
import { accountsTable } from '../../../core/tables.ts';
import { listMembers } from '../accounts/account-members.ts';
import { type AdminStore, allAccounts } from '../accounts/admin-store.ts';
import { detailsOf } from '../accounts/details.ts';
import { recordUsage, setRetention } from '../accounts/usage.ts';

export type UsageJob = {
  months: number;
  /** The used share of a limit that sends a message; 0 sends none. */
  messageAtShare: number;
  send: (message: LimitMessage) => Promise<void>;
};

/**
 * How many accounts had days to record, how many messages were sent, and the failed accounts with
 * their errors.
 */
export type UsageJobResult = {
  recorded: number;
  messages: number;
  failures: { account: string; error: unknown }[];
};

const concurrency = 16;

/**
 * Records days that have ended and reports limits that are nearly used up. May run at any time,
 * also twice at once.
 */
export async function runUsageJob(
  store: AdminStore,
  { months, messageAtShare, send }: UsageJob,
): Promise<UsageJobResult> {
  const result: UsageJobResult = { recorded: 0, messages: 0, failures: [] };
  await forEachConcurrently(allAccounts(store), concurrency, async (access) => {
    try {
      if (await recordUsage(store, access, months)) result.recorded++;
      if (messageAtShare === 0) return;
      for (const message of limitMessages(access, messageAtShare, store.nowSeconds())) {
        if (await sendOnce(store, message, send)) result.messages++;
      }
    } catch (error) {
      result.failures.push({ account: access.account, error });
    }
  });
  await setRetention(store, months);
  return result;
}

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

/**
 * The messages about an account at `nowSeconds`: one for each long window that has used `share`
 * of its limit.
 */
function limitMessages(
  { account, quota }: Access,
  share: number,
  nowSeconds: number,
): LimitMessage[] {
  const current = currentQuota(quota, nowSeconds);
  return longWindowNames.flatMap((window) => {
    const { limit = null, used = 0, start = 0 } = current[window] ?? {};
    if (limit === null || limit === 0 || used < limit * share) return [];
    return [
      {
        account,
        window,
        limit,
        used,
        isExhausted: used >= limit,
        resets: windowEnd(window, start),
      },
    ];
  });
}

/**
 * Sends a message once a window, marked as sent afterwards: twice rather than never. Returns
 * whether it was sent.
 */
async function sendOnce(
  store: AdminStore,
  message: LimitMessage,
  send: (message: LimitMessage) => Promise<void>,
): Promise<boolean> {
  const key = markKey(message);
  if (await store.get(key)) return false;
  await send(message);
  const set = { [accountsTable.expires]: message.resets + daySeconds };
  await store.update(guardedUpdate(store.table, key, { set }));
  return true;
}

/** `notice#month#2026-12-01#used`: by the last day of the window. */
function markKey({ account, window, resets, isExhausted }: LimitMessage): Record<string, string> {
  return itemKey(account, `notice#${window}#${dateOf(resets)}#${isExhausted ? 'used' : 'near'}`);
}

/**
 * The detail of the event: the message, a sentence for people, and whom it concerns: the customer
 * and the members.
 */
export async function thresholdDetail(
  store: AdminStore,
  deployment: string,
  message: LimitMessage,
) {
  const { account, window, limit, used, isExhausted, resets } = message;
  const [members, { name, contact }] = await Promise.all([
    listMembers(store, account),
    detailsOf(store, account),
  ]);
  const until = instant(resets);
  const rest = isExhausted
    ? `Further lookups get 429 until ${until}.`
    : `${limit - used} are left until ${until}.`;
  const customer = name === null ? account : `${account} (${name})`;
  return {
    version: eventVersion,
    deployment,
    summary: `Account ${customer} has used ${used} of the ${limit} lookups of this ${window}. ${rest}`,
    account,
    name,
    contact,
    window,
    limit,
    used,
    level: isExhausted ? 'reached' : 'near',
    exhausted: isExhausted,
    resets: until,
    contacts: members
      .filter(({ role, person }) => role === 'admin' && person.includes('@'))
      .map(({ person }) => person),
  };
}
