import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../core/calendar.ts';
import { optionalEnvironment, requireEnvironment } from '../../../core/environment.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import {
  createInstance,
  newAccount,
  startAddressService,
  testChecksumSecret,
  testTables,
} from '../../support/address-service.ts';

const newSecret = 'the secret after the rotation';

describe('a rotation of the checksum secret, as the runbook has it', () => {
  let service: Awaited<ReturnType<typeof startAddressService>>;
  beforeAll(async () => {
    service = await startAddressService();
  });
  afterAll(() => service.stop());

  const instanceWith = (checksumSecret: string, previousChecksumSecret?: string) =>
    createInstance(service.client, systemClock, {
      checksumSecret,
      ...(previousChecksumSecret && { previousChecksumSecret }),
    });

  it('refuses no request while versions of the function are mixed, until the old secret is dropped', async () => {
    const { client } = service;
    const { id, key: oldKey } = await newAccount(service, { day: 1e6 });
    const issueWith = async (checksumSecret: string) =>
      (
        await createAdmin({ client, table: testTables.accounts, checksumSecret }).keys.create({
          account: id,
          label: 'x',
        })
      ).key;
    const keys = [oldKey];
    const statuses: number[] = [];
    /**
     * Sends each key to each instance, lookups and validations at the same time, as several instances answer at once.
     */
    const load = async (instances: ReturnType<typeof instanceWith>[]) => {
      const sent = instances.flatMap(({ lookUp, send }) =>
        keys.flatMap((key) => [lookUp(key), send('/v1/auth/validate', { headers: { 'x-api-key': key } })]),
      );
      statuses.push(...(await Promise.all(sent)).map(({ status }) => status));
    };

    const before = instanceWith(testChecksumSecret);
    const during = instanceWith(newSecret, testChecksumSecret);
    await load([before]);
    // The deployment shifts traffic; the current version of the secret is still the old one, so keys are issued with
    // it.
    keys.push(await issueWith(testChecksumSecret));
    await load([before, during]);
    await load([during]);
    // The stage AWSCURRENT moves: from here on keys are issued with the new secret.
    keys.push(await issueWith(newSecret));
    await load([during]);
    expect(statuses).toHaveLength(20);
    expect([...new Set(statuses)]).toEqual([200]);

    const after = instanceWith(newSecret);
    const [, , newKey = ''] = keys;
    expect((await after.lookUp(newKey)).status).toBe(200);
    service.sent.length = 0;
    expect((await after.lookUp(oldKey)).status).toBe(401);
    expect(service.sent).toEqual([]);
  });
});

it('a variable that CloudFormation did not resolve stops the function from starting, with an error that names it', () => {
  process.env.SOME_SECRET = '{{resolve:secretsmanager:arn:SecretString:::}}';
  for (const read of [requireEnvironment, optionalEnvironment])
    expect(() => read('SOME_SECRET')).toThrow('The environment variable SOME_SECRET is an unresolved reference.');
});
