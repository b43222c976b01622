import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { BackupClient, GetBackupPlanCommand, paginateListCopyJobs } from '@aws-sdk/client-backup';
import { copiesEnvironment, requireEnvironment } from '../../core/environment.ts';
import { metricNames, metricNamespaceIn } from '../../core/metrics.ts';

const client = new BackupClient();
const metrics = new Metrics({ namespace: metricNamespaceIn(process.env), serviceName: 'backup' });

/** Reports how old the last copy of the accounts table in the other vault is, every hour. */
export async function handler(): Promise<void> {
  metrics.addMetric(
    metricNames.backupCopyAge,
    MetricUnit.Count,
    Math.floor(await hoursSinceCopy(Date.now())),
  );
  metrics.publishStoredMetrics();
}

const day = 86_400_000;

/** Hours since the last copy was completed; before the first one, since the plan was made. */
async function hoursSinceCopy(now: number): Promise<number> {
  const BackupPlanId = requireEnvironment(copiesEnvironment.plan);
  const { CreationDate } = await client.send(new GetBackupPlanCommand({ BackupPlanId }));
  const jobs = paginateListCopyJobs(
    { client },
    {
      ByResourceArn: requireEnvironment(copiesEnvironment.table),
      ByDestinationVaultArn: requireEnvironment(copiesEnvironment.vault),
      ByState: 'COMPLETED',
      ByCompleteAfter: new Date(now - 7 * day),
    },
  );
  // A week without a copy is reported as a week, even if the plan is older.
  let last = Math.max(now - 7 * day, CreationDate?.getTime() ?? 0);
  for await (const { CopyJobs = [] } of jobs) {
    last = Math.max(last, ...CopyJobs.map(({ CompletionDate }) => CompletionDate?.getTime() ?? 0));
  }
  return (now - last) / 3_600_000;
}
