import { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../shared/accounts/admin-store.ts';
import type { LimitMessage } from '../shared/accounts/limit-messages.ts';
import { runUsageJob } from '../shared/accounts/usage-job.ts';
import { requireEnvironment } from '../shared/environment.ts';
import { environment, usageEnvironment } from '../shared/tables.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient());
const topics = new SNSClient();
const logger = new Logger({ serviceName: 'usage' });

/** Records the days of usage that have ended, and reports limits that are nearly or entirely used up. */
export async function handler(): Promise<void> {
  const TopicArn = requireEnvironment(usageEnvironment.topic);
  const store = createAdminStore(client, requireEnvironment(environment.accountsTable), 'usage', Date.now);
  const { recorded, messages, failures } = await runUsageJob(store, {
    months: Number(requireEnvironment(usageEnvironment.months)),
    messageAtShare: Number(requireEnvironment(usageEnvironment.messageAtShare)),
    send: async (message) => {
      await topics.send(new PublishCommand({ TopicArn, ...renderMessage(message) }));
    },
  });
  logger.info('looked at the usage of all accounts', { recorded, messages, failed: failures.length });
  for (const { account, error } of failures) logger.error('an account failed', { account, error: error as Error });
  if (failures.length > 0) throw new Error(`The usage of ${failures.length} account(s) was not recorded; see the log.`);
}

/** The message as an e-mail; SNS takes up to 100 characters of subject. */
export function renderMessage({ account, window, limit, used, isExhausted, resets }: LimitMessage) {
  const share = Math.floor((used / limit) * 100);
  const until = new Date(resets * 1000).toISOString().replace('.000Z', 'Z');
  const rest = isExhausted ? `Further lookups get 429 until ${until}.` : `${limit - used} are left until ${until}.`;
  return {
    Subject: isExhausted
      ? `Account ${account} has used up its limit of this ${window}`
      : `Account ${account} has used ${share} % of its limit of this ${window}`,
    Message: `Account ${account} has used ${used} of the ${limit} lookups of this ${window}. ${rest}`,
  };
}
