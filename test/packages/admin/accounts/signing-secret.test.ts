import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../../core/accounts/api-key.ts';
import {
  checksumSecret,
  createChecksumSecrets,
  settlesAfterMilliseconds,
} from '../../../../core/accounts/checksum-secret.ts';
import { createAdmin } from '../../../../packages/admin/admin.ts';
import {
  createInstance,
  startAddressService,
  testAddress,
  testTables,
} from '../../../support/address-service.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

/**
 * How much faster than the wall clock a first key waits here, and the secrets of an instance age.
 */
const speed = 4;
const fastClock = () => Date.now() * speed;
settlesAfterMilliseconds.first /= speed;

const service = startForTests(startAddressService);
const table = testTables.accounts;

beforeAll(async () => {
  await service.admin.plans.put({ code: 'standard', limits: { day: 1e6 } });
  for (const id of ['acme', 'other']) await service.admin.accounts.create({ id, plan: 'standard' });
});
beforeEach(() =>
  service.client.send(new DeleteCommand({ TableName: table, Key: checksumSecret.key })),
);

const stored = async () =>
  (await service.client.send(new GetCommand({ TableName: table, Key: checksumSecret.key }))).Item;

/** How an instance of each function answers a key, with secrets of its own. */
function instance(client = service.client) {
  const { lookUp, send } = createInstance(service.client, {
    checksumSecrets: createChecksumSecrets(client, table, fastClock),
  });
  return async (key: string) => {
    const validate = send('/v1/auth/validate', { headers: { 'x-api-key': key } });
    return (await Promise.all([lookUp(key, testAddress), validate])).map(({ status }) => status);
  };
}

const junk = issueApiKey('acme', 'another deployment').key;

describe('the first key of a deployment', () => {
  it('creates the secret, also two at once, and works everywhere when it is shown', async () => {
    const ask = instance();
    const answers: number[] = [];
    // So that its last read always is a recent one.
    const asking = setInterval(async () => answers.push(...(await ask(junk))), 10).unref();
    const create = async (account: string) =>
      (
        await createAdmin({ client: service.client, table }).keys.create({
          account,
          label: 'first',
        })
      ).key;
    const begun = performance.now();
    const keys = await Promise.all(['acme', 'other'].map(create));
    expect((await Promise.all(keys.map(ask))).flat()).toEqual([200, 200, 200, 200]);
    clearInterval(asking);
    expect([answers.length > 20, new Set(answers)]).toEqual([true, new Set([401])]);
    expect(performance.now() - begun).toBeGreaterThan(2000 / speed);
    expect(await stored()).toMatchObject({
      current: expect.any(String),
      settled: expect.any(Number),
    });

    // A wait that no busy machine is slow enough to hide.
    settlesAfterMilliseconds.first *= 20;
    const next = performance.now();
    expect(await ask(await create('acme'))).toEqual([200, 200]);
    expect(performance.now() - next).toBeLessThan(settlesAfterMilliseconds.first);
    settlesAfterMilliseconds.first /= 20;
  });

  it('is shown late by whoever finds a secret that nobody has waited for', async () => {
    const Item = { ...checksumSecret.key, current: 'left by a process that was killed' };
    await service.client.send(new PutCommand({ TableName: table, Item }));
    const begun = performance.now();
    await service.admin.keys.create({ account: 'acme', label: 'second' });
    expect(performance.now() - begun).toBeGreaterThan(2000 / speed);
    expect(await stored()).toMatchObject({ ...Item, settled: expect.any(Number) });
  });
});

describe('a secret that can not be read', () => {
  it('is 503 for each key of the right form, and 401 for any other', async () => {
    const { key } = await service.admin.keys.create({ account: 'acme', label: 'unread' });
    const unreachable = Object.assign(Object.create(service.client), {
      send: () => Promise.reject(new Error('no connection')),
    });
    const ask = instance(unreachable);
    expect([await ask(key), await ask(junk), await ask('junk')]).toEqual([
      [503, 503],
      [503, 503],
      [401, 401],
    ]);
  });
});
