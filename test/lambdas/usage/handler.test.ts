import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { BatchGetCommand, DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { accessItem, newAccessItem } from '../../../core/accounts/account-item.ts';
import { dateOf, windowStart } from '../../../core/calendar.ts';
import { environment, usageEnvironment } from '../../../core/names.ts';
import { handler } from '../../../lambdas/usage/handler.ts';

const table = mockClient(DynamoDBDocumentClient);
const topics = mockClient(SNSClient);
const now = Math.floor(Date.now() / 1000);

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
    expect(JSON.stringify(table.calls().at(-1)?.args[0].input)).toContain(dateOf(windowStart('day', now) + 86_400));
  });

  it('fails, for its alarm, when a single account failed', async () => {
    topics.on(PublishCommand).rejectsOnce(new Error('no such topic'));
    await expect(handler()).rejects.toThrow('The usage of 1 account(s) was not recorded');
    expect(topics.commandCalls(PublishCommand)).toHaveLength(2);
  });
});
