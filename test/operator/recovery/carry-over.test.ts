import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { settledSecret } from '../../../core/accounts/checksum-secret.ts';
import { erasePerson } from '../../../operator/deployment/person.ts';
import { carryOver, planCarryOver } from '../../../operator/recovery/carry-over.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { createAccountsTable, startDynamoDb, testChecksumSecret } from '../../support/dynamodb.ts';
import { restoreItems, storedItems } from '../../support/stored-items.ts';

const since = new Date(Date.now() - 60_000);
let engine: Awaited<ReturnType<typeof startDynamoDb>>;
let client: DynamoDBDocumentClient;
let old: Admin;
let restored: Admin;

const adminOf = (table: string) => createAdmin({ client, table });
const plan = () =>
  planCarryOver({
    client,
    admin: restored as Admin,
    table: 'restored',
    from: 'old',
    since,
  });

beforeAll(async () => {
  engine = await startDynamoDb();
  client = DynamoDBDocumentClient.from(engine.client);
  for (const table of ['old', 'restored', 'empty']) await createAccountsTable(engine.client, table);
  [old, restored] = [adminOf('old'), adminOf('restored')];
});
afterAll(() => engine.stop());

it('repeats all that was withdrawn since, names what stays lost, and finds nothing left afterwards', async () => {
  const admin = old as Admin;
  await admin.plans.put({ code: 'standard', limits: { day: 100 } });
  for (const id of ['acme', 'gone', 'late', 'same']) {
    await admin.accounts.create({ id, plan: 'standard' });
  }
  const leaked = await admin.keys.create({ account: 'acme', label: 'leaked' });
  const kept = await admin.keys.create({ account: 'acme', label: 'kept' });
  const free = await admin.keys.create({ account: 'acme', label: 'free', limitPerDay: 3 });
  for (const person of ['an@example.nl', 'jo@example.nl', 'bo@example.nl', 'ko@example.nl']) {
    await admin.members.add({ account: 'acme', person, role: 'admin' });
  }
  await admin.sessions.start('bo@example.nl', 3600);
  await restoreItems(client, 'restored', await storedItems(client, 'old'));

  await admin.keys.revoke({ account: 'acme', keyId: leaked.keyId });
  await admin.keys.set({ account: 'acme', keyId: kept.keyId, limitPerDay: 5 });
  await admin.keys.set({ account: 'acme', keyId: free.keyId, limitPerDay: null });
  await admin.accounts.set({ id: 'acme', limits: { day: 5 } });
  await admin.accounts.suspend('late');
  await admin.accounts.suspend('gone');
  await admin.accounts.delete('gone');
  await admin.members.remove({ account: 'acme', person: 'bo@example.nl' });
  await admin.sessions.endAll({ person: 'bo@example.nl' });
  await erasePerson({ admin, client, table: 'old', secret: testChecksumSecret }, 'jo@example.nl');
  // A rotation since, which the restored table does not have.
  const Item = { ...settledSecret('another'), previous: testChecksumSecret };
  await client.send(new PutCommand({ TableName: 'old', Item }));
  await erasePerson({ admin, client, table: 'old', secret: 'another' }, 'ko@example.nl');
  await admin.keys.create({ account: 'acme', label: 'new' });

  const { repeated, lost } = await plan();
  expect(repeated.map(({ what }) => what).sort()).toEqual([
    'Delete account gone',
    expect.stringMatching(/^End the session of bo@example\.nl since /),
    'Erase jo@example.nl',
    'Erase ko@example.nl',
    `Limit key ${kept.keyId} (kept) of account acme to 5 a day`,
    'Remove member bo@example.nl of account acme',
    `Remove the limit of key ${free.keyId} (free) of account acme`,
    expect.stringMatching(/^Revoke key \w+ \(leaked\) of account acme$/),
    'Set account acme to plan standard, own limits {"day":5}',
    'Suspend account late',
  ]);
  expect(lost.filter(({ action }) => action === 'key create')).toHaveLength(4);
  const before = await storedItems(client, 'old');
  const store = createAdminStore(client, 'restored', 'ann', Date.now);
  expect(await carryOver(repeated, { store, from: 'old', since })).toEqual([]);
  expect(await storedItems(client, 'old')).toEqual(before);
  expect((await plan()).repeated).toEqual([]);

  const now = restored as Admin;
  const states = (await now.keys.list('acme')).map(({ keyId, state }) => [keyId, state]);
  expect(states.sort()).toEqual(
    [
      [kept.keyId, 'active'],
      [free.keyId, 'active'],
      [leaked.keyId, 'revoked'],
    ].sort(),
  );
  const limits = Object.fromEntries(
    (await now.keys.list('acme')).map(({ keyId, limitPerDay }) => [keyId, limitPerDay]),
  );
  expect(limits).toMatchObject({ [kept.keyId]: 5, [free.keyId]: null });
  expect((await now.accounts.show('late')).state).toBe('suspended');
  expect((await now.accounts.show('same')).state).toBe('active');
  expect((await now.members.list('acme')).map(({ person }) => person)).toEqual(['an@example.nl']);
  expect(JSON.stringify(await storedItems(client, 'restored'))).not.toMatch(/[jk]o@example\.nl/);
});

it('refuses the table in use, one that does not exist, and one without accounts', async () => {
  const tools = { client, admin: restored as Admin, table: 'restored', since };
  await expect(planCarryOver({ ...tools, from: 'restored' })).rejects.toThrow(
    'is the table in use',
  );
  await expect(planCarryOver({ ...tools, from: 'missing' })).rejects.toThrow(
    'There is no table missing',
  );
  await expect(planCarryOver({ ...tools, from: 'empty' })).rejects.toThrow(
    'it is no accounts table',
  );
});
