import { DeleteTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../core/names.ts';
import type { AwsAnswer, AwsOperations } from '../operator/fake-aws.ts';
import { createAccountsTable } from './dynamodb.ts';
import { type StoredItem, storedItems, writeItems } from './stored-items.ts';

/** A template of the data stack, as far as a restore reads it. */
export function accountsTemplate(tags: Record<string, string>): string {
  const Properties = {
    DeletionProtectionEnabled: true,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    TimeToLiveSpecification: { AttributeName: accountsTable.expires, Enabled: true },
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
  return JSON.stringify({ Resources: { AccountsBE8A900E: { Type: 'AWS::DynamoDB::Table', Properties } } });
}

type Table = {
  created: number;
  status: 'ACTIVE' | 'CREATING' | 'DELETING';
  isProtected: boolean;
  recovery: boolean;
  expiry: string | null;
  tags: Record<string, string>;
  source?: string;
};

type StoredBackup = {
  arn: string;
  name: string;
  of: string;
  type: 'SYSTEM' | 'USER';
  made: number;
  items: StoredItem[];
};

/**
 * DynamoDB's operations on tables and backups as its API reference describes them, over tables of the embedded engine,
 * which has none of these. Each change is seen only after a few reads of the status, as in AWS. Time passes by a second
 * a call.
 */
export function tableControl({ client }: { client: DynamoDBDocumentClient }) {
  const tables = new Map<string, Table>();
  const backups: StoredBackup[] = [];
  /** The contents of a table at a time, for point-in-time recovery. */
  const moments: { of: string; at: number; items: StoredItem[] }[] = [];
  const pending = new Map<string, { reads: number; then: () => void }>();
  let clock = Date.parse('2026-11-20T12:00:00Z') / 1000;
  const statusReads = 2;

  const refuse = (error: string, message = error): AwsAnswer => ({ error, message });
  const missing = (name: string) =>
    refuse('ResourceNotFoundException', `Requested resource not found: Table: ${name} not found`);
  const soon = (what: string, then: () => void) => pending.set(what, { reads: statusReads, then });
  const look = (what: string) => {
    const change = pending.get(what);
    if (!change || change.reads-- > 0) return;
    pending.delete(what);
    change.then();
  };
  const none = { isProtected: false, recovery: false, expiry: null };
  const newTable = (): Table => ({ ...none, created: clock, status: 'CREATING', tags: {} });
  const drop = (TableName: string) =>
    client.send(new DeleteTableCommand({ TableName }) as never).catch(() => undefined);
  /** A restored table has the items of its source and none of its settings. */
  const restore = async (name: string, items: StoredItem[], source?: string) => {
    tables.set(name, { ...newTable(), ...(source !== undefined && { source }) });
    await drop(name);
    await createAccountsTable(client as unknown as DynamoDBClient, name);
    await writeItems(client, name, items);
    soon(name, () => Object.assign(tables.get(name) as Table, { status: 'ACTIVE' }));
  };

  type Named = { TableName: string };
  const onTable =
    <Input extends Named>(work: (table: Table, input: Input) => AwsAnswer | Promise<AwsAnswer>) =>
    (input: Input) => {
      const table = tables.get(input.TableName);
      return table ? work(table, input) : missing(input.TableName);
    };
  const arnOf = (name: string) => `arn:aws:dynamodb:eu-west-1:123456789012:table/${name}`;

  const operations: AwsOperations = {
    DescribeTable: ({ TableName: name }: Named) => {
      look(name);
      const table = tables.get(name);
      if (!table) return missing(name);
      const RestoreSummary = { SourceBackupArn: table.source, RestoreInProgress: table.status === 'CREATING' };
      const Table = {
        ...{ TableName: name, TableArn: arnOf(name), TableStatus: table.status },
        DeletionProtectionEnabled: table.isProtected,
        ...(table.source && { RestoreSummary }),
      };
      return { value: { Table } };
    },
    DeleteTable: onTable<Named>(async (table, { TableName: name }) => {
      const reason = 'Resource cannot be deleted as it is currently protected against deletion.';
      if (table.isProtected) return refuse('ValidationException', reason);
      if (table.status !== 'ACTIVE') return refuse('ResourceInUseException');
      const items = await storedItems(client, name);
      // Of a table with point-in-time recovery DynamoDB keeps a backup when it is deleted.
      const arn = `${arnOf(name)}/backup/${++clock}`;
      const kept = `${name}$DeletedTableBackup`;
      if (table.recovery) backups.push({ arn, name: kept, of: name, type: 'SYSTEM', made: clock, items });
      await drop(name);
      // With a table its continuous backups end.
      moments.splice(0, moments.length, ...moments.filter(({ of }) => of !== name));
      table.status = 'DELETING';
      soon(name, () => tables.delete(name));
      return { value: {} };
    }),
    CreateBackup: onTable<Named & { BackupName: string }>(async (_, { TableName: of, BackupName: name }) => {
      const arn = `${arnOf(of)}/backup/${++clock}`;
      backups.push({ arn, name, of, type: 'USER', made: clock, items: await storedItems(client, of) });
      soon(arn, () => undefined);
      return { value: { BackupDetails: { BackupArn: arn, BackupName: name, BackupStatus: 'CREATING' } } };
    }),
    ListBackups: ({ TableName, BackupType }: Named & { BackupType: string }) => {
      const found = backups.filter(({ of, type }) => of === TableName && type === BackupType);
      for (const { arn } of found) look(arn);
      const BackupSummaries = found.map(({ arn, name, of, type, made }) => ({
        ...{ BackupArn: arn, BackupName: name, TableName: of, BackupType: type, BackupCreationDateTime: made },
        BackupStatus: pending.has(arn) ? 'CREATING' : 'AVAILABLE',
      }));
      return { value: { BackupSummaries } };
    },
    RestoreTableFromBackup: async (input: { TargetTableName: string; BackupArn: string }) => {
      const { TargetTableName: name, BackupArn } = input;
      const backup = backups.find(({ arn }) => arn === BackupArn);
      if (!backup) return refuse('BackupNotFoundException');
      if (tables.has(name)) return refuse('TableAlreadyExistsException');
      await restore(name, backup.items, BackupArn);
      return { value: {} };
    },
    RestoreTableToPointInTime: async (input: {
      SourceTableName: string;
      TargetTableName: string;
      RestoreDateTime: number;
    }) => {
      const { SourceTableName: from, TargetTableName: name, RestoreDateTime: at } = input;
      if (!tables.get(from)?.recovery) return refuse('TableNotFoundException');
      if (tables.has(name)) return refuse('TableAlreadyExistsException');
      const moment = moments.filter((one) => one.of === from && one.at <= at).at(-1);
      if (!moment) return refuse('InvalidRestoreTimeException');
      await restore(name, moment.items);
      return { value: {} };
    },
    DescribeContinuousBackups: onTable<Named>((table) => {
      const PointInTimeRecoveryDescription = {
        PointInTimeRecoveryStatus: table.recovery ? 'ENABLED' : 'DISABLED',
        ...(table.recovery && {
          EarliestRestorableDateTime: table.created - 34 * 86_400,
          LatestRestorableDateTime: Date.now() / 1000,
        }),
      };
      return {
        value: { ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription } },
      };
    }),
    UpdateContinuousBackups: onTable<
      Named & { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: boolean } }
    >((table, { PointInTimeRecoverySpecification }) => {
      table.recovery = PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled;
      return { value: {} };
    }),
    DescribeTimeToLive: onTable<Named>(({ expiry }) => {
      const TimeToLiveStatus = expiry ? 'ENABLED' : 'DISABLED';
      return { value: { TimeToLiveDescription: { TimeToLiveStatus, ...(expiry && { AttributeName: expiry }) } } };
    }),
    UpdateTimeToLive: onTable<Named & { TimeToLiveSpecification: { AttributeName: string } }>(
      (table, { TimeToLiveSpecification }) => {
        if (table.expiry) return refuse('ValidationException', 'TimeToLive is already enabled');
        table.expiry = TimeToLiveSpecification.AttributeName;
        return { value: {} };
      },
    ),
    UpdateTable: onTable<Named & { DeletionProtectionEnabled: boolean }>((table, { DeletionProtectionEnabled }) => {
      if (table.status !== 'ACTIVE') return refuse('ResourceInUseException');
      table.isProtected = DeletionProtectionEnabled;
      return { value: {} };
    }),
    ListTagsOfResource: ({ ResourceArn }: { ResourceArn: string }) => {
      const { tags = {} } = tables.get(ResourceArn.split('/').at(-1) ?? '') ?? {};
      return { value: { Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) } };
    },
    TagResource: ({ ResourceArn, Tags }: { ResourceArn: string; Tags: { Key: string; Value: string }[] }) => {
      const table = tables.get(ResourceArn.split('/').at(-1) ?? '');
      for (const { Key, Value } of Tags) if (table) table.tags[Key] = Value;
      return { value: {} };
    },
  };

  return {
    operations,
    tables,
    backups,
    /** Takes over a table of the engine, with the settings that the stack gives it. */
    adopt(name: string, settings: Partial<Table> = {}) {
      tables.set(name, { ...newTable(), status: 'ACTIVE', isProtected: true, recovery: true, ...settings });
    },
    /** What point-in-time recovery goes back to from now on. */
    async remember(name: string, at = new Date()) {
      moments.push({ of: name, at: at.getTime() / 1000, items: await storedItems(client, name) });
    },
    /** Somebody deletes the table, past its protection. */
    async lose(name: string) {
      Object.assign(tables.get(name) as Table, { isProtected: false });
      await operations.DeleteTable?.({ TableName: name } as never);
      tables.delete(name);
      pending.delete(name);
    },
  };
}
