import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdmin } from '../../packages/admin/admin.ts';
import { type AccountsCounts, countBackup } from '../../packages/admin/backup-lines.ts';
import { deployedSettings, type TableName } from '../checks/table-settings.ts';
import { callerIdentity } from '../connect/admin.ts';
import { clientConfig, deploymentStacks, findDeployment } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { openLoads } from '../connect/loads.ts';
import { operatorAudit, servicePartition } from '../connect/operator-audit.ts';
import { type Patience, patient } from '../connect/wait-for.ts';
import { carryOverStep, changesSince, type RecordedChange, sortChanges } from './carry-over.ts';
import { type ProcedureReport, runProcedure } from './procedure.ts';
import {
  checkRecoverable,
  checkTableOf,
  deletedTableSteps,
  findDeletionBackup,
  findTable,
  type RestoreContext,
  wrongContentsSteps,
} from './restore-table.ts';
import { smokeLines } from './verify.ts';

/** What a restore did or would do, with what an operator has to know, one line each. */
export type RestoreReport = ProcedureReport & { summary: string[] };

export type RestoreInput = {
  stack: string;
  execute: boolean;
  /** For the smoke test at the end. */
  key: string | undefined;
  print: (line: string) => void;
  patience?: Patience;
};

type OpenContext = RestoreContext & { baseUrl: string; where: string; accountsTable: string };

async function openContext({ stack, patience = patient }: RestoreInput, table: TableName): Promise<OpenContext> {
  const { name, stacks } = deploymentStacks(stack);
  const { output } = await findDeployment(stack, ['data', 'service']);
  return {
    client: new DynamoDBClient(clientConfig),
    table: output(table === 'accounts' ? 'AccountsTableName' : 'AddressesTableName'),
    settings: await deployedSettings(stacks.data, table),
    patience,
    baseUrl: output('BaseUrl'),
    accountsTable: output('AccountsTableName'),
    where: `--stack ${name}`,
  };
}

/** Restores a table that was deleted. @throws CommandError when there is nothing to restore, or no backup */
export async function restoreDeletedTable(input: RestoreInput & { table: TableName }): Promise<RestoreReport> {
  const context = await openContext(input, input.table);
  const { client, where, baseUrl } = context;
  try {
    const backup = await findDeletionBackup(client, context.table);
    const report = await runProcedure(deletedTableSteps(context, backup), input);
    const summary = [
      'A deletion loses no item: the backup is of that moment.',
      ...(input.table === 'addresses'
        ? [`Compare the table with the snapshot: "load check ${where}", and "load repair ${where}" if they differ.`]
        : []),
    ];
    if (report.remaining.length === 0) {
      const detail = { table: context.table, backup: backup.BackupArn, before: 'deleted' };
      summary.push(...(await auditEnd(context, report, 'restore deleted-table', detail)));
      if (input.table === 'accounts')
        summary.push(`Now: ${renderCounts(await countAccounts(context, context.table))}.`);
      else summary.push(await compareAddresses(input));
      summary.push(...(await smokeLines(baseUrl, input.key)));
    }
    return { ...report, summary };
  } finally {
    client.destroy();
  }
}

/** Gives the accounts table the contents of a time. @throws CommandError when it can't be restored to that time */
export async function restoreWrongContents(input: RestoreInput & { at: Date }): Promise<RestoreReport> {
  const { at } = input;
  const context = await openContext(input, 'accounts');
  const { client, table, baseUrl } = context;
  const copy = checkTableOf(table, at);
  try {
    await checkRecoverable(context, at);
    const exists = (await findTable(client, table))?.TableStatus === 'ACTIVE';
    const changes = exists ? sortChanges(await changesSince(client, table, at)) : null;
    const before = changes && (await countAccounts(context, table));
    const actor = await callerIdentity();
    const steps = wrongContentsSteps(context, at, (copy, isLive) =>
      carryOverStep(client, changes?.carriedOver ?? [], { copy, actor, isLive }),
    );
    const report = await runProcedure(steps, input);
    const summary = renderChanges(changes);
    if (report.remaining.length > 0) return { ...report, summary };
    const [good, now] = [await countAccounts(context, copy), await countAccounts(context, table)];
    if (before) summary.push(`Before: ${renderCounts(before)}.`);
    summary.push(`Of ${at.toISOString()}: ${renderCounts(good)}.`, `Now: ${renderCounts(now)}.`);
    if (renderCounts(good) !== renderCounts(now))
      throw new CommandError(
        'counts_differ',
        `${table} has ${renderCounts(now)}, its copy ${copy} ${renderCounts(good)}.`,
      );
    const lost = changes && { lost: changes.lost.length, withdrawnAgain: changes.carriedOver.length };
    const detail = { table, at: at.toISOString(), counts: now, before, ...lost };
    summary.push(...(await auditEnd(context, report, 'restore wrong-contents', detail)));
    summary.push(
      `The copy ${copy} and the backups stay. When all is well: aws dynamodb delete-table --table-name ${copy}.`,
      ...(await smokeLines(baseUrl, input.key)),
    );
    return { ...report, summary };
  } finally {
    client.destroy();
  }
}

/**
 * Writes the entry of a restore that has ended, and returns a warning where it can't: before, the table may not be
 * there, and a restore replaces what is in it.
 */
async function auditEnd(
  { client, accountsTable }: OpenContext,
  { took }: ProcedureReport,
  action: 'restore deleted-table' | 'restore wrong-contents',
  detail: Record<string, unknown>,
): Promise<string[]> {
  const warnings: string[] = [];
  const print = (line: string) => void warnings.push(line);
  const audit = operatorAudit({ client, accountsTable, actor: callerIdentity, print, partition: servicePartition });
  if (took.length > 0) await audit(action, detail, async () => undefined);
  return warnings;
}

async function countAccounts({ client }: RestoreContext, table: string): Promise<AccountsCounts> {
  const noSecret = async () => Promise.reject(new Error('no key is created here'));
  const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table, checksumSecret: noSecret });
  return countBackup(await admin.backup.export());
}

export function renderCounts({ plans, accounts, activeKeys, members }: AccountsCounts): string {
  return `${plans} plans, ${accounts} accounts, ${activeKeys} active keys and ${members} members`;
}

/** Compares every address with the live snapshot, without a change. */
async function compareAddresses({ stack, print }: RestoreInput): Promise<string> {
  const { noProgress } = await import('../../loader/progress.ts');
  const loads = await openLoads({ stack }, { progress: noProgress, print });
  try {
    const { addresses, added, changed, removed } = await loads.repair({ planOnly: true });
    const differing = added + changed + removed;
    if (differing === 0) return `The table has the ${addresses} addresses of the live snapshot.`;
    return `The table differs from the live snapshot in ${differing} of ${addresses} addresses: run "load repair ${loads.where}".`;
  } finally {
    loads.close();
  }
}

function renderChanges(changes: { lost: RecordedChange[]; carriedOver: RecordedChange[] } | null): string[] {
  if (!changes) return ['The table is deleted: what was changed since was listed when this restore began.'];
  const list = (title: string, some: RecordedChange[]) =>
    some.length === 0
      ? []
      : [
          title,
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
