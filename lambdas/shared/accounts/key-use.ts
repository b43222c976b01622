import { documents, orUnavailable, type StoreClient, type Update } from '../dynamodb.ts';
import type { Caller } from './account.ts';
import { keyRecord, recordKey } from './account-item.ts';
import { dateOf } from './usage-count.ts';

/** Records the day of a key's last use. Never throws: the day is only shown to people, and no lookup depends on it. */
export type KeyUse = { note(caller: Caller, now: number, signal: AbortSignal): Promise<void> };

/** How many keys an instance remembers. */
const maxKeys = 10_000;

/** The longest that a lookup waits for it, once per key and day on each instance. */
const waitMs = 500;

/** Writes at most once for each key and UTC day. */
export function createKeyUse(client: StoreClient, table: string): KeyUse {
  const { update } = documents(client);
  const noted = new Map<string, string>();

  return {
    async note({ account, keyId }, now, signal) {
      const key = `${account}#${keyId}`;
      const date = dateOf(Math.floor(now));
      if (noted.get(key) === date) return;
      if (noted.size >= maxKeys) noted.clear();
      // Before the write: a failed one is not retried by every lookup.
      noted.set(key, date);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      await orUnavailable(update(noteCommand(table, { account, keyId }, date), limit), limit).catch(() => undefined);
    },
  };
}

/** Only on an existing record, and never to an earlier day. */
function noteCommand(table: string, key: { account: string; keyId: string }, date: string): Update {
  return {
    TableName: table,
    Key: recordKey(key),
    UpdateExpression: 'SET #lastUsed = :date',
    ConditionExpression: 'attribute_exists(#created) AND (attribute_not_exists(#lastUsed) OR #lastUsed < :date)',
    ExpressionAttributeNames: { '#lastUsed': keyRecord.lastUsed, '#created': keyRecord.created },
    ExpressionAttributeValues: { ':date': date },
  };
}
