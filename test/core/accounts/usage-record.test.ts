import { describe, expect, it } from '@jest/globals';
import {
  addToRecords,
  backupDays,
  lookupsIn,
  recordDays,
  refusalsIn,
  restoreDay,
  sumByDate,
  unrecorded,
  usageRecord,
} from '../../../core/accounts/usage-record.ts';
import { accessOf } from '../../support/access.ts';

const seconds = (iso: string) => Date.parse(iso) / 1000;

const recordOf = (date: string, attributes: Record<string, number>) => ({
  account: 'acme',
  item: usageRecord.sortKey(date),
  ...attributes,
});

/** The counts of these days, none of them by key. */
const lookups = (units: Record<string, number>) =>
  Object.fromEntries(Object.entries(units).map(([date, count]) => [date, { lookups: count }]));

describe('the lookups of an access item that no record has', () => {
  it.each([
    [{ date: '2026-08-02', lookups: 5, days: {} }, { '2026-08-02': 5 }],
    [
      { date: '2026-08-02', lookups: 5, days: { '2026-08-01': 3 } },
      { '2026-08-01': 3, '2026-08-02': 5 },
    ],
    // After a clock was behind.
    [{ date: '2026-08-02', lookups: 5, days: { '2026-08-02': 3 } }, { '2026-08-02': 8 }],
    [{ date: '2026-08-02', lookups: 0, days: { '2026-08-01': 3 } }, { '2026-08-01': 3 }],
    [{ date: '2026-08-02', lookups: 0, days: {} }, {}],
  ])('of %j are %j', (usage, units) => {
    expect(unrecorded({ ...usage, byKey: {}, daysByKey: {} })).toEqual(lookups(units));
  });

  it('are added up by date', () => {
    expect(
      sumByDate([lookups({ '2026-08-01': 3, '2026-08-02': 1 }), { '2026-08-02': { lookups: 5, by_k1: 2 } }, {}]),
    ).toEqual({ '2026-08-01': { lookups: 3 }, '2026-08-02': { lookups: 6, by_k1: 2 } });
  });
});

describe('the record of a day', () => {
  it.each([
    ['2026-08-01', undefined, '2028-10-01T00:00:00Z'],
    ['2026-08-31', undefined, '2028-10-01T00:00:00Z'],
    ['2026-12-31', 1, '2027-02-01T00:00:00Z'],
    ['2026-12-31', 0, '2027-01-01T00:00:00Z'],
  ])('of %s may be deleted %p whole months after its month: %s', (date, months, expires) => {
    const [update] = addToRecords('accounts', 'acme', lookups({ [date]: 3 }), months);
    expect(Object.values(update?.ExpressionAttributeValues ?? {})).toEqual([seconds(expires), 3]);
  });

  it('is not made for a day without lookups', () => {
    expect(addToRecords('accounts', 'acme', lookups({ '2026-08-01': 0 }))).toEqual([]);
  });

  it('expires the given months after its own, or if none are given keeps its expiry', () => {
    const expiryOf = (months?: number) => {
      const [update] = addToRecords('accounts', 'acme', lookups({ '2026-08-01': 1 }), months);
      return [update?.UpdateExpression.split(' ADD ')[0], update?.ExpressionAttributeValues[':expires']];
    };
    expect(expiryOf(3)).toEqual(['SET #expires = :expires', seconds('2026-12-01T00:00:00Z')]);
    const kept = 'SET #expires = if_not_exists(#expires, :expires)';
    expect(expiryOf()).toEqual([kept, seconds('2028-10-01T00:00:00Z')]);
  });

  it('has no lookups, and no refusals, before any were recorded', () => {
    expect(lookupsIn(recordOf('2026-08-01', {}))).toBe(0);
    expect(refusalsIn(recordOf('2026-08-01', { lookups: 3 }))).toBeUndefined();
    expect(refusalsIn(recordOf('2026-08-01', { refused_input: 1 }))).toEqual({ quota: 0, input: 1, inactive: 0 });
  });
});

describe('the days of an access item that are recorded', () => {
  const accessWith = (days: Record<string, number>) =>
    accessOf({ usage: { date: '2026-08-03', lookups: 5, days, byKey: {}, daysByKey: {} } });
  /** The lookups that the updates add to records, by date. */
  const added = (updates: ReturnType<typeof recordDays>) =>
    Object.fromEntries(
      updates
        .slice(1)
        .map(({ Key, ExpressionAttributeValues: values }) => [String(Key.item).slice(6), values[':lookups']]),
    );

  it.each<[string, Record<string, number>, Parameters<typeof recordDays>[2], Record<string, number>]>([
    [
      'are those that have ended, without today',
      { '2026-08-01': 2, '2026-08-02': 7 },
      { today: '2026-08-03' },
      { '2026-08-01': 2, '2026-08-02': 7 },
    ],
    ['include the one that is counted if it has ended', {}, { today: '2026-08-04' }, { '2026-08-03': 5 }],
    ['add it to the same day', { '2026-08-03': 1 }, { today: '2026-08-04' }, { '2026-08-03': 6 }],
  ])('%s', (_, days, options, units) => {
    expect(added(recordDays('accounts', accessWith(days), options))).toEqual(units);
  });

  it('are none if no day has ended, or the one that has ended had no lookups', () => {
    expect(recordDays('accounts', accessWith({}), { today: '2026-08-03' })).toEqual([]);
    const idle = accessOf({ usage: { date: '2026-08-03', lookups: 0, days: {}, byKey: {}, daysByKey: {} } });
    expect(recordDays('accounts', idle, { today: '2026-08-04' })).toEqual([]);
  });
});

describe('the days of an account in a backup', () => {
  it('are those of its records and of its access items, in order, with the expiry of the record', () => {
    const records = [
      recordOf('2026-08-02', { lookups: 2, expires: 1 }),
      recordOf('2026-08-01', { lookups: 3, expires: 2 }),
      recordOf('2026-07-31', { refused_quota: 3, expires: 3 }),
    ];
    const expires = seconds('2028-10-01T00:00:00Z');
    expect(backupDays(records, [lookups({ '2026-08-03': 4, '2026-08-02': 1 }), lookups({ '2026-08-03': 5 })])).toEqual([
      { date: '2026-08-01', lookups: 3, expires: 2 },
      { date: '2026-08-02', lookups: 3, expires: 1 },
      { date: '2026-08-03', lookups: 9, expires },
    ]);
  });

  it('are restored to a record of the same day', () => {
    expect(restoreDay('accounts', 'acme', { date: '2026-08-01', lookups: 3, expires: 2 })).toMatchObject({
      Key: { account: 'acme', item: 'usage#2026-08-01' },
      ExpressionAttributeValues: { ':lookups': 3, ':expires': 2 },
    });
  });
});
