import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { readTemplate } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { type Patience, waitUntil } from '../connect/wait-for.ts';

export type TableName = 'accounts' | 'addresses';

/** What a table has besides its items and keys. A restore sets none of it. */
export type TableSettings = {
  deletionProtection: boolean;
  pointInTimeRecovery: boolean;
  /** The attribute with the second after which DynamoDB deletes an item. */
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

/**
 * The settings that the deployed template gives a table: those to restore, also where the table no longer exists.
 * @throws CommandError when the template has no such table
 */
export async function deployedSettings(dataStack: string, table: TableName): Promise<TableSettings> {
  return tableSettingsIn(await readTemplate(dataStack), table);
}

/** @throws CommandError when the template has no such table */
export function tableSettingsIn(template: string, table: TableName): TableSettings {
  const prefix = table === 'accounts' ? 'Accounts' : 'Addresses';
  const { Resources = {} } = JSON.parse(template) as { Resources?: Record<string, TableResource> };
  const [, found] =
    Object.entries(Resources).find(([id, { Type }]) => id.startsWith(prefix) && Type === 'AWS::DynamoDB::Table') ?? [];
  if (!found) throw new CommandError('no_table', `The template of the data stack has no ${table} table.`);
  const {
    DeletionProtectionEnabled,
    PointInTimeRecoverySpecification,
    TimeToLiveSpecification,
    Tags = [],
  } = found.Properties;
  return {
    deletionProtection: DeletionProtectionEnabled ?? false,
    pointInTimeRecovery: PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled ?? false,
    timeToLive: TimeToLiveSpecification?.Enabled ? TimeToLiveSpecification.AttributeName : null,
    tags: Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value])),
  };
}

/** The table, or `undefined` where there is none. */
export async function findTable(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  const found = await client.send(new DescribeTableCommand({ TableName })).catch((error: Error) => {
    if (error.name !== 'ResourceNotFoundException') throw error;
  });
  return found?.Table;
}

/** The settings that the table has now. */
export async function currentSettings(client: DynamoDBClient, TableName: string): Promise<TableSettings> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const [backups, expiry, tags] = await Promise.all([
    client.send(new DescribeContinuousBackupsCommand({ TableName })),
    client.send(new DescribeTimeToLiveCommand({ TableName })),
    client.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn })),
  ]);
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  const { TimeToLiveStatus: status, AttributeName } = expiry.TimeToLiveDescription ?? {};
  return {
    deletionProtection: Table?.DeletionProtectionEnabled ?? false,
    pointInTimeRecovery: recovery?.PointInTimeRecoveryStatus === 'ENABLED',
    timeToLive: status === 'ENABLED' || status === 'ENABLING' ? (AttributeName ?? null) : null,
    tags: Object.fromEntries((tags.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value])),
  };
}

/** What a table lacks of its settings. A tag that somebody added is no fault. */
async function lacks(client: DynamoDBClient, table: string, wanted: TableSettings) {
  const now = await currentSettings(client, table);
  return {
    protection: wanted.deletionProtection && !now.deletionProtection,
    recovery: wanted.pointInTimeRecovery && !now.pointInTimeRecovery,
    expiry: now.timeToLive === wanted.timeToLive ? null : wanted.timeToLive,
    tags: Object.entries(wanted.tags).filter(([name, value]) => now.tags[name] !== value),
  };
}

/** What a table lacks of its settings, in words; nothing when it has them all. */
export async function missingSettings(client: DynamoDBClient, table: string, wanted: TableSettings): Promise<string[]> {
  const { protection, recovery, expiry, tags } = await lacks(client, table, wanted);
  return [
    ...(protection ? ['deletion protection'] : []),
    ...(recovery ? ['point-in-time recovery'] : []),
    ...(expiry !== null ? [`expiry by the attribute "${expiry}" (TTL)`] : []),
    ...tags.map(([name]) => `the tag ${name}`),
  ];
}

/** Gives a table the settings that it lacks, and changes no other. */
export async function applySettings(
  client: DynamoDBClient,
  TableName: string,
  wanted: TableSettings,
  patience: Patience,
): Promise<void> {
  const { protection, recovery, expiry, tags } = await lacks(client, TableName, wanted);
  if (recovery) await waitUntil(patience, () => enableRecovery(client, TableName));
  if (expiry !== null) {
    const TimeToLiveSpecification = { AttributeName: expiry, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
  if (tags.length > 0) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const Tags = tags.map(([Key, Value]) => ({ Key, Value }));
    await client.send(new TagResourceCommand({ ResourceArn: Table?.TableArn, Tags }));
  }
  // Last: until then an operator who sees a mistake can delete the table and begin again.
  if (protection) await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
}

/** Whether point-in-time recovery is on now: DynamoDB may still be preparing backups of a table just restored. */
async function enableRecovery(client: DynamoDBClient, TableName: string): Promise<boolean> {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  try {
    await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
    return true;
  } catch (error) {
    if ((error as Error).name === 'ContinuousBackupsUnavailableException') return false;
    throw error;
  }
}
