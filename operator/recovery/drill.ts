import {
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DynamoDBClient,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { callerIdentity } from '../connect/admin.ts';
import { clientConfig, deploymentStacks, findDeployment } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { patient, waitFor } from '../connect/wait-for.ts';
import { type RestoreInput, restoreDeletedTable, restoreWrongContents } from './restore.ts';
import { findTable } from './restore-table.ts';

/** What one procedure of a drill took and lost. */
export type DrilledProcedure = {
  procedure: 'deleted-table' | 'wrong-contents';
  /** The step before which it was interrupted, to be continued by the same command; `null` if none was left. */
  interruptedBefore: string | null;
  /** From the loss, or from the decision, until all is as it was. */
  minutes: number;
  /** The part of it without an accounts table: every request is answered with 503. */
  minutesDown: number;
  lostAccounts: number;
  lostKeys: number;
};

export type DrillReport = { deployment: string; seed: number; procedures: DrilledProcedure[]; summary: string[] };

const plan = [
  'Deletes the accounts table, as by mistake, and restores it: restore deleted-table.',
  'Creates an account, and goes back to the time before: restore wrong-contents. That waits some 5 minutes for point-in-time recovery, and deletes the table once more.',
  'In a random order. Each is interrupted once in the middle, and continued by the same command.',
  'For as long as AWS takes to restore, every request to this deployment is answered with 503: minutes to hours.',
];

/** Loses the accounts table of a test stage in two ways, brings it back, and measures minutes and loss. */
export async function drillStage({
  seed,
  ...input
}: Omit<RestoreInput, 'key'> & { seed: number }): Promise<DrillReport> {
  const { name } = deploymentStacks(input.stack);
  if (name.endsWith('-prod'))
    throw new CommandError(
      'production',
      `${name} is production: a drill deletes its accounts table. Name a test stage.`,
    );
  const report: DrillReport = { deployment: name, seed, procedures: [], summary: plan };
  const { output } = await findDeployment(input.stack, ['data', 'service']);
  const table = output('AccountsTableName');
  if (!input.execute) return report;
  const client = new DynamoDBClient(clientConfig);
  const actor = await callerIdentity();
  const noSecret = async () => Promise.reject(new Error('no key is created here'));
  const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table, checksumSecret: noSecret, actor });
  const order = ['deleted-table', 'wrong-contents'] as const;
  try {
    for (const procedure of seed % 2 === 0 ? order : order.toReversed()) {
      const before = await contents(admin);
      input.print(`${procedure}: ${before.accounts.size} accounts, ${before.keys.size} active keys`);
      const lose = procedure === 'deleted-table' ? loseTable : spoilTable;
      const restore = await lose({ client, table, admin, seed, input });
      const timing = await practise(input, seed, restore);
      const after = await contents(admin);
      const missing = (kind: 'accounts' | 'keys') => [...before[kind]].filter((one) => !after[kind].has(one)).length;
      report.procedures.push({ procedure, ...timing, lostAccounts: missing('accounts'), lostKeys: missing('keys') });
    }
    return { ...report, summary: report.procedures.map(render) };
  } finally {
    client.destroy();
  }
}

type TableLoss = {
  client: DynamoDBClient;
  table: string;
  admin: Admin;
  seed: number;
  input: Omit<RestoreInput, 'key'>;
};
/** Runs the procedure that brings back what was lost, with this output. */
type Restore = (print: (line: string) => void) => Promise<unknown>;

async function loseTable({ client, table, input }: TableLoss): Promise<Restore> {
  const { patience = patient } = input;
  await client.send(new UpdateTableCommand({ TableName: table, DeletionProtectionEnabled: false }));
  await waitFor(patience, async () => ((await findTable(client, table))?.TableStatus === 'ACTIVE' ? true : undefined));
  await client.send(new DeleteTableCommand({ TableName: table }));
  await waitFor(patience, async () => ((await findTable(client, table)) ? undefined : true));
  return (print) => restoreDeletedTable({ ...input, print, key: undefined, table: 'accounts' });
}

async function spoilTable({ client, table, admin, seed, input }: TableLoss): Promise<Restore> {
  const { patience = patient } = input;
  const at = new Date(Math.floor(Date.now() / 1000) * 1000);
  // Point-in-time recovery goes back to a second.
  await patience.sleep(2_000);
  const plan = `drill-${seed}`;
  await admin.plans.put({ code: plan, limits: { day: 0 } });
  await admin.accounts.create({ id: plan, plan });
  input.print('    waits until DynamoDB can restore that time');
  await waitFor(patience, async () => {
    const found = await client.send(new DescribeContinuousBackupsCommand({ TableName: table }));
    const { LatestRestorableDateTime: latest } =
      found.ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
    return latest && latest >= at ? true : undefined;
  });
  return async (print) => {
    const done = await restoreWrongContents({ ...input, print, key: undefined, at });
    if ((await admin.accounts.list({ prefix: plan })).accounts.some(({ id }) => id === plan))
      throw new CommandError('not_restored', `The account ${plan} of after ${at.toISOString()} is still there.`);
    return done;
  };
}

class Interruption extends Error {}

/** Runs a procedure, interrupts it once at a step that the seed chooses, and runs it again. */
async function practise({ print }: Pick<RestoreInput, 'print'>, seed: number, restore: Restore) {
  const startedAt = performance.now();
  let downSince: number | undefined;
  let interruptedBefore: string | null = null;
  const watched = (line: string) => {
    print(`    ${line}`);
    const [, step, total, what = ''] = /^(\d+)\/(\d+) +now +(.*)$/.exec(line) ?? [];
    if (step === undefined) return;
    const isLate = Number(step) > 1 + (seed % Math.max(1, Number(total) - 1));
    if (interruptedBefore === null && (isLate || step === total)) {
      interruptedBefore = what;
      throw new Interruption(`interrupted before step ${step}`);
    }
    if (/^Delete /.test(what)) downSince ??= performance.now();
  };
  try {
    await restore(watched);
  } catch (error) {
    if (!(error instanceof Interruption)) throw error;
    print(`    ${error.message}: the same command again`);
    await restore(watched);
  }
  const minutes = (since: number) => Number(((performance.now() - since) / 60_000).toFixed(2));
  return { interruptedBefore, minutes: minutes(startedAt), minutesDown: minutes(downSince ?? startedAt) };
}

/** The accounts of a table by id, and its active keys by hash. */
async function contents(admin: Admin): Promise<{ accounts: Set<string>; keys: Set<string> }> {
  const { accounts } = await admin.backup.export();
  const hashes = accounts.flatMap(({ id, keys }) =>
    keys.flatMap(({ keyId, hash }) => (hash ? `${id}/${keyId}/${Buffer.from(hash).toString('hex')}` : [])),
  );
  return { accounts: new Set(accounts.map(({ id }) => id)), keys: new Set(hashes) };
}

function render({ procedure, minutes, minutesDown, interruptedBefore, lostAccounts, lostKeys }: DrilledProcedure) {
  const interruption = interruptedBefore === null ? 'not interrupted' : `interrupted before "${interruptedBefore}"`;
  return `${procedure}: ${minutes} minutes, ${minutesDown} of them without a table; ${lostAccounts} accounts and ${lostKeys} keys lost; ${interruption}.`;
}
