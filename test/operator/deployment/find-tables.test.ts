import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { faultsOfEvent } from '../../support/event-schema.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { run } from '../command-line.ts';
import { type AwsOperations, startFakeAws, testCaller, useAws } from '../fake-aws.ts';

const operations: AwsOperations = {};
const outputs = { AccountsTableName: testTables.accounts, AddressesTableName: 'x' };

const service = startForTests(startAddressService);
const aws = startForTests(() =>
  startFakeAws({ 'bag-adres-prod-data': { outputs } }, operations, service.endpoint),
);
beforeAll(async () => {
  useAws(aws.endpoint);
  await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
});
beforeEach(() => {
  aws.asked.length = 0;
  Object.assign(operations, {
    PutEvents: () => ({ value: { FailedEntryCount: 0, Entries: [{ EventId: '1' }] } }),
  });
});

/** The events that were sent: type and detail. */
const events = () =>
  aws.asked
    .filter(({ operation }) => operation === 'PutEvents')
    .flatMap(({ input }) => input.Entries as { DetailType: string; Detail: string }[])
    .map(({ DetailType, Detail }) => ({ type: DetailType, detail: JSON.parse(Detail) }));

const deployment = ['--stage', 'prod'];

describe('a change by command line', () => {
  it('in a deployment is an event, with who made it as AWS sees it', async () => {
    expect((await run(['account', 'create', 'acme', '--plan', 'small', ...deployment])).exit).toBe(
      0,
    );
    const created = await run([
      'key',
      'create',
      '--account',
      'acme',
      '--label',
      'shop',
      ...deployment,
    ]);
    expect(created.exit).toBe(0);
    const sent = events();
    expect(sent.map(({ type }) => type)).toEqual(['account.created', 'key.created']);
    expect(sent.flatMap(({ type, detail }) => faultsOfEvent(type, detail))).toEqual([]);
    expect(sent[1]?.detail).toMatchObject({
      deployment: 'bag-adres-prod',
      account: 'acme',
      actor: testCaller,
    });
    expect(JSON.stringify(sent)).not.toContain(created.out.trim());
  });

  it('is made all the same where the caller may send no event', async () => {
    operations.PutEvents = () => ({ error: 'AccessDeniedException' });
    const { exit, err } = await run(['account', 'suspend', 'acme', ...deployment]);
    expect([exit, err]).toEqual([0, expect.stringContaining('Account "acme" is active')]);
    expect((await service.admin.accounts.show('acme')).state).toBe('suspended');
  });

  it('that changes nothing is no event', async () => {
    expect((await run(['account', 'show', 'acme', ...deployment])).exit).toBe(0);
    expect(events()).toEqual([]);
  });
});
