import { readFileSync } from 'node:fs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { emptyReport } from '../../loader/bag/problem-report.ts';
import { demoKey, demoSource } from '../../local/demo.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { createAccountsTable, startDynamoDb } from '../support/dynamodb.ts';
import { readExtract } from '../support/read-extract.ts';
import { startForTests } from '../support/start-for-tests.ts';

describe('the demo', () => {
  it('is a small part of the register, without a problem', async () => {
    const bytes = readFileSync(demoSource);
    expect(bytes.length).toBeLessThan(300_000);
    const { peildatum, rows, problems } = await readExtract(bytes);
    expect([peildatum, problems]).toEqual(['2021-10-15', emptyReport()]);
    expect(rows.length).toBeGreaterThan(450);
    expect(new Set(rows.map(({ woonplaats }) => woonplaats))).toEqual(new Set(['Weesp']));
  });
});

describe('the API key of the demo account', () => {
  const dynamoDb = startForTests(startDynamoDb);
  const clientOf = () => DynamoDBDocumentClient.from(dynamoDb.client);
  const keyIn = (table: string, known?: string) =>
    demoKey(createAdminStore(clientOf(), table, 'test', Date.now), known);
  let admin: Admin;
  beforeAll(async () => {
    await createAccountsTable(dynamoDb.client, 'accounts');
    admin = createAdmin({ client: clientOf(), table: 'accounts' });
  });

  const active = async () =>
    (await admin.keys.list('demo')).filter(({ state }) => state === 'active').length;

  it('stays the same while it is active, without a look at plan and account, and is replaced after it was revoked', async () => {
    const first = await keyIn('accounts');
    const client = clientOf();
    const send = jest.spyOn(client, 'send');
    expect(await demoKey(createAdminStore(client, 'accounts', 'test', Date.now), first)).toBe(
      first,
    );
    expect(send).toHaveBeenCalledTimes(2);
    expect(await active()).toBe(1);
    const [view] = await admin.keys.list('demo');
    await admin.keys.revoke({ account: 'demo', keyId: view?.keyId ?? '' });
    const second = await keyIn('accounts', first);
    expect(second).not.toBe(first);
    expect(await keyIn('accounts', second)).toBe(second);
    expect(await active()).toBe(1);
  });

  it('is new, with plan and account, where the table has lost them', async () => {
    await createAccountsTable(dynamoDb.client, 'empty');
    const known = await keyIn('accounts');
    expect(await keyIn('empty', known)).not.toBe(known);
    const empty = createAdmin({ client: clientOf(), table: 'empty' });
    expect(await empty.accounts.show('demo')).toMatchObject({ state: 'active', plan: 'demo' });
  });

  it('is created without reverting changes to the plan and the account', async () => {
    await admin.plans.put({ code: 'demo', limits: { day: 7 } });
    await admin.accounts.suspend('demo');
    await keyIn('accounts');
    expect(await admin.plans.list()).toMatchObject({
      plans: [{ code: 'demo', limits: { day: 7 } }],
    });
    expect(await admin.accounts.show('demo')).toMatchObject({ state: 'suspended' });
  });
});
