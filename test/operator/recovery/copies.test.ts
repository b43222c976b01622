import { Metrics } from '@aws-lambda-powertools/metrics';
import { BackupClient, GetBackupPlanCommand, ListCopyJobsCommand } from '@aws-sdk/client-backup';
import { afterEach, expect, it, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { copiesEnvironment } from '../../../core/environment.ts';
import { handler } from '../../../operator/recovery/copies.ts';

const backup = mockClient(BackupClient);
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

afterEach(() => {
  backup.reset();
  jest.restoreAllMocks();
  for (const name of Object.values(copiesEnvironment)) delete process.env[name];
});

it.each([
  ['the newest copy, on whatever page', [[30], [6, 54]], 400, 6],
  ['the plan, before its first copy', [[]], 3, 3],
  ['a week, of a plan without any copy', [[]], 400, 168],
])('the age of the last copy is that of %s', async (_, pages, planAge, expected) => {
  const names = { plan: 'p1', table: 'arn:table', vault: 'arn:vault' };
  for (const [name, value] of Object.entries(names)) {
    process.env[copiesEnvironment[name as keyof typeof names]] = value;
  }
  backup
    .on(GetBackupPlanCommand, { BackupPlanId: 'p1' })
    .resolves({ CreationDate: hoursAgo(planAge) });
  for (const [at, hours] of pages.entries()) {
    const asked = {
      ByResourceArn: 'arn:table',
      ByDestinationVaultArn: 'arn:vault',
      ByState: 'COMPLETED',
    } as const;
    backup.on(ListCopyJobsCommand, { ...asked, ...(at > 0 && { NextToken: `${at}` }) }).resolves({
      CopyJobs: hours.map((age) => ({ CompletionDate: hoursAgo(age) })),
      ...(at + 1 < pages.length && { NextToken: `${at + 1}` }),
    });
  }
  const metric = jest.spyOn(Metrics.prototype, 'addMetric').mockReturnThis();
  await handler();
  expect(metric).toHaveBeenCalledWith('BackupCopyAgeHours', 'Count', expected);
});
