import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type KeyClaim, readApiKey } from '../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../core/accounts/charge/charge.ts';
import { dateOf, windowStart } from '../../../core/calendar.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { type Statements, statementsOf } from '../../../packages/admin/monthly-statements.ts';
import { testChecksumSecret } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { startLocalRun } from '../command-line.ts';

const bench = startForTests(startLocalRun, 30_000);
let admin: Admin;
let statements: Statements;
const keys: Record<'cli' | 'code', string> = { cli: '', code: '' };

beforeAll(async () => {
  const client = DynamoDBDocumentClient.from(bench.client);
  admin = createAdmin({ client, table: 'accounts' });
  await admin.plans.put({ code: 'standard', limits: { minute: 5, day: null } });
  for (const id of ['cli', 'code'] as const) {
    await admin.accounts.create({ id, plan: 'standard', limits: { day: 7 } });
    keys[id] = (
      await admin.keys.create({ account: id, label: 'k', expires: '2099-01-01T00:00:00Z' })
    ).keyId;
    await admin.members.add({ account: id, person: `admin@${id}.nl`, role: 'admin' });
  }
  const past = createAdmin({ client, table: 'accounts', now: () => lastMonth * 1000 });
  await past.accounts.create({ id: 'old', plan: 'standard' });
  await charge(
    createAccessStore(client, 'accounts'),
    readApiKey((await past.keys.create({ account: 'old', label: 'k' })).key, [
      testChecksumSecret,
    ]) as KeyClaim,
    () => lastMonth,
    AbortSignal.timeout(20_000),
  );
  statements = statementsOf(
    createAdminStore(client, 'accounts', 'test', Date.now),
    folderStorage(bench.data),
  );
  await admin.sessions.start('sub:someone', 3600, {
    people: ['admin@cli.nl'],
    name: 'Ann',
    browser: 'B',
    claims: {},
  });
});

/** A moment of the last whole month, in seconds, and its name. */
const lastMonth = windowStart('month', Date.now() / 1000) - 10 * 86_400;
const month = dateOf(lastMonth).slice(0, 7);

/**
 * The names of all members at any depth, as the package writes them, with `[]` for the entries of a
 * list.
 */
function namesIn(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) {
    return [...new Set(value.flatMap((entry) => namesIn(entry, `${at}[]`)))].sort();
  }
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).flatMap(([name, member]) => {
    const path = `${at}.${name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
    return [path, ...namesIn(member, path)];
  });
  return [...new Set(members)].sort();
}

/** As the command line prints it: without what JSON leaves out. */
const printed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

type Call = [command: string, call: () => Promise<unknown>];

/**
 * Each command whose result is that of one call; where they change something, each another account.
 */
const calls: Call[] = [
  ['plan put a --limit day=5', () => admin.plans.put({ code: 'b', limits: { day: 5 } })],
  [
    'plan list',
    async () => {
      const [{ plans }, counts] = await Promise.all([admin.plans.list(), admin.plans.counts()]);
      return plans.map((plan) => ({ ...plan, accounts: counts[plan.code] ?? 0 }));
    },
  ],
  ['plan audit standard', async () => (await admin.plans.audit('standard')).entries],
  [
    'account create new-a --plan standard --limit day=9',
    () => admin.accounts.create({ id: 'new-b', plan: 'standard', limits: { day: 9 } }),
  ],
  ['account set cli --limit day=7', () => admin.accounts.set({ id: 'code', limits: { day: 7 } })],
  ['account show cli', () => admin.accounts.show('code')],
  ['account list', async () => (await admin.accounts.list()).accounts],
  ['account usage cli', () => admin.accounts.usage('code')],
  ['account usage cli --by-key', () => admin.accounts.usageByKey('code')],
  ['account audit cli', async () => (await admin.accounts.audit('code')).entries],
  ['account suspend cli', () => admin.accounts.suspend('code')],
  ['account activate cli', () => admin.accounts.activate('code')],
  [
    'key create --account cli --label two',
    () => admin.keys.create({ account: 'code', label: 'two' }),
  ],
  ['key list --account cli', () => admin.keys.list('code')],
  ['key find KEY', () => admin.keys.find(keys.code)],
  [
    'key rename --account cli KEY --label other',
    () => admin.keys.rename({ account: 'code', keyId: keys.code, label: 'other' }),
  ],
  [
    'key set --account cli KEY --limit day=500',
    () => admin.keys.set({ account: 'code', keyId: keys.code, limitPerDay: 500 }),
  ],
  ['key rotate --account cli KEY', () => admin.keys.rotate({ account: 'code', keyId: keys.code })],
  [
    'key revoke --account cli KEY --yes',
    () => admin.keys.revoke({ account: 'code', keyId: keys.code }),
  ],
  [
    'member add x@own.nl --account cli --role viewer',
    () => admin.members.add({ account: 'code', person: 'x@own.nl', role: 'viewer' }),
  ],
  ['usage close --month MONTH --yes', () => statements.close(month)],
  ['usage months', () => statements.months()],
  ['usage statement old --month MONTH', () => statements.show({ account: 'old', month })],
  [
    'usage export --month MONTH --by day',
    async () => {
      const { account, days } = await statements.show({ account: 'old', month });
      return days.map((day) => ({ account, ...day }));
    },
  ],
  ['member list --account cli', () => admin.members.list('code')],
  [
    // The id is what the browser of that person holds.
    'session list --all',
    async () => (await admin.sessions.list('all')).sessions.map(({ id: _, ...session }) => session),
  ],
];

describe('the JSON of the command line', () => {
  it.each(calls)(
    'of %s has the members of what the package returns, in snake_case',
    async (line, call) => {
      const command = await bench.json(line.replace('KEY', keys.cli).replace('MONTH', month));
      expect(namesIn(command)).toEqual(namesIn(printed(await call())));
      expect(JSON.stringify(command)).not.toMatch(/"[a-z]+[A-Z]\w*":/);
    },
  );

  it('is the same in its values where nothing changed in between', async () => {
    expect(await bench.json('key list --account cli')).toMatchObject(
      (await admin.keys.list('cli')).map(({ keyId, lastUsed, createdBy, replacedBy }) => ({
        key_id: keyId,
        last_used: lastUsed,
        created_by: createdBy,
        replaced_by: replacedBy,
      })),
    );
  });
});
