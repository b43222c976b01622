import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
} from '@aws-sdk/client-dynamodb';
import { readTemplate } from '../connect/deployed-stacks.ts';
import { CommandError } from '../connect/errors.ts';

/** The finding of one check and its remedy. `warning`: it works now, but may not for everyone or much longer. */
export type CheckOutcome = {
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  found: string;
  /** One sentence or command a line. */
  advice: string | null;
};

/** Nothing to do. */
export const okay = (found: string): CheckOutcome => ({ state: 'ok', found, advice: null });

/** It works, but needs attention. */
export const warning = (found: string, advice: string): CheckOutcome => ({ state: 'warning', found, advice });

/** It does not work. */
export const failed = (found: string, advice: string): CheckOutcome => ({ state: 'failed', found, advice });

/** It was not checked. */
export const skipped = (found: string, advice: string | null = null): CheckOutcome => {
  return { state: 'skipped', found, advice };
};

export type TableName = 'accounts' | 'addresses';

/** The settings of a table that AWS restores none of. */
type TableSettings = {
  deletionProtection: boolean;
  pointInTimeRecovery: boolean;
  /** The attribute with the second when an item expires and DynamoDB may delete it. */
  timeToLive: string | null;
  tags: Record<string, string>;
};

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
export function tableSettingsIn(template: string, table: TableName): TableSettings {
  const prefix = table === 'accounts' ? 'Accounts' : 'Addresses';
  const { Resources = {} } = JSON.parse(template) as { Resources?: Record<string, TableResource> };
  const [, found] =
    Object.entries(Resources).find(([id, { Type }]) => id.startsWith(prefix) && Type === 'AWS::DynamoDB::Table') ?? [];
  if (!found) throw new CommandError('no_table', `The template of the data stack has no ${table} table.`);
  const { DeletionProtectionEnabled, PointInTimeRecoverySpecification, TimeToLiveSpecification, Tags } =
    found.Properties;
  return {
    deletionProtection: DeletionProtectionEnabled ?? false,
    pointInTimeRecovery: PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled ?? false,
    timeToLive: TimeToLiveSpecification?.Enabled ? TimeToLiveSpecification.AttributeName : null,
    tags: Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key, Value])),
  };
}

/**
 * Whether a table is active and has the settings of the deployed template, with the command for each that it lacks: a
 * restore leaves them out, and a deployment doesn't notice. A tag that somebody added is no fault.
 */
export async function checkTable(
  client: DynamoDBClient,
  table: string,
  deployed?: { stack: string; kind: TableName },
): Promise<CheckOutcome> {
  const found = await client.send(new DescribeTableCommand({ TableName: table })).catch((error: Error) => {
    if (error.name !== 'ResourceNotFoundException') throw error;
  });
  const restore = 'Restore it: docs/runbook.md#restore-a-table.';
  // Deploying again does not help: CloudFormation creates nothing for a template that has not changed.
  if (!found?.Table) return failed(`There is no table ${table}.`, restore);
  const { TableStatus: status = 'unknown', TableArn: arn = '' } = found.Table;
  if (status !== 'ACTIVE' && status !== 'UPDATING') return failed(`${table} is ${status}`, 'Wait until it is ACTIVE.');
  if (!deployed) return okay(`${table} is ${status}`);
  const wanted = tableSettingsIn(await readTemplate(deployed.stack), deployed.kind);
  const [backups, expiry, { Tags = [] }] = await Promise.all([
    client.send(new DescribeContinuousBackupsCommand({ TableName: table })),
    client.send(new DescribeTimeToLiveCommand({ TableName: table })),
    client.send(new ListTagsOfResourceCommand({ ResourceArn: arn })),
  ]);
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  const { TimeToLiveStatus, AttributeName } = expiry.TimeToLiveDescription ?? {};
  const timeToLive = /^ENABL/.test(TimeToLiveStatus ?? '') ? AttributeName : null;
  const tags = Object.entries(wanted.tags).filter(
    ([name, value]) => !Tags.some(({ Key, Value }) => Key === name && Value === value),
  );
  const lacks: [what: string, command: string][] = [];
  const named = `--table-name ${table}`;
  if (wanted.pointInTimeRecovery && recovery !== 'ENABLED')
    lacks.push([
      'point-in-time recovery',
      `update-continuous-backups ${named} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
    ]);
  if (wanted.deletionProtection && !found.Table.DeletionProtectionEnabled)
    lacks.push(['deletion protection', `update-table ${named} --deletion-protection-enabled`]);
  if (wanted.timeToLive !== null && timeToLive !== wanted.timeToLive)
    lacks.push([
      'TTL, without which sessions and old usage are never deleted',
      `update-time-to-live ${named} --time-to-live-specification Enabled=true,AttributeName=${wanted.timeToLive}`,
    ]);
  if (tags.length > 0)
    lacks.push([
      `the tags ${tags.map(([name]) => name).join(', ')}`,
      `tag-resource --resource-arn ${arn} --tags ${tags.map(([Key, Value]) => `'Key=${Key},Value=${Value}'`).join(' ')}`,
    ]);
  if (lacks.length === 0) return okay(`${table} is ${status}, with recovery, protection, TTL and tags as deployed`);
  const report = recovery === 'ENABLED' ? warning : failed;
  return report(
    `${table} lacks ${lacks.map(([what]) => what).join('; ')}`,
    ['A deployment does not bring this back. Run:', ...lacks.map(([, command]) => `aws dynamodb ${command}`)].join(
      '\n',
    ),
  );
}
