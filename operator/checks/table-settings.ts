import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
} from '@aws-sdk/client-dynamodb';
import { readTemplate } from '../deployment/deployed-stacks.ts';
import { CommandError } from '../deployment/errors.ts';

/**
 * The finding of one check and its remedy. `warning`: it works now, but may not for everyone or
 * much longer.
 */
export type CheckOutcome = {
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  found: string;
  /** One sentence or command a line. */
  advice: string | null;
};

export const okay = (found: string): CheckOutcome => ({ state: 'ok', found, advice: null });
export const warning = (found: string, advice: string): CheckOutcome => ({
  state: 'warning',
  found,
  advice,
});
export const failed = (found: string, advice: string): CheckOutcome => ({
  state: 'failed',
  found,
  advice,
});
/** It was not checked. */
export const skipped = (found: string, advice: string | null = null): CheckOutcome => ({
  state: 'skipped',
  found,
  advice,
});

export type TableName = 'accounts' | 'addresses';

type TableResource = {
  Type: string;
  Properties: {
    DeletionProtectionEnabled?: boolean;
    PointInTimeRecoverySpecification?: { PointInTimeRecoveryEnabled: boolean };
    TimeToLiveSpecification?: { AttributeName: string; Enabled: boolean };
    Tags?: { Key: string; Value: string }[];
  };
};

/** The settings that a template gives its table. @throws CommandError when it has no such table */
function tableIn(template: string, table: TableName): TableResource['Properties'] {
  const prefix = table === 'accounts' ? 'Accounts' : 'Addresses';
  const { Resources = {} } = JSON.parse(template) as { Resources?: Record<string, TableResource> };
  const [, found] =
    Object.entries(Resources).find(
      ([id, { Type }]) => id.startsWith(prefix) && Type === 'AWS::DynamoDB::Table',
    ) ?? [];
  if (found) return found.Properties;
  throw new CommandError('no_table', `The template of the data stack has no ${table} table.`);
}

/**
 * Whether a table is active and has the settings of the deployed template, with the command for
 * each that it lacks: a restore leaves them out, and a deployment doesn't notice. A tag that
 * somebody added is no fault.
 */
export async function checkTable(
  client: DynamoDBClient,
  table: string,
  deployed?: { stack: string; kind: TableName },
): Promise<CheckOutcome> {
  const found = await client
    .send(new DescribeTableCommand({ TableName: table }))
    .catch((error: Error) => {
      if (error.name !== 'ResourceNotFoundException') throw error;
    });
  const restore = 'Restore it: docs/runbook.md#restore-a-table.';
  // Deploying again does not help: CloudFormation creates nothing for a template that has not
  // changed.
  if (!found?.Table) return failed(`There is no table ${table}.`, restore);
  const { TableStatus: status = 'unknown', TableArn: arn = '' } = found.Table;
  if (status !== 'ACTIVE' && status !== 'UPDATING') {
    return failed(`${table} is ${status}`, 'Wait until it is ACTIVE.');
  }
  if (!deployed) return okay(`${table} is ${status}`);
  const wanted = tableIn(await readTemplate(deployed.stack), deployed.kind);
  const [backups, expiry, { Tags = [] }] = await Promise.all([
    client.send(new DescribeContinuousBackupsCommand({ TableName: table })),
    client.send(new DescribeTimeToLiveCommand({ TableName: table })),
    client.send(new ListTagsOfResourceCommand({ ResourceArn: arn })),
  ]);
  const recovery =
    backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  const { TimeToLiveStatus, AttributeName } = expiry.TimeToLiveDescription ?? {};
  const timeToLive = /^ENABL/.test(TimeToLiveStatus ?? '') ? AttributeName : null;
  const { TimeToLiveSpecification: ttl, Tags: wantedTags = [] } = wanted;
  const tags = wantedTags.filter(
    (tag) => !Tags.some(({ Key, Value }) => Key === tag.Key && Value === tag.Value),
  );
  const lacks: [what: string, command: string][] = [];
  const named = `--table-name ${table}`;
  if (
    wanted.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled &&
    recovery !== 'ENABLED'
  ) {
    lacks.push([
      'point-in-time recovery',
      `update-continuous-backups ${named} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
    ]);
  }
  if (wanted.DeletionProtectionEnabled && !found.Table.DeletionProtectionEnabled) {
    lacks.push(['deletion protection', `update-table ${named} --deletion-protection-enabled`]);
  }
  if (ttl?.Enabled && timeToLive !== ttl.AttributeName) {
    lacks.push([
      'TTL, without which sessions and old usage are never deleted',
      `update-time-to-live ${named} --time-to-live-specification Enabled=true,AttributeName=${ttl.AttributeName}`,
    ]);
  }
  if (tags.length > 0) {
    lacks.push([
      `the tags ${tags.map(({ Key }) => Key).join(', ')}`,
      `tag-resource --resource-arn ${arn} --tags ${tags.map(({ Key, Value }) => `'Key=${Key},Value=${Value}'`).join(' ')}`,
    ]);
  }
  if (lacks.length === 0) {
    return okay(`${table} is ${status}, with recovery, protection, TTL and tags as deployed`);
  }
  const report = recovery === 'ENABLED' ? warning : failed;
  const commands = lacks.map(([, command]) => `aws dynamodb ${command}`);
  const advice = ['A deployment does not bring this back. Run:', ...commands].join('\n');
  return report(`${table} lacks ${lacks.map(([what]) => what).join('; ')}`, advice);
}
