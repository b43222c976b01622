import { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../../core/accounts/admin/admin-store.ts';
import { statementBucket } from '../../core/accounts/admin/statement-bucket.ts';
import { statementsOf } from '../../core/accounts/admin/statements.ts';
import { environment, requireEnvironment, usageEnvironment } from '../../core/names.ts';
import { renderMessage, runUsageJob } from './usage-job.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient());
const topics = new SNSClient();
const s3 = new S3Client();
const logger = new Logger({ serviceName: 'usage' });

/** Records the days of usage that have ended, reports limits that are nearly or entirely used up, and closes a month. */
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
  const statements = statementsOf(store, statementBucket(s3, requireEnvironment(environment.statementsBucket)));
  // At most one in a run, so that a long history does not take longer than a run may.
  const closed = await statements.closeNext();
  if (closed) logger.info('closed a month', { ...closed });
}
