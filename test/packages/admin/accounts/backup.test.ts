import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type {
  AccountBackup,
  Backup,
  KeyBackup,
} from '../../../../packages/admin/accounts/backup.ts';
import { allAccounts, allPlans } from '../../../support/list-all.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { adminWith, startAdmin } from './admin-bench.ts';

/** The bench whose export is `backup`, one that nothing is imported into, and one for imports. */
const from = startForTests(startAdmin);
const untouched = startForTests(startAdmin);
const to = startForTests(startAdmin);
let backup: Backup;

beforeAll(async () => {
  const { admin, client, table, clock, request } = from;
  for (const code of ['b', 'a', 'c']) {
    await admin.plans.put({ code, limits: { minute: 9, day: 9, month: null } });
  }
  for (const id of ['two', 'one', 'three']) {
    await admin.accounts.create({ id, plan: 'a', limits: { day: 8 } });
  }
  for (const id of ['two', 'three']) {
    const { key } = await admin.keys.create({ account: id, label: 'k', limitPerDay: 7 });
    await admin.keys.create({ account: id, label: 'other' });
    for (let i = 0; i < 5; i++) expect(await request(key)).toBe('charged');
    clock.now += 60_000;
    expect(await request(key)).toBe('charged');
  }
  await admin.plans.put({ code: 'hourly', limits: { hour: 4 } });
  await admin.accounts.set({ id: 'two', plan: 'hourly' });
  await admin.accounts.set({ id: 'two', name: 'Bakkerij Jansen', contact: 'jo@jansen.example' });
  for (const person of ['sub:2', 'jo@example.nl']) {
    await admin.members.add({ account: 'two', person, role: 'viewer' });
  }
  // An active key without a record.
  const byHand = {
    TableName: table,
    Key: { account: 'one', item: 'access' },
    UpdateExpression: 'SET #k.byhand00 = :h',
  };
  const values = {
    ExpressionAttributeNames: { '#k': 'keys' },
    ExpressionAttributeValues: { ':h': new Uint8Array(16) },
  };
  await client.send(new UpdateCommand({ ...byHand, ...values }));
  backup = await admin.backup.export();
});

/** The backup with other members of one account, by default that with the most. */
function withAccount(changes: Partial<AccountBackup>, id = 'two'): Backup {
  return {
    ...backup,
    accounts: backup.accounts.map((account) =>
      account.id === id ? { ...account, ...changes } : account,
    ),
  };
}

const accountOf = ({ accounts }: Backup, id: string) =>
  accounts.find((account) => account.id === id);

const member = { person: 'j@x', role: 'viewer', added: 1 } as const;

const keysOf = (count: number): KeyBackup[] =>
  Array.from({ length: count }, (_, i) => {
    const keyId = `key${10_000 + i}`;
    return {
      keyId,
      label: keyId,
      created: 1_785_000_000,
      revoked: null,
      hash: new Uint8Array(16).fill(i),
    };
  });

describe('backup.export', () => {
  it('has plans, accounts, keys and members in order, however they were made', () => {
    const two = accountOf(backup, 'two');
    expect(backup.plans.map(({ code }) => code)).toEqual(['a', 'b', 'c', 'hourly']);
    expect(backup.accounts.map(({ id }) => id)).toEqual(['one', 'three', 'two']);
    expect(two?.members?.map(({ person }) => person)).toEqual(['jo@example.nl', 'sub:2']);
    const keyIds = two?.keys.map(({ keyId }) => keyId);
    expect([keyIds, keyIds?.length]).toEqual([keyIds?.toSorted(), 2]);
  });

  it('has what was used of the windows that are counted, also of a day and a month that the plan does not limit', () => {
    expect(accountOf(backup, 'three')).toMatchObject({
      usage: { minute: { used: 1 }, day: { used: 6 }, month: { used: 6 } },
    });
    const { hour, ...used } = accountOf(backup, 'two')?.usage ?? {};
    expect([hour, used]).toMatchObject([undefined, { day: { used: 6 }, month: { used: 6 } }]);
  });

  it('has a key that was added to the item manually', () => {
    expect(accountOf(backup, 'one')?.keys).toEqual([
      { keyId: 'byhand00', label: null, created: null, revoked: null, hash: new Uint8Array(16) },
    ]);
  });
});

describe('backup.import', () => {
  it('counts what it creates and what was there, and completes an interrupted import', async () => {
    const { admin } = to;
    const first = {
      plans: backup.plans.slice(0, 2),
      accounts: backup.accounts.filter(({ id }) => id === 'one'),
    };
    expect(await admin.backup.import(first)).toEqual({
      plans: 2,
      accounts: 1,
      members: 0,
      days: 0,
      unchanged: 0,
    });
    expect(await admin.backup.import(backup, { checkOnly: true })).toMatchObject({
      plans: 2,
      accounts: 2,
    });
    const rest = { plans: 2, accounts: 2, members: 2, days: 2, unchanged: 3 };
    expect(await admin.backup.import(backup)).toEqual(rest);
    expect(await admin.backup.export()).toEqual(backup);
    const range = { from: '2026-08-01', to: '2026-08-01' };
    for (const id of ['two', 'three']) {
      expect(await admin.accounts.usageByKey(id, range)).toEqual(
        await from.admin.accounts.usageByKey(id, range),
      );
    }
    const limited = (await admin.keys.list('three')).find(({ label }) => label === 'k');
    expect(limited).toMatchObject({ limitPerDay: 7, usedToday: 6 });
    expect((await admin.accounts.list({ search: 'jo@jansen' })).accounts).toMatchObject([
      { name: 'Bakkerij Jansen' },
    ]);
    expect(await admin.backup.import(backup)).toEqual({
      plans: 0,
      accounts: 0,
      members: 0,
      days: 0,
      unchanged: 7,
    });
    expect(await admin.accounts.show('three')).toMatchObject({
      windows: { day: { limit: 8, used: 6 } },
    });
  });

  it('creates accounts with up to 13 active keys, and with any number of revoked ones', async () => {
    const keys = [
      ...keysOf(13),
      ...keysOf(20)
        .slice(13)
        .map((key) => ({ ...key, hash: null, revoked: 1_785_000_001 })),
    ];
    const many = {
      plans: [],
      accounts: [{ ...(backup.accounts[0] as AccountBackup), id: 'many', keys }],
    };
    expect(await to.admin.backup.import(many)).toMatchObject({ accounts: 1 });
    expect(
      (await to.admin.keys.list('many')).filter(({ state }) => state === 'active'),
    ).toHaveLength(13);
    expect(accountOf(await to.admin.backup.export(), 'many')?.keys).toEqual(keys);
  });

  it('creates an account with the limits of its plan, also if the plan changes meanwhile', async () => {
    const restore = await to.saved();
    await to.admin.plans.put({ code: 'a', limits: { day: 1 } });
    let changes = 0;
    const admin = adminWith(to, async (command, send) => {
      if (command instanceof TransactWriteCommand && ++changes === 1) {
        await to.admin.plans.put({ code: 'a', limits: { day: 2 } });
      }
      return send();
    });
    const account = { ...(accountOf(backup, 'one') as AccountBackup), id: 'late', ownLimits: {} };
    const imported = { plans: [], accounts: [account] };
    expect(await admin.backup.import(imported)).toMatchObject({ accounts: 1 });
    expect((await to.admin.accounts.show('late')).windows.day).toMatchObject({ limit: 2 });
    expect(changes).toBe(2);
    await restore();
  });

  const withPlan = (code: string, day: number): Backup => ({
    ...backup,
    plans: [{ code, state: 'active', limits: { day } }],
  });
  const [key] = keysOf(1) as [KeyBackup];
  const twice = <T>(all: T[]) => [...all, ...all.slice(1, 2)];

  it.each<[string, () => Backup, RegExp, string?]>([
    ['a malformed plan code', () => withPlan('a b', 1), /^A plan code/],
    ['a wrong limit of a plan', () => withPlan('a', -1), /^The limit/],
    ['a malformed account id', () => withAccount({ id: 'a b' }), /^An account id/],
    ['a malformed plan of an account', () => withAccount({ plan: 'a b' }), /^A plan code/],
    ['a wrong own limit', () => withAccount({ ownLimits: { day: -1 } }), /^The limit/],
    ['a malformed key id', () => withAccount({ keys: [{ ...key, keyId: 'a' }] }), /^A key id/],
    [
      'a member that is nobody',
      () => withAccount({ members: [{ ...member, person: 'jo' }] }),
      /^A member/,
    ],
    [
      'another role',
      () => withAccount({ members: [{ ...member, role: 'owner' as 'admin' }] }),
      /^A role/,
    ],
    [
      'a wrong date',
      () => withAccount({ days: [{ date: '2026-02-30', lookups: 1, expires: 2 }] }),
      /"date"/,
    ],
    ['14 active keys', () => withAccount({ keys: keysOf(14) }), /more than 13/, 'too_many_keys'],
    ['a plan twice', () => ({ ...backup, plans: twice(backup.plans) }), /^Plan "b" .*twice/],
    [
      'an account twice',
      () => ({ ...backup, accounts: twice(backup.accounts) }),
      /^Account "three" .*twice/,
    ],
    [
      'an account without its plan',
      () => withAccount({ plan: 'gone' }),
      /"two" is on plan "gone"/,
      'not_found',
    ],
  ])(
    'refuses a backup with %s, and imports nothing',
    async (_, changed, message, code = 'invalid') => {
      const refusal = untouched.admin.backup.import(changed());
      await expect(refusal).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
      expect([await allPlans(untouched.admin), await allAccounts(untouched.admin)]).toEqual([
        [],
        [],
      ]);
    },
  );

  const withPlans = (changes: object): Backup => ({
    ...backup,
    plans: backup.plans.map((plan) => ({ ...plan, ...changes })),
  });
  const withByHand = (hash: Uint8Array | null) =>
    withAccount(
      { keys: [{ keyId: 'byhand00', label: null, created: null, revoked: null, hash }] },
      'one',
    );

  it.each<[string, () => Backup]>([
    ['a plan in another state', () => withPlans({ state: 'inactive' })],
    ['a plan with another limit', () => withPlans({ limits: { day: 1 } })],
    ['an account in another state', () => withAccount({ state: 'suspended' })],
    ['an account on another plan', () => withAccount({ plan: 'a' })],
    ['an account with other own limits', () => withAccount({ ownLimits: {} })],
    ['an account with fewer keys', () => withAccount({ keys: [] })],
    ['a key with another hash', () => withByHand(new Uint8Array(16).fill(1))],
    ['a key that is revoked', () => withByHand(null)],
  ])('refuses a backup with %s than what exists, and imports nothing', async (_, changed) => {
    const { admin } = from;
    const before = await admin.backup.export();
    const further = { code: 'further', state: 'active', limits: { day: 1 } } as const;
    const other = changed();
    const refusal = admin.backup.import({ ...other, plans: [further, ...other.plans] });
    await expect(refusal).rejects.toMatchObject({
      code: 'exists',
      message: expect.stringMatching(/exists and differs from the backup; nothing was imported/),
    });
    expect(await admin.backup.export()).toEqual(before);
  });
});
