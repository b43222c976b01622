import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { BatchGetCommand, DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { accessItem } from '../../../core/accounts/access-layout.ts';
import { newAccessItem } from '../../../core/accounts/account-item.ts';
import { dateOf, windowStart } from '../../../core/calendar.ts';
import { environment, usageEnvironment } from '../../../core/names.ts';
import { handler } from '../../../lambdas/usage/handler.ts';

const table = mockClient(DynamoDBDocumentClient);
const topics = mockClient(SNSClient);
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
    [accessItem.start('day')]: windowStart('day', now),
    [accessItem.limit('day')]: 10,
    [accessItem.used('day')]: 10,
  };
}

beforeEach(() => {
  table.reset();
  topics.reset();
  process.env[environment.accountsTable] = 'accounts';
  process.env[usageEnvironment.topic] = 'arn:aws:sns:eu-west-1:123456789012:limits';
  process.env[usageEnvironment.months] = '25';
  process.env[usageEnvironment.messageAtShare] = '0.8';
  process.env[environment.statementsBucket] = 'statements';
  process.env.AWS_REGION = 'eu-west-1';
  bucket.reset();
  bucket.on(ListObjectsV2Command).resolves({ Contents: [{ Key: `statements/${lastMonth}.json` }] });
  bucket.on(GetObjectCommand).resolves({ Body: stored({ month: lastMonth }) });
  table.onAnyCommand().resolves({});
  table.on(QueryCommand).resolves({ Items: ['acme', 'other'].map((item) => ({ account: 'account#', item })) });
  table.on(BatchGetCommand).resolves({ Responses: { accounts: ['acme', 'other'].map(usedUp) } });
});

describe('the function that records usage', () => {
  it('sends the messages about limits to the topic', async () => {
    await handler();
    expect(topics.commandCalls(PublishCommand).map(({ args: [{ input }] }) => input)).toEqual(
      ['acme', 'other'].map((account) => ({
        TopicArn: 'arn:aws:sns:eu-west-1:123456789012:limits',
        Subject: `Account ${account} has used up its limit of this day`,
        Message: expect.stringContaining('Further lookups get 429 until'),
      })),
    );
    const items = table.calls().map(({ args: [{ input }] }) => JSON.stringify(input));
    expect(items.join()).toContain(`notice#day#${dateOf(windowStart('day', now) + 86_400)}`);
  });

  it('fails, for its alarm, when a single account failed', async () => {
    topics.on(PublishCommand).rejectsOnce(new Error('no such topic'));
    await expect(handler()).rejects.toThrow('The usage of 1 account(s) was not recorded');
    expect(topics.commandCalls(PublishCommand)).toHaveLength(2);
    expect(bucket.calls()).toEqual([]);
  });

  it('closes the month before, an hour after its end, with one object of a fixed name written last', async () => {
    bucket.reset();
    bucket.on(GetObjectCommand).rejects(Object.assign(new Error('no such key'), { name: 'NoSuchKey' }));
    bucket.on(ListObjectsV2Command).resolves({});
    bucket.on(PutObjectCommand).resolves({});
    const clock = jest.spyOn(Date, 'now');
    for (const [minutes, written] of [
      [59, 0],
      [60, 3],
    ] as const) {
      clock.mockReturnValue(windowStart('month', now) * 1000 + minutes * 60_000);
      await handler();
      expect(bucket.commandCalls(PutObjectCommand)).toHaveLength(written);
    }
    clock.mockRestore();
    const inputs = bucket.commandCalls(PutObjectCommand).map(({ args: [{ input }] }) => input);
    expect(inputs.map(({ Bucket, IfNoneMatch }) => [Bucket, IfNoneMatch])).toEqual(Array(3).fill(['statements', '*']));
    expect(inputs.map(({ Key }) => Key)).toEqual([
      expect.stringMatching(/^statements\/\d{4}-\d\d\/[0-9a-f]{16}\.jsonl$/),
      expect.stringMatching(/^statements\/\d{4}-\d\d\/[0-9a-f]{16}\.csv$/),
      `statements/${lastMonth}.json`,
    ]);
  });
});
