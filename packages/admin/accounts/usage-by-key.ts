import { keyCode } from '../../../core/accounts/account-item.ts';
import { type DayCounts, lookupsIn, unitsByKey } from '../../../core/accounts/usage-record.ts';
import type { AdminStore } from './admin-store.ts';
import { keyRecordsOf } from './keys.ts';
import { type DayUsage, readCounts, readRange, type UsageRange } from './usage.ts';

/** The lookups charged to one key, and the days with such lookups, in order. */
export type KeyUsage = {
  keyId: string;
  label: string | null;
  /** When it was revoked, if it was. */
  revoked: boolean;
  lookups: number;
  days: DayUsage[];
};

/**
 * The lookups of an account from `from` to `to` by key, the busiest key first, including revoked keys. On each day, the
 * lookups of all `keys` and `unattributed` add up to the account's lookups.
 */
export type UsageByKey = {
  account: string;
  from: string;
  to: string;
  lookups: number;
  keys: KeyUsage[];
  /** Those that belong to no known key: the record of the key is gone. */
  unattributed: { lookups: number; days: DayUsage[] };
};

/**
 * How often each key of an account was used, exactly as charged.
 * @throws AdminError `invalid`, `not_found`, `conflict`
 */
export async function usageByKey(store: AdminStore, id: string, options: UsageRange = {}): Promise<UsageByKey> {
  const { from, to } = await readRange(store, options, id);
  const { counts } = await readCounts(store, id, { from, to });
  // Read after the counts: the record of a key is written before the key can be used.
  const records = await keyRecordsOf(store, id);
  // Two keys of one account hardly ever share a code; if they do, their lookups belong to neither.
  const isAlone = (keyId: string) => records.filter((other) => keyCode(other.keyId) === keyCode(keyId)).length === 1;
  const known = records.filter(({ keyId }) => isAlone(keyId));
  const days = Object.entries(counts)
    .filter(([date]) => from <= date && date <= to)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const perDay = (of: (day: DayCounts) => number): { lookups: number; days: DayUsage[] } => {
    const used = days.map(([date, day]) => ({ date, lookups: of(day) })).filter(({ lookups }) => lookups > 0);
    return { lookups: used.reduce((sum, { lookups }) => sum + lookups, 0), days: used };
  };
  const unitsOf = (keyId: string) => (day: DayCounts) => unitsByKey(day)[keyCode(keyId)] ?? 0;
  const keys = known
    .map(({ keyId, label, revoked }) => ({ keyId, label, revoked: revoked !== null, ...perDay(unitsOf(keyId)) }))
    .filter(({ revoked, lookups }) => !revoked || lookups > 0)
    .toSorted((a, b) => b.lookups - a.lookups || (a.keyId < b.keyId ? -1 : 1));
  const ofKeys = (day: DayCounts) => known.reduce((sum, { keyId }) => sum + unitsOf(keyId)(day), 0);
  return {
    ...{ account: id, from, to, lookups: perDay(lookupsIn).lookups, keys },
    unattributed: perDay((day) => lookupsIn(day) - ofKeys(day)),
  };
}

/**
 * The same as CSV: a header, then a line for each key and each day or month with lookups. Lookups that belong to no key
 * have an empty key id and label.
 */
export function usageByKeyCsv({ account, keys, unattributed }: UsageByKey, by: 'day' | 'month' = 'day'): string {
  const lines = [...keys, { ...unattributed, keyId: '', label: null }].flatMap(({ keyId, label, days }) =>
    rowsOf(days, by).map(([period, lookups]) => [account, keyId, quoted(label ?? ''), period, lookups].join(',')),
  );
  return [`account,key_id,label,${by === 'day' ? 'date' : 'month'},lookups`, ...lines, ''].join('\r\n');
}

function rowsOf(days: readonly DayUsage[], by: 'day' | 'month'): [string, number][] {
  const sums = new Map<string, number>();
  for (const { date, lookups } of days) {
    const period = by === 'day' ? date : date.slice(0, 7);
    sums.set(period, (sums.get(period) ?? 0) + lookups);
  }
  return [...sums];
}

/** A label may contain any characters. If a spreadsheet would read it as a formula, it gets an apostrophe first. */
function quoted(label: string): string {
  const text = /^[=+\-@]/.test(label) ? `'${label}` : label;
  return `"${text.replaceAll('"', '""')}"`;
}
