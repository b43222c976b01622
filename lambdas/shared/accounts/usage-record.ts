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

/** The lookups of one day in a backup; `expires` is when the record may be deleted, in seconds since 1970. */
export type DayBackup = { date: string; lookups: number; expires: number };

/** The days of an account in a backup, in order: those of its records, and those that its access items still hold. */
export function backupDays(records: readonly Item[], unrecorded: readonly UnitsByDate[]): DayBackup[] {
  const recorded = new Map(records.map((record) => [dateIn(record), record]));
  const lookups = sumByDate([...unrecorded, ...records.map((record) => ({ [dateIn(record)]: lookupsIn(record) }))]);
  return Object.entries(withoutZeros(lookups))
    .map(([date, count]) => {
      const expires = recorded.get(date)?.[accountsTable.expires] ?? expiryOfRecord(date, defaultUsageMonths);
      return { date, lookups: count, expires };
    })
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/** The update that makes the record of a day in a backup; a record that has lookups keeps them. */
export function restoreDay(table: string, account: string, { date, lookups, expires }: DayBackup): Update {
  return {
    TableName: table,
    Key: { [accountsTable.partitionKey]: account, [accountsTable.sortKey]: usageRecord.sortKey(date) },
    UpdateExpression: 'SET #lookups = if_not_exists(#lookups, :lookups), #expires = if_not_exists(#expires, :expires)',
    ExpressionAttributeNames: { '#lookups': usageRecord.lookups, '#expires': accountsTable.expires },
    ExpressionAttributeValues: { ':lookups': lookups, ':expires': expires },
  };
}

/** The date of a record. */
export function dateIn(record: Item): string {
  return String(record[accountsTable.sortKey]).slice(usageRecord.sortKey('').length);
}

/** The lookups of a record, which may be made before any were recorded. */
export function lookupsIn(record: Item): number {
  return record[usageRecord.lookups] ?? 0;
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
