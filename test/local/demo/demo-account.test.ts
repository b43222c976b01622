import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoKey } from '../../../local/demo/demo.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { createAccountsTable, createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';

describe('the API key of the demo account', () => {
  let dynamoDb: TestDynamoDb;
  let admin: Admin;
  beforeAll(async () => {
    dynamoDb = await startDynamoDb();
    await createTables(dynamoDb.client, { addresses: 'addresses', accounts: 'accounts' });
    const client = DynamoDBDocumentClient.from(dynamoDb.client);
    admin = createAdmin({ client, table: 'accounts', checksumSecret: 'secret' });
  });
  afterAll(() => dynamoDb.stop());

  const active = async () => (await admin.keys.list('demo')).filter(({ state }) => state === 'active').length;

  it('stays the same while it is active, and is replaced after it was revoked', async () => {
    const first = await demoKey(admin, undefined);
    expect(await demoKey(admin, first)).toBe(first);
    expect(await active()).toBe(1);
    const [view] = await admin.keys.list('demo');
    await admin.keys.revoke({ account: 'demo', keyId: view?.keyId ?? '' });
    const second = await demoKey(admin, first);
    expect(second).not.toBe(first);
    expect(await demoKey(admin, second)).toBe(second);
    expect(await active()).toBe(1);
  });

  it('is found without asking for the plan and the account again', async () => {
    const known = await demoKey(admin, undefined);
    expect(await demoKey({ keys: admin.keys } as Admin, known)).toBe(known);
  });

  it('is new, with plan and account, where the table has lost them', async () => {
    await createAccountsTable(dynamoDb.client, 'empty');
    const client = DynamoDBDocumentClient.from(dynamoDb.client);
    const empty = createAdmin({ client, table: 'empty', checksumSecret: 'secret' });
    const known = await demoKey(admin, undefined);
    expect(await demoKey(empty, known)).not.toBe(known);
    expect(await empty.accounts.show('demo')).toMatchObject({ state: 'active', plan: 'demo' });
  });

  it('is created without reverting changes to the plan and the account', async () => {
    await admin.plans.put({ code: 'demo', limits: { day: 7 } });
    await admin.accounts.suspend('demo');
    await demoKey(admin, undefined);
    expect(await admin.plans.list()).toMatchObject({ plans: [{ code: 'demo', limits: { day: 7 } }] });
    expect(await admin.accounts.show('demo')).toMatchObject({ state: 'suspended' });
  });
});
