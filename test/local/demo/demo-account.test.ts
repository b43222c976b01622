import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoKey } from '../../../local/demo/demo.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';

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

  it('is created without reverting changes to the plan and the account', async () => {
    await admin.plans.put({ code: 'demo', limits: { day: 7 } });
    await admin.accounts.suspend('demo');
    await demoKey(admin, undefined);
    expect(await admin.plans.list()).toMatchObject({ plans: [{ code: 'demo', limits: { day: 7 } }] });
    expect(await admin.accounts.show('demo')).toMatchObject({ state: 'suspended' });
  });
});
