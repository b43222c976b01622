import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import {
  checksumSecret,
  createChecksumSecrets,
  settledSecret,
  settlesAfterMilliseconds,
} from '../../../core/accounts/checksum-secret.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { createInstance, testAddress } from '../../support/address-service.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { storedItems } from '../../support/stored-items.ts';
import { startLocalRun } from '../command-line.ts';

/**
 * How much faster than the wall clock a rotation waits here, and the secrets of an instance age: a
 * rotation waits twice as long as an instance may, and a busy machine needs that second for its
 * answers.
 */
const speed = 4;
const fastClock = () => Date.now() * speed;
settlesAfterMilliseconds.next /= speed;

const bench = startForTests(startLocalRun);
let client: DynamoDBDocumentClient;
const admin = () => createAdmin({ client, table: 'accounts' });
const secretNow = async () =>
  (await client.send(new GetCommand({ TableName: 'accounts', Key: checksumSecret.key }))).Item;

beforeAll(async () => {
  client = DynamoDBDocumentClient.from(bench.client);
  await admin().plans.put({ code: 'standard', limits: { day: 1e6 } });
  await admin().accounts.create({ id: 'acme', plan: 'standard' });
});

/** An instance of both functions, as it is deployed. */
function instance() {
  const checksumSecrets = createChecksumSecrets(bench.client, 'accounts', fastClock);
  const { lookUp, send } = createInstance(bench.client, { checksumSecrets });
  return async (key: string) => {
    const answers = await Promise.all([
      lookUp(key, testAddress),
      send('/v1/auth/validate', { headers: { 'x-api-key': key } }),
    ]);
    return answers.map(({ status }) => status);
  };
}

it('a rotation refuses no key while requests, junk and new keys come in, and ends with the last old key', async () => {
  let made = 0;
  const create = async () =>
    (await admin().keys.create({ account: 'acme', label: `${++made}` })).key;
  const instances = [instance()];
  const keys = [await create(), await create()];
  const junk = issueApiKey('acme', 'another deployment').key;
  let isRotating = true;
  const statuses: number[] = [];
  const refused: number[] = [];
  const load = async () => {
    while (isRotating) {
      for (const ask of instances) {
        const [answers, ofJunk] = await Promise.all([Promise.all(keys.map(ask)), ask(junk)]);
        statuses.push(...answers.flat());
        refused.push(...ofJunk);
      }
      if (made < 8) keys.push(await create());
      await sleep(200);
    }
  };
  const running = load();
  // Its secrets are as fresh as can be, so it reads the new one as late as an instance may.
  instances.push(instance());
  const started = await bench.json('rotate-checksum-secret', '--yes');
  keys.push(await create());
  instances.push(instance());
  await sleep(300);
  isRotating = false;
  await running;
  expect(started.step).toBe('replace');
  expect(statuses.length).toBeGreaterThan(20);
  expect([new Set(statuses), new Set(refused)]).toEqual([new Set([200]), new Set([401])]);

  const { previous, next } = (await secretNow()) ?? {};
  expect([previous, next]).toEqual(['the secret of the tests', undefined]);
  const { keys: old } = await bench.json('rotate-checksum-secret');
  const [newest = ''] = keys.slice(-1);
  const oldIds: string[] = old.map(({ key_id: id }: { key_id: string }) => id);
  expect(keys.filter((key) => oldIds.some((id) => key.includes(id)))).not.toContain(newest);
  expect((await bench.run('rotate-checksum-secret')).out).toContain(
    "Replace each of the old one's keys",
  );
  for (const keyId of oldIds) await admin().keys.revoke({ account: 'acme', keyId });

  expect((await bench.run('rotate-checksum-secret', '--plan')).out).toContain(
    'Ends the old checksum secret',
  );
  expect(await bench.json('rotate-checksum-secret', '--yes')).toEqual({ step: 'done', keys: [] });
  expect(await secretNow()).not.toHaveProperty('previous');
  expect(await instance()(newest)).toEqual([200, 200]);
  const audit = (await storedItems(client, 'accounts')).filter(
    ({ account }) => account === 'service#',
  );
  expect(audit.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['checksum-secret rotate', 'done'],
    ['checksum-secret end', 'done'],
  ]);
});

it('an interrupted rotation goes on with the secret that it has added', async () => {
  await client.send(
    new PutCommand({ TableName: 'accounts', Item: { ...settledSecret('one'), next: 'two' } }),
  );
  await bench.run('rotate-checksum-secret', '--yes');
  expect(await secretNow()).toMatchObject({ current: 'two', previous: 'one' });
});

inSweep(
  'the end of a rotation is refused if a key of the old secret was still being stored when it began',
  async () => {
    const items = async () => storedItems(client, 'accounts');
    const put = (Item: Record<string, unknown>) =>
      client.send(new PutCommand({ TableName: 'accounts', Item }));
    await put(settledSecret('one'));
    await admin().keys.create({ account: 'acme', label: 'late' });
    const late = (await items()).filter(({ account }) => account === 'acme');
    await put({ ...settledSecret('two'), previous: 'one' });
    const { keys: old } = await bench.json('rotate-checksum-secret');
    for (const { key_id: keyId } of old) await admin().keys.revoke({ account: 'acme', keyId });
    const ends = async () =>
      (await items()).filter(({ action }) => action === 'checksum-secret end').length;
    const before = await ends();
    const ending = bench.run('rotate-checksum-secret', '--yes');
    while ((await ends()) === before) await sleep(20);
    for (const item of late) await put(item);
    expect((await ending).err).toContain('A key of the old secret was created meanwhile.');
    expect(await secretNow()).toMatchObject({ current: 'two', previous: 'one' });
  },
);
