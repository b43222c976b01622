import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { keyCode, maxKeyCounts, maxUnrecordedDays } from '../../../core/accounts/account.ts';
import {
  accessItem,
  accessKey,
  dayNumber,
  windowItem,
} from '../../../core/accounts/account-item.ts';
import { forEachWindow, windowNames } from '../../../core/calendar.ts';
import { maxLimit } from '../../../packages/admin/accounts/admin-error.ts';
import { maxActiveKeys } from '../../../packages/admin/accounts/keys.ts';
import { startAdmin } from '../../packages/admin/accounts/admin-bench.ts';
import { startForTests } from '../../support/start-for-tests.ts';

/** The most digits a count or a limit can have. */
const widest = maxLimit - 1;
const limits = forEachWindow(() => widest);
const id = 'a'.repeat(32);

/** What the largest item leaves for the counts by key, which take it where all keys are used. */
const slackBytes = 200;

const bench = startForTests(startAdmin);

describe('the largest account that an operator can make', () => {
  it(`leaves ${slackBytes} bytes of 1 KB for the counts by key, which fit there, and a charge costs one write unit`, async () => {
    const { admin, client, table } = bench;
    const code = 'p'.repeat(32);
    await admin.plans.put({ code, limits });
    await admin.accounts.create({ id, plan: code, limits });
    for (let i = 0; i < maxActiveKeys; i++) {
      await admin.keys.create({
        account: id,
        label: `key ${i}`,
        expires: new Date(Date.UTC(2099, 0, 1)),
        limitPerDay: widest,
      });
    }
    await admin.accounts.suspend(id);
    await admin.plans.put({ code, limits, state: 'inactive' });
    const counts = [
      ...windowNames.flatMap((window) => [
        windowItem[window].start,
        windowItem[window].used,
        windowItem[window].limit,
      ]),
      accessItem.version,
      accessItem.planVersion,
    ];
    const dates = Array.from({ length: maxUnrecordedDays }, (_, i) => dayNumber(`2026-11-1${i}`));
    const days = Object.fromEntries(dates.map((date) => [date, widest]));
    const used = await client.send(
      new UpdateCommand({
        TableName: table,
        Key: accessKey(id),
        UpdateExpression: `SET ${counts.map((name) => `#${name} = :used`).join(', ')}, #days = :days`,
        ExpressionAttributeNames: {
          ...Object.fromEntries(counts.map((name) => [`#${name}`, name])),
          '#days': accessItem.days,
        },
        ExpressionAttributeValues: { ':used': widest, ':days': days },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    expect(used.ConsumedCapacity?.CapacityUnits).toBe(1);
    const stored = (await bench.item(id)) ?? {};
    const largest = itemBytes(stored);
    expect(
      largest - itemBytes({ [accessItem.byKey]: {}, [accessItem.daysByKey]: {} }),
    ).toBeLessThanOrEqual(1024 - slackBytes);
    // The most that an item can count: 1,000 a second. All keys on one day, or as many counts on
    // three.
    const ofDay = (names: string[]) =>
      Object.fromEntries(names.map((name) => [keyCode(name), 9_999_999]));
    const names = Object.keys(stored[accessItem.keys] as object);
    expect(names).toHaveLength(maxActiveKeys);
    const third = maxKeyCounts / 3;
    const first = names.slice(0, third);
    const second = names.slice(third, 2 * third);
    const last = names.slice(2 * third);
    const [dayBefore, yesterday] = dates.map(String) as [string, string];
    for (const byKey of [
      { [accessItem.byKey]: ofDay(names), [accessItem.daysByKey]: {} },
      {
        [accessItem.byKey]: ofDay(first),
        [accessItem.daysByKey]: { [dayBefore]: ofDay(second), [yesterday]: ofDay(last) },
      },
    ]) {
      expect(itemBytes({ ...stored, ...byKey })).toBeLessThanOrEqual(1024);
    }
  });

  it('stays within 1 KB while one of its keys is replaced, when it has one more than the maximum', async () => {
    const [{ keyId } = { keyId: '' }] = await bench.admin.keys.list(id);
    const put = await bench.saved(id);
    await bench.admin.keys.rotate({ account: id, keyId, ends: new Date(Date.UTC(2098, 0, 1)) });
    expect(itemBytes((await bench.item(id)) ?? {})).toBeLessThanOrEqual(1024);
    await put();
  });

  it('refuses a key above the maximum, and says to revoke one first', async () => {
    const refusal = bench.admin.keys.create({ account: id, label: 'one more' });
    await expect(refusal).rejects.toMatchObject({ name: 'AdminError', code: 'too_many_keys' });
    expect(await bench.admin.keys.list(id)).toHaveLength(maxActiveKeys);
  });
});

/**
 * The size of an item by the rules of the DynamoDB developer guide, "item sizes and formats",
 * rounded up where it says "approximately".
 */
function itemBytes(item: Record<string, unknown>): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value),
    0,
  );
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (value instanceof Uint8Array) return value.length;
  if (value === null) return 1;
  const members = Object.entries(value as Record<string, unknown>);
  return (
    3 +
    members.reduce(
      (sum, [name, member]) => sum + 1 + Buffer.byteLength(name) + valueBytes(member),
      0,
    )
  );
}
