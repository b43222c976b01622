import {
  type BackupSummary,
  CreateBackupCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  type DynamoDBClient,
  ListBackupsCommand,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { applySettings, findTable, missingSettings, type TableSettings } from '../checks/table-settings.ts';
import { CommandError } from '../connect/errors.ts';
import { type Patience, waitUntil } from '../connect/wait-for.ts';
import type { RecoveryStep } from './procedure.ts';

export type TableContext = {
  client: DynamoDBClient;
  /** The name of the table, as the stack's output has it. */
  table: string;
  settings: TableSettings;
  patience: Patience;
};

export async function isActive(client: DynamoDBClient, table: string): Promise<boolean> {
  return (await findTable(client, table))?.TableStatus === 'ACTIVE';
}

async function untilActive({ client, patience }: TableContext, table: string): Promise<void> {
  let unseen = 0;
  await waitUntil(patience, async () => {
    const status = (await findTable(client, table))?.TableStatus;
    // Just after its creation was requested, a read may not see it yet.
    if (status === undefined && ++unseen > 30) throw new Error(`${table} did not appear`);
    return status === 'ACTIVE';
  });
}

/** Deletes a table, which is protected against that, and waits until it is gone. */
export async function deleteTable(client: DynamoDBClient, TableName: string, patience: Patience): Promise<void> {
  if ((await findTable(client, TableName))?.TableStatus !== 'DELETING') {
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
    await waitUntil(patience, () => isActive(client, TableName));
    await client.send(new DeleteTableCommand({ TableName }));
  }
  await waitUntil(patience, async () => (await findTable(client, TableName)) === undefined);
}

/** The backups of a table, the newest first, also of one that was deleted. */
async function backupsOf(
  client: DynamoDBClient,
  TableName: string,
  BackupType: 'SYSTEM' | 'USER',
): Promise<BackupSummary[]> {
  const found: BackupSummary[] = [];
  let ExclusiveStartBackupArn: string | undefined;
  do {
    const page: { BackupSummaries?: BackupSummary[]; LastEvaluatedBackupArn?: string } = await client.send(
      new ListBackupsCommand({ TableName, BackupType, ...(ExclusiveStartBackupArn && { ExclusiveStartBackupArn }) }),
    );
    found.push(...(page.BackupSummaries ?? []));
    ExclusiveStartBackupArn = page.LastEvaluatedBackupArn;
  } while (ExclusiveStartBackupArn !== undefined);
  return found.toSorted((a, b) => timeOf(b) - timeOf(a));
}

const timeOf = ({ BackupCreationDateTime }: BackupSummary) => BackupCreationDateTime?.getTime() ?? 0;

/**
 * The backup that DynamoDB made when the table was deleted; it holds every item of that moment.
 * @throws CommandError when there is none, or the table exists and was not restored from it
 */
export async function findDeletionBackup(client: DynamoDBClient, table: string): Promise<BackupSummary> {
  const [deletions, existing] = await Promise.all([backupsOf(client, table, 'SYSTEM'), findTable(client, table)]);
  const [newest] = deletions;
  const isRestored = newest && existing?.RestoreSummary?.SourceBackupArn === newest.BackupArn;
  if (existing && !isRestored) {
    throw new CommandError(
      'table_exists',
      `The table ${table} exists (${existing.TableStatus}), so there is nothing to restore. If its contents are wrong: "restore wrong-contents --at 2026-01-31T12:00:00Z", with the time at which they were right.`,
    );
  }
  const wrong = existing ? undefined : await interruptedRestore(client, table, deletions);
  if (wrong) {
    throw new CommandError(
      'restore_interrupted',
      `A restore of ${table} to an earlier time was interrupted after it had deleted the wrong contents, which are all that this backup holds. ` +
        `Continue it: restore wrong-contents --at ${wrong}.`,
    );
  }
  if (newest) return newest;
  throw new CommandError(
    'no_backup',
    `DynamoDB has no backup of the deleted table ${table}: it keeps one for 35 days, of a table that had point-in-time recovery. ` +
      'Restore the accounts from a backup set ("restore lost-account"); addresses can be loaded again.',
  );
}

/** The time to which a restore of wrong contents was to go, if that deleted the table. */
async function interruptedRestore(
  client: DynamoDBClient,
  table: string,
  deletions: readonly BackupSummary[],
): Promise<string | undefined> {
  const form = /^wrong-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
  const wrong = (await backupsOf(client, table, 'USER')).find(({ BackupName = '' }) => form.test(BackupName));
  if (!wrong) return undefined;
  const since = deletions.map((one) => timeOf(one) - timeOf(wrong)).filter((after) => after >= 0);
  // It deletes the table minutes after it has made this backup. A second deletion would delete the restored table.
  if (since.length !== 1 || (since[0] ?? 0) > 6 * 3_600_000) return undefined;
  return wrong.BackupName?.replace(form, '$1-$2-$3T$4:$5:$6Z');
}

/** Restores a table that was deleted, with its settings, from the backup that its deletion made. */
export function deletedTableSteps(context: TableContext, backup: BackupSummary): RecoveryStep[] {
  const { table } = context;
  const made = backup.BackupCreationDateTime?.toISOString() ?? 'an unknown time';
  return [
    restoreStep(
      context,
      `Restore ${table} from the backup that its deletion made, of ${made}`,
      async () => backup.BackupArn,
    ),
    settingsStep(context),
  ];
}

/** The name of the table with the contents of a time, beside the table itself. */
export function checkTableOf(table: string, at: Date): string {
  return `${table}-${stamp(at)}`;
}

function stamp(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** The times to which point-in-time recovery can restore a table; `null` where it is off. */
export async function recoverableTimes(client: DynamoDBClient, TableName: string) {
  const found = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
  const recovery = found.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  const { EarliestRestorableDateTime: from, LatestRestorableDateTime: to } = recovery ?? {};
  return recovery?.PointInTimeRecoveryStatus === 'ENABLED' && from && to ? { from, to } : null;
}

/** Refuses a time that the table can't be restored to. @throws CommandError */
export async function checkRecoverable({ client, table: TableName }: TableContext, at: Date): Promise<void> {
  const [live, copy] = await Promise.all(
    [TableName, checkTableOf(TableName, at)].map((name) => findTable(client, name)),
  );
  // Past the deletion the copy is all that is needed; a restored table can't be restored to a time before it.
  if (!live || copy) return;
  const { from, to } = (await recoverableTimes(client, TableName)) ?? {};
  if (!from || !to) {
    throw new CommandError(
      'no_recovery',
      `Point-in-time recovery of ${TableName} is off: it can't be restored to a time. See "restore lost-account".`,
    );
  }
  if (at >= from && at <= to) return;
  throw new CommandError(
    'not_recoverable',
    `${TableName} can be restored to a time from ${from.toISOString()} to ${to.toISOString()}, not ${at.toISOString()}.`,
  );
}

/**
 * Gives a table the contents that it had at a time. What is live is deleted last, after its replacement exists twice:
 * as a table, and as a backup, because point-in-time recovery of a table ends with it.
 * @param carryOver what has to be changed in the copy before it goes live
 */
export function wrongContentsSteps(
  context: TableContext,
  at: Date,
  carryOver: (copy: string, isReplaced: () => Promise<boolean>) => RecoveryStep,
): RecoveryStep[] {
  const { client, table, patience } = context;
  const copy = checkTableOf(table, at);
  const [goodName, wrongName] = [`good-${stamp(at)}`, `wrong-${stamp(at)}`];
  const ownBackup = async (of: string, name: string) =>
    (await backupsOf(client, of, 'USER')).find(({ BackupName }) => BackupName === name);
  const goodArn = async () => (await ownBackup(copy, goodName))?.BackupArn;
  /** The live table is deleted, or restored already. */
  const isReplaced = async () => {
    const [source, existing] = await Promise.all([goodArn(), findTable(client, table)]);
    return !existing || (source !== undefined && existing.RestoreSummary?.SourceBackupArn === source);
  };
  const backupStep = (TableName: string, BackupName: string, what: string): RecoveryStep => {
    const isDone = async () => (await ownBackup(TableName, BackupName))?.BackupStatus === 'AVAILABLE';
    return {
      what,
      isDone,
      async run() {
        if (!(await ownBackup(TableName, BackupName)))
          await client.send(new CreateBackupCommand({ TableName, BackupName }));
        await waitUntil(patience, isDone);
      },
    };
  };
  return [
    {
      what: `Restore the contents of ${at.toISOString()} into the new table ${copy}`,
      isDone: () => isActive(client, copy),
      async run() {
        if (!(await findTable(client, copy))) {
          const names = { SourceTableName: table, TargetTableName: copy };
          await client.send(new RestoreTableToPointInTimeCommand({ ...names, RestoreDateTime: at }));
        }
        await untilActive(context, copy);
      },
    },
    carryOver(copy, isReplaced),
    backupStep(copy, goodName, `Back up ${copy}, as ${goodName}`),
    backupStep(table, wrongName, `Back up ${table} as it is now, as ${wrongName}`),
    {
      what: `Delete ${table}. Until it is restored every request is answered with 503`,
      destroys: true,
      isDone: isReplaced,
      async run() {
        if (!(await goodArn())) throw new Error(`the backup ${goodName} does not exist`);
        await deleteTable(client, table, patience);
      },
    },
    restoreStep(context, `Restore ${table} from the backup ${goodName}`, goodArn),
    settingsStep(context),
  ];
}

function restoreStep(context: TableContext, what: string, backupArn: () => Promise<string | undefined>): RecoveryStep {
  const { client, table } = context;
  return {
    what,
    isDone: () => isActive(client, table),
    async run() {
      const BackupArn = await backupArn();
      if (!BackupArn) throw new Error('its backup does not exist');
      if (!(await findTable(client, table)))
        await client.send(new RestoreTableFromBackupCommand({ TargetTableName: table, BackupArn }));
      await untilActive(context, table);
    },
  };
}

function settingsStep({ client, table, settings, patience }: TableContext): RecoveryStep {
  const { tags } = settings;
  return {
    what: `Set what a restore leaves out: deletion protection, point-in-time recovery, TTL and ${Object.keys(tags).length} tags`,
    isDone: async () =>
      (await isActive(client, table)) && (await missingSettings(client, table, settings)).length === 0,
    run: () => applySettings(client, table, settings, patience),
  };
}
