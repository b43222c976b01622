import { BatchWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { keyCode } from '../../core/accounts/account.ts';
import { accessItem, accessKey, dayNumber, windowItem } from '../../core/accounts/account-item.ts';
import { keyRecord } from '../../core/accounts/key-record.ts';
import { usageRecord } from '../../core/accounts/usage-record.ts';
import {
  dateOf,
  daySeconds,
  secondsOf,
  type WindowName,
  windowStart,
} from '../../core/calendar.ts';
import { dutchTime } from '../../core/dutch-time.ts';
import { guardedUpdate, type Item } from '../../core/dynamodb.ts';
import { accountsTable } from '../../core/tables.ts';
import { folderStorage } from '../../loader/storage/files.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { statementsOf } from '../../packages/admin/monthly-statements.ts';
import { type AddressService, testTables } from '../../test/support/address-service.ts';

/**
 * The customers of an operator: their id, name and plan, what they use on a working day, and their
 * keys.
 */
const customers: readonly [
  id: string,
  name: string,
  plan: string,
  perDay: number,
  keys: readonly string[],
][] = [
  ['delinde', 'De Linde Woonwinkel BV', 'standaard', 3_400, ['webshop', 'kassa', 'crm']],
  ['bakkerbart', 'Bakkerij Bart', 'klein', 150, ['webshop']],
  ['fietsnl', 'Fietsen Noord-Nederland', 'standaard', 2_100, ['webshop', 'magazijn']],
  ['gemeente-m', 'Gemeente Middelveen', 'groot', 18_500, ['balie', 'formulieren']],
  ['kattenbak', 'Kattenbak Online', 'klein', 240, ['webshop']],
  ['makelaar-vd', 'Makelaardij Van Dam', 'klein', 95, ['website']],
  ['pakketpunt', 'PakketPunt Logistiek', 'groot', 41_000, ['planning', 'app']],
  ['thuiszorg-o', 'Thuiszorg Oost', 'standaard', 870, ['planning']],
  ['verhuisnu', 'Verhuis.nu', 'standaard', 7_900, ['formulier']],
  ['zonnedak', 'Zonnedak Installaties', 'klein', 60, ['offertes']],
];

/** The account whose pages are shown, and who signs in for it at the provider of this machine. */
export const shownAccount = 'delinde';
const shownPerson = 'kim@customer.example';

const hourSeconds = 3600;

/**
 * Adds customers who have used the service for up to a year until now, and closes the months in
 * `folder`. Returns the id of a key of the account that is shown.
 */
export async function addExampleCustomers(
  { client }: Pick<AddressService, 'client'>,
  folder: string,
): Promise<{ shownKey: string }> {
  const now = Date.now() / 1000;
  const today = dateOf(now);
  const adminAt = (daysAgo: number, actor: string) =>
    createAdmin({
      client,
      table: testTables.accounts,
      actor,
      now: () => (secondsOf(today) - daysAgo * daySeconds + 9 * hourSeconds) * 1000,
    });
  const operatorAt = (daysAgo: number) => adminAt(daysAgo, 'olaf@operator.example (operator)');
  const { plans } = operatorAt(400);
  await plans.put({ code: 'klein', limits: { minute: 60, day: 250, month: 5_000 } });
  await plans.put({ code: 'standaard', limits: { minute: 300, day: 5_000, month: 100_000 } });
  await plans.put({ code: 'groot', limits: { minute: 3_000, day: 50_000, month: null } });

  const write = async (items: Item[]) => {
    for (let at = 0; at < items.length; at += 25) {
      const puts = items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
      await client.send(new BatchWriteCommand({ RequestItems: { [testTables.accounts]: puts } }));
    }
  };
  const set = (Key: Record<string, string>, values: Item) =>
    client.send(new UpdateCommand(guardedUpdate(testTables.accounts, Key, { set: values })));

  let shownKey = '';
  for (const [i, [id, name, plan, perDay, labels]] of customers.entries()) {
    const created = 395 - i * 31;
    const person = id === shownAccount ? shownPerson : `beheer@${id}.example`;
    await operatorAt(created).accounts.create({ id, name, plan, contact: `inkoop@${id}.example` });
    await operatorAt(created).members.add({ account: id, person, role: 'admin' });
    const codes: string[] = [];
    for (const [j, label] of labels.entries()) {
      const { keyId } = await adminAt(created - 1 - 40 * j, person).keys.create({
        account: id,
        label,
      });
      codes.push(keyCode(keyId));
      if (id === shownAccount && j === 0) shownKey = keyId;
      await set(
        { [accountsTable.partitionKey]: id, [accountsTable.sortKey]: keyRecord.sortKey(keyId) },
        { [keyRecord.lastUsed]: today },
      );
    }
    const records: Item[] = [];
    for (
      let at = secondsOf(today) - (created - 2) * daySeconds;
      at < secondsOf(today);
      at += daySeconds
    ) {
      records.push(recordOf(id, dateOf(at), perDay, codes));
    }
    await write(records);
    const month = usageRecord.sortKey(today.slice(0, 7));
    const ofMonth = records.filter((record) => month <= record[accountsTable.sortKey]);
    const before = ofMonth.reduce((sum, record) => sum + record[usageRecord.lookups], 0);
    await set(
      accessKey(id),
      countedToday(today, { used: Math.round(perDay * 0.62), before, codes }),
    );
  }
  const kim = adminAt(9, shownPerson);
  const expires = dutchTime.endOfDay(dateOf(secondsOf(today) + 40 * daySeconds));
  await kim.keys.create({ account: shownAccount, label: 'proef', expires });
  await kim.members.add({
    account: shownAccount,
    person: 'boekhouding@delinde.example',
    role: 'finance',
  });
  await operatorAt(12).accounts.set({ id: shownAccount, limits: { day: 4_500 } });
  await operatorAt(3).accounts.suspend('kattenbak');

  const statements = statementsOf(
    createAdminStore(client, testTables.accounts, 'portal', Date.now),
    folderStorage(folder),
  );
  while (await statements.closeNext());
  return { shownKey };
}

/**
 * A day of an account: quieter at the weekend, never quite like another day, and the same each
 * time.
 */
function recordOf(account: string, date: string, perDay: number, codes: readonly string[]): Item {
  const day = dayNumber(date);
  const noise = (Math.abs(Math.sin(day * 12.9898 + perDay)) * 43_758.5453) % 1;
  const ofWeekday = [0.35, 1, 1.05, 1, 0.95, 0.9, 0.6][(day + 4) % 7] ?? 1;
  const lookups = Math.round(perDay * ofWeekday * (0.75 + 0.4 * noise));
  const ofKeys = Object.entries(sharesOf(lookups, codes)).map(([code, count]) => [
    usageRecord.byKey(code),
    count,
  ]);
  return {
    [accountsTable.partitionKey]: account,
    [accountsTable.sortKey]: usageRecord.sortKey(date),
    [usageRecord.lookups]: lookups,
    ...Object.fromEntries(ofKeys),
    ...(noise > 0.8 && { [usageRecord.refused('input')]: Math.ceil(noise * 20) }),
    ...(noise > 0.9 && refusedFor('minute', Math.ceil(noise * lookups * 0.2))),
    [accountsTable.expires]: secondsOf(date) + 800 * daySeconds,
  };
}

/** Refusals because a window had no quota left. */
const refusedFor = (window: WindowName, count: number) => ({
  [usageRecord.refused('quota')]: count,
  [usageRecord.refused(window)]: count,
});

/** What the access item counts: `used` today, after what was used `before` in this month. */
function countedToday(
  today: string,
  { used, before, codes }: { used: number; before: number; codes: string[] },
): Item {
  const at = secondsOf(today);
  return {
    [windowItem.day.start]: at,
    [windowItem.day.used]: used,
    [windowItem.month.start]: windowStart('month', at),
    [windowItem.month.used]: before + used,
    [accessItem.byKey]: sharesOf(used, codes),
  };
}

/** The lookups of each key: most are of the first. */
function sharesOf(lookups: number, codes: readonly string[]): Record<string, number> {
  const rest = codes
    .slice(1)
    .map((code, i) => [code, Math.round(lookups / (5 * (i + 1)))] as const);
  const first = lookups - rest.reduce((sum, [, count]) => sum + count, 0);
  return Object.fromEntries([[codes[0] ?? '', first], ...rest]);
}
