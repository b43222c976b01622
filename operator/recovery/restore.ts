import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { AuditAction } from '../../packages/admin/accounts/audit.ts';
import { deployedSettings, type TableName } from '../checks/table-settings.ts';
import { auditBetween, type RecordedChange } from '../connect/audit.ts';
import { CommandError } from '../connect/errors.ts';
import { openLoads } from '../connect/loads.ts';
import { countAccounts, renderCounts } from './backup-lines.ts';
import { carryOverStep, type LostChanges, sortChanges } from './carry-over.ts';
import {
  accountsIn,
  describeContents,
  type RecoveryContext,
  type RecoveryInput,
  type RecoveryReport,
  recover,
} from './procedure.ts';
import {
  checkRecoverable,
  checkTableOf,
  deletedTableSteps,
  findDeletionBackup,
  isActive,
  type TableContext,
  wrongContentsSteps,
} from './restore-table.ts';

async function tableContext({ client, output, stacks, patience }: RecoveryContext, table: TableName) {
  return {
    client,
    table: output(table === 'accounts' ? 'AccountsTableName' : 'AddressesTableName'),
    settings: await deployedSettings(stacks.data, table),
    patience,
  } satisfies TableContext;
}

/** Restores a table that was deleted. @throws CommandError when there is nothing to restore, or no backup */
export async function restoreDeletedTable(input: RecoveryInput & { table: TableName }): Promise<RecoveryReport> {
  return recover(input, ['data', 'service'], async (context) => {
    const { client, where } = context;
    const of = await tableContext(context, input.table);
    const { table } = of;
    const backup = await findDeletionBackup(client, table);
    const isAccounts = input.table === 'accounts';
    const compare = `Compare the table with the snapshot: "load check ${where}", and "load repair ${where}" if they differ.`;
    return {
      now: await describeContents(client, context.output),
      from: `the backup of ${table} of ${backup.BackupCreationDateTime?.toISOString()}`,
      steps: deletedTableSteps(of, backup),
      summary: ['A deletion loses no item: the backup is of that moment.', ...(isAccounts ? [] : [compare])],
      async end(took) {
        const detail = { table, backup: backup.BackupArn, before: 'deleted' };
        await auditEnd(context, took, 'restore deleted-table', detail);
        if (!isAccounts) return [await compareAddresses(input)];
        return [`Now: ${renderCounts(await countAccounts(accountsIn(client, table)))}.`];
      },
    };
  });
}

/** Gives the accounts table the contents of a time. @throws CommandError when it can't be restored to that time */
export async function restoreWrongContents(input: RecoveryInput & { at: Date }): Promise<RecoveryReport> {
  const { at } = input;
  return recover(input, ['data', 'service'], async (context) => {
    const { client, actor } = context;
    const of = await tableContext(context, 'accounts');
    const { table } = of;
    const copy = checkTableOf(table, at);
    const count = (name: string) => countAccounts(accountsIn(client, name));
    await checkRecoverable(of, at);
    const documents = DynamoDBDocumentClient.from(client);
    const changes = (await isActive(client, table))
      ? sortChanges(await auditBetween(documents, table, at.toISOString(), '~'))
      : null;
    const before = changes && (await count(table));
    return {
      now: await describeContents(client, context.output),
      from: `point-in-time recovery of ${table}, at ${at.toISOString()}`,
      steps: wrongContentsSteps(of, at, (copy, isReplaced) =>
        carryOverStep(accountsIn(client, copy, actor), changes?.carriedOver ?? [], { copy, isReplaced }),
      ),
      summary: renderChanges(changes),
      async end(took) {
        const [good, now] = [await count(copy), await count(table)];
        if (renderCounts(good) !== renderCounts(now)) {
          const message = `${table} has ${renderCounts(now)}, its copy ${copy} ${renderCounts(good)}.`;
          throw new CommandError('counts_differ', message);
        }
        const lost = changes && { lost: changes.lost.length, withdrawnAgain: changes.carriedOver.length };
        const detail = { table, at: at.toISOString(), counts: now, before, ...lost };
        await auditEnd(context, took, 'restore wrong-contents', detail);
        return [
          ...(before ? [`Before: ${renderCounts(before)}.`] : []),
          `Of ${at.toISOString()}: ${renderCounts(good)}.`,
          `Now: ${renderCounts(now)}.`,
          `The copy ${copy} and the backups stay. When all is well: aws dynamodb delete-table --table-name ${copy}.`,
        ];
      },
    };
  });
}

/**
 * Writes the entry of a restore that has ended, if it changed anything: before, the table may not be there, and a
 * restore replaces what is in it.
 */
async function auditEnd(
  { audit }: RecoveryContext,
  took: RecoveryReport['took'],
  action: AuditAction,
  detail: Record<string, unknown>,
): Promise<void> {
  if (took.length > 0) await audit(action, detail, async () => undefined);
}

/** Compares every address with the live snapshot, without a change. */
async function compareAddresses({ stack, print }: RecoveryInput): Promise<string> {
  const { noProgress } = await import('../../loader/progress.ts');
  const loads = await openLoads({ stack }, { progress: noProgress, print });
  try {
    const { addresses, added, changed, removed } = await loads.repair({ planOnly: true });
    const differing = added + changed + removed;
    if (differing === 0) return `The table has the ${addresses} addresses of the live snapshot.`;
    return `The table differs from the live snapshot in ${differing} of ${addresses} addresses: run "load repair".`;
  } finally {
    loads.close();
  }
}

function renderChanges(changes: LostChanges | null): string[] {
  if (!changes) return ['The table is deleted: what was changed since was listed when this restore began.'];
  const list = (title: string, some: RecordedChange[]) => [
    ...(some.length > 0 ? [title] : []),
    ...some.map(
      ({ time, actor, action, partition, detail }) =>
        `  ${time}  ${action} ${partition} ${JSON.stringify(detail)} by ${actor}`,
    ),
  ];
  return [
    ...list('Withdrawn since, and withdrawn again:', changes.carriedOver),
    ...list('Changed since, and lost with this restore; make these changes again:', changes.lost),
    'What customers used since then is lost too: in the current windows they may get more than their limit.',
  ];
}
