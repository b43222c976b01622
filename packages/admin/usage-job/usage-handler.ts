import { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment, requireEnvironment, usageEnvironment } from '../../../core/environment.ts';
import { eventSource, eventTypes } from '../../../core/event-types.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import { createAdminStore } from '../accounts/admin-store.ts';
import { statementsOf } from '../monthly-statements.ts';
import { runUsageJob, thresholdDetail } from './usage-job.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient());
const events = new EventBridgeClient();
const s3 = new S3Client();
const logger = new Logger({ serviceName: 'usage' });

/**
 * Records the days of usage that have ended, reports limits that are nearly or wholly used up, and
 * closes a month.
 */
export async function handler(): Promise<void> {
  const deployment = requireEnvironment(usageEnvironment.deployment);
  const store = createAdminStore(
    client,
    requireEnvironment(environment.accountsTable),
    'usage',
    Date.now,
  );
  const { recorded, messages, failures } = await runUsageJob(store, {
    months: Number(requireEnvironment(usageEnvironment.months)),
    messageAtShare: Number(requireEnvironment(usageEnvironment.messageAtShare)),
    send: async (message) => {
      const Detail = JSON.stringify(await thresholdDetail(store, deployment, message));
      const entry = { Source: eventSource, DetailType: eventTypes.quotaThreshold, Detail };
      const { FailedEntryCount = 0, Entries } = await events.send(
        new PutEventsCommand({ Entries: [entry] }),
      );
      if (FailedEntryCount > 0) {
        throw new Error(`EventBridge did not take an event: ${Entries?.[0]?.ErrorMessage}`);
      }
    },
  });
  logger.info('looked at the usage of all accounts', {
    recorded,
    messages,
    failed: failures.length,
  });
  for (const { account, error } of failures) {
    logger.error('an account failed', { account, error: error as Error });
  }
  if (failures.length > 0) {
    throw new Error(`The usage of ${failures.length} account(s) was not recorded; see the log.`);
  }
  const statements = statementsOf(
    store,
    s3Storage(s3, requireEnvironment(environment.statementsBucket)),
  );
  // At most one in a run, so that a long history does not take longer than a run may.
  const closed = await statements.closeNext();
  if (closed) logger.info('closed a month', { ...closed });
}
