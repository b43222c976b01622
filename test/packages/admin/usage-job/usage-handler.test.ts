import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { newAccessItem, windowItem } from '../../../../core/accounts/account-item.ts';
import { dateOf, windowStart } from '../../../../core/calendar.ts';
import { environment, usageEnvironment } from '../../../../core/environment.ts';
import { handler } from '../../../../packages/admin/usage-job/usage-handler.ts';
import { faultsOfEvent } from '../../../support/event-schema.ts';

const table = mockClient(DynamoDBDocumentClient);
const events = mockClient(EventBridgeClient);
const bucket = mockClient(S3Client);
const now = Math.floor(Date.now() / 1000);

const lastMonth = dateOf(windowStart('month', now) - 1).slice(0, 7);

/** The body of a stored object. */
function stored(content: object) {
  return { transformToByteArray: async () => Buffer.from(JSON.stringify(content)) } as never;
}

/** An account that has used up its limit of the day. */
function usedUp(id: string) {
  const plan = { code: 'ten', state: 'active', limits: { day: 10 }, version: 1 } as const;
  return {
    ...newAccessItem(id, { plan, ownLimits: {} }, now),
    [windowItem.day.start]: windowStart('day', now),
    [windowItem.day.limit]: 10,
    [windowItem.day.used]: 10,
  };
}

beforeEach(() => {
  table.reset();
  events.reset();
  process.env[environment.accountsTable] = 'accounts';
  events.onAnyCommand().resolves({});
  process.env[usageEnvironment.deployment] = 'bag-adres-prod';
  process.env[usageEnvironment.months] = '25';
  process.env[usageEnvironment.messageAtShare] = '0.8';
  process.env[environment.statementsBucket] = 'statements';
  process.env.AWS_REGION = 'eu-west-1';
  bucket.reset();
  bucket.on(GetObjectCommand).resolves({ Body: stored({ month: lastMonth }) });
  table.onAnyCommand().resolves({});
  table.on(GetCommand).callsFake(({ Key }) => {
    if (Key.item.startsWith('access')) return { Item: usedUp(Key.account) };
    if (Key.item === 'retention') return { Item: { since: lastMonth } };
    return Key.item === 'details' && Key.account === 'acme'
      ? { Item: { name: 'Acme B.V.', contact: 'Ann, 020 123' } }
      : {};
  });
  table.on(QueryCommand).callsFake(({ ExpressionAttributeValues: values }) => ({
    Items:
      values[':prefix'] === 'member#'
        ? [{ account: values[':account'], item: 'member#jo@example.nl', role: 'admin', added: 1 }]
        : ['acme', 'other'].map((item) => ({ account: 'account#', item })),
  }));
  table.on(BatchGetCommand).resolves({ Responses: { accounts: ['acme', 'other'].map(usedUp) } });
});

describe('the function that records usage', () => {
  it('puts an event about each limit that is used up', async () => {
    await handler();
    const entries = events
      .commandCalls(PutEventsCommand)
      .flatMap(({ args: [{ input }] }) => input.Entries ?? []);
    expect(entries).toMatchObject(
      Array(2).fill({ Source: 'bag-adres', DetailType: 'quota.threshold' }),
    );
    const details = entries.map(({ Detail = '' }) => JSON.parse(Detail));
    for (const detail of details) expect(faultsOfEvent('quota.threshold', detail)).toEqual([]);
    const shared = {
      version: 1,
      deployment: 'bag-adres-prod',
      level: 'reached',
      window: 'day',
      limit: 10,
      used: 10,
      exhausted: true,
      resets: expect.any(String),
      contacts: ['jo@example.nl'],
    };
    const summary = (account: string) =>
      expect.stringContaining(
        `Account ${account} has used 10 of the 10 lookups of this day. Further lookups`,
      );
    expect(details).toEqual([
      {
        ...shared,
        account: 'acme',
        name: 'Acme B.V.',
        contact: 'Ann, 020 123',
        summary: summary('acme (Acme B.V.)'),
      },
      { ...shared, account: 'other', name: null, contact: null, summary: summary('other') },
    ]);
    const items = table.calls().map(({ args: [{ input }] }) => JSON.stringify(input));
    expect(items.join()).toContain(`notice#day#${dateOf(windowStart('day', now) + 86_400)}`);
  });

  it('fails, for its alarm, when a single account failed', async () => {
    events.on(PutEventsCommand).rejectsOnce(new Error('no such bus')).resolves({});
    await expect(handler()).rejects.toThrow('The usage of 1 account(s) was not recorded');
    expect(events.commandCalls(PutEventsCommand)).toHaveLength(2);
    expect(bucket.calls()).toEqual([]);
  });

  it('closes the month before, an hour after its end, with one object of a fixed name written last', async () => {
    bucket.reset();
    bucket
      .on(GetObjectCommand)
      .rejects(Object.assign(new Error('no such key'), { name: 'NoSuchKey' }));
    bucket.on(PutObjectCommand).resolves({});
    const clock = jest.spyOn(Date, 'now');
    for (const [minutes, written] of [
      [59, 0],
      [60, 2],
    ] as const) {
      clock.mockReturnValue(windowStart('month', now) * 1000 + minutes * 60_000);
      await handler();
      expect(bucket.commandCalls(PutObjectCommand)).toHaveLength(written);
    }
    clock.mockRestore();
    const inputs = bucket.commandCalls(PutObjectCommand).map(({ args: [{ input }] }) => input);
    expect(inputs.map(({ Bucket, IfNoneMatch }) => [Bucket, IfNoneMatch])).toEqual(
      Array(2).fill(['statements', '*']),
    );
    expect(inputs.map(({ Key }) => Key)).toEqual([
      expect.stringMatching(/^statements\/\d{4}-\d\d\/[0-9a-f]{16}\.csv$/),
      `statements/${lastMonth}.json`,
    ]);
  });
});
