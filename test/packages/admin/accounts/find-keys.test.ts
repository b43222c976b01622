import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { settledSecret } from '../../../../core/accounts/checksum-secret.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
const shop = { account: 'shop_1', key: '', keyId: '' };
const till = { account: 'till', key: '', keyId: '' };

beforeAll(async () => {
  const { admin } = bench;
  await admin.plans.put({ code: 'basic', limits: { day: 100 } });
  for (const one of [shop, till]) {
    await admin.accounts.create({ id: one.account, plan: 'basic' });
    Object.assign(one, await admin.keys.create({ account: one.account, label: 'webshop' }));
  }
  // More accounts than one read takes.
  await bench.addCopies(
    'till',
    Array.from({ length: 120 }, (_, i) => `copy-${i}`),
  );
});

/** Another letter or digit at a place of a key. */
const changed = (key: string, at: number) => {
  const other = key.at(at) === 'x' ? 'y' : 'x';
  return key.slice(0, at) + other + (at === -1 ? '' : key.slice(at + 1));
};

describe('a key', () => {
  it.each([
    ['whole', (key: string) => key, 'key'],
    ['in the line of a log', (key: string) => `GET /v1/address 401 "X-API-Key: ${key}".`, 'key'],
    ['with another character in its secret', (key: string) => changed(key, -20), 'mistyped'],
    ['with another character in its checksum', (key: string) => changed(key, -1), 'mistyped'],
    ['without its end', (key: string) => `${key.slice(0, -9)}...`, 'mistyped'],
    ['up to its id', (key: string) => `${key.slice(0, -35)}...`, 'id'],
    ['by its id', (key: string) => ` ${key.slice(-43, -35)} `, 'id'],
  ])('is found %s', async (_, text, given) => {
    expect(await bench.admin.keys.find(text(shop.key))).toMatchObject({
      given,
      keys: [{ account: 'shop_1', keyId: shop.keyId, label: 'webshop', state: 'active' }],
    });
  });

  it('is found where it may be looked for only, and its id as well', async () => {
    for (const text of [shop.key, shop.keyId]) {
      expect((await bench.admin.keys.find(text, { accounts: ['till'] })).keys).toEqual([]);
      expect(
        (await bench.admin.keys.find(text, { accounts: ['till', 'shop_1'] })).keys,
      ).toHaveLength(1);
    }
  });

  it('is found by its hash after the checksum secret was replaced, and once it is revoked by its checksum', async () => {
    const store = (Item: object) =>
      bench.client.send(new PutCommand({ TableName: 'accounts', Item }));
    await store(settledSecret('the next secret'));
    expect(await bench.admin.keys.find(till.key)).toMatchObject({
      given: 'key',
      keys: [{ state: 'active' }],
    });
    await bench.admin.keys.revoke(till);
    expect(await bench.admin.keys.find(till.key)).toMatchObject({ given: 'mistyped' });
    await store({ ...settledSecret('the next secret'), previous: testChecksumSecret });
    expect(await bench.admin.keys.find(till.key)).toMatchObject({
      given: 'key',
      keys: [{ state: 'revoked' }],
    });
  });

  it('of no account has none, and is told from one with a typing error', async () => {
    const [before = '', after = ''] = shop.key.split('shop_1');
    expect(await bench.admin.keys.find(`${before}gone${after}`)).toEqual({
      given: 'mistyped',
      keys: [],
    });
    expect(await bench.admin.keys.find('00000000')).toEqual({ given: 'id', keys: [] });
  });

  it.each(['', 'AAAA', 'not a key', 'bagadres_shop_1', `${'A'.repeat(43)}`])(
    'is refused as %j, without repeating it',
    async (text) => {
      const refused = bench.admin.keys.find(text);
      await expect(refused).rejects.toMatchObject({ code: 'invalid' });
      await expect(refused).rejects.toThrow('This is no key and no key id.');
    },
  );
});
