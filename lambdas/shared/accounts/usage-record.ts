import type { Item, Update } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import type { Access } from './account.ts';
import { accessItem, accessKey } from './account-item.ts';
import { defaultUsageMonths, expiryOfRecord, sumByDate, type UnitsByDate, withoutZeros } from './usage-count.ts';

/** An item for each account and UTC day with lookups: `usage#2026-11-21`. */
export const usageRecord = {
  sortKey: (date: string) => `usage#${date}`,
  lookups: 'lookups',
} as const;

/**
 * The updates that add lookups to the records of an account. Each belongs in the transaction that removes the same
 * lookups from an access item, so that a lookup is always in exactly one of the two. Without `months` a record that has
 * an expiry keeps it, and a new one gets the default.
 */
export function addToRecords(table: string, account: string, units: UnitsByDate, months?: number): Update[] {
  return Object.entries(withoutZeros(units)).map(([date, count]) => ({
    TableName: table,
    Key: {
      [accountsTable.partitionKey]: account,
      [accountsTable.sortKey]: usageRecord.sortKey(date),
    },
    UpdateExpression: `SET #expires = ${months === undefined ? 'if_not_exists(#expires, :expires)' : ':expires'} ADD #lookups :lookups`,
    ExpressionAttributeNames: { '#lookups': usageRecord.lookups, '#expires': accountsTable.expires },
    ExpressionAttributeValues: { ':lookups': count, ':expires': expiryOfRecord(date, months ?? defaultUsageMonths) },
  }));
}

type RecordOptions = { today?: string; months?: number | undefined };

/**
 * The updates, to be made together, that move the days of an access item that have ended into records; none if there are
 * none. With `today` that includes the day that is being counted, if it is an earlier one and no request rolls it meanwhile.
 */
export function recordDays(table: string, access: Access, { today = '', months }: RecordOptions = {}): Update[] {
  const { account, shard, usage } = access;
  const { total, date, mark, days } = usage;
  const dates = Object.keys(days);
  const ends = date !== null && date < today && total > mark;
  if (dates.length === 0 && !ends) return [];
  const names: Record<string, string> = dates.length > 0 ? { '#days': accessItem.days } : {};
  const values: Item = {};
  for (const [i, day] of dates.entries()) {
    names[`#day${i}`] = day;
    values[`:units${i}`] = days[day];
  }
  const conditions = dates.map((_, i) => `#days.#day${i} = :units${i}`);
  const removed = dates.map((_, i) => `#days.#day${i}`);
  if (ends) {
    Object.assign(names, { '#date': accessItem.date, '#mark': accessItem.mark, '#total': accessItem.total });
    Object.assign(values, { ':date': date, ':today': today, ':total': total });
    conditions.push('#date = :date', '#total = :total');
  }
  const expression = [
    ends && 'SET #date = :today, #mark = :total',
    removed.length > 0 && `REMOVE ${removed.join(', ')}`,
  ];
  const taken: Update = {
    TableName: table,
    Key: accessKey(account, shard),
    UpdateExpression: expression.filter(Boolean).join(' '),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
  const units = ends ? sumByDate([days, { [date]: total - mark }]) : days;
  return [taken, ...addToRecords(table, account, units, months)];
}
