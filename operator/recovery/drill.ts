import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Admin } from '../../packages/admin/admin.ts';
import { callerIdentity } from '../connect/admin.ts';
import { clientConfig, deploymentStacks, findDeployment } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { accountOf } from '../connect/target.ts';
import { patient, waitUntil } from '../connect/wait-for.ts';
import {
  accountsIn,
  checkInto,
  describeContents,
  printTarget,
  type RecoveryInput,
  type RecoveryTarget,
  requireInto,
} from './procedure.ts';
import { restoreDeletedTable, restoreWrongContents } from './restore.ts';
import { deleteTable, recoverableTimes } from './restore-table.ts';

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

export type DrillReport = { target: RecoveryTarget; seed: number; procedures: DrilledProcedure[]; summary: string[] };

const plan = [
  'Deletes the accounts table, as by mistake, and restores it: restore deleted-table.',
  'Creates an account, and goes back to the time before: restore wrong-contents. That waits some 5 minutes for point-in-time recovery, and deletes the table once more.',
  'In a random order. Each is interrupted once in the middle, and continued by the same command.',
  'For as long as AWS takes to restore, every request to this deployment is answered with 503: minutes to hours.',
];

type DrillInput = Omit<RecoveryInput, 'key'> & { seed: number };

/** Loses the accounts table of a test stage in two ways, brings it back, and measures minutes and loss. */
export async function drillStage(input: DrillInput): Promise<DrillReport> {
  const { seed, print } = input;
  const { name } = deploymentStacks(input.stack);
  if (name.endsWith('-prod')) {
    const message = `${name} is production: a drill deletes its accounts table. Name a test stage.`;
    throw new CommandError('production', message);
  }
  checkInto(name, input.into);
  const { output } = await findDeployment(input.stack, ['data', 'service']);
  const table = output('AccountsTableName');
  const client = new DynamoDBClient(clientConfig);
  const actor = await callerIdentity();
  const admin = accountsIn(client, table, actor);
  const order = ['deleted-table', 'wrong-contents'] as const;
  try {
    const now = await describeContents(client, output);
    const target = { account: accountOf(actor), region: await client.config.region(), deployment: name, now };
    printTarget(target, print);
    const report: DrillReport = { target, seed, procedures: [], summary: plan };
    if (!input.execute) return report;
    requireInto(target, input.into);
    for (const procedure of seed % 2 === 0 ? order : order.toReversed()) {
      const before = await contents(admin);
      print(`${procedure}: ${before.accounts.size} accounts, ${before.keys.size} active keys`);
      const lose = procedure === 'deleted-table' ? loseTable : spoilTable;
      const timing = await practise(input, await lose({ client, table, admin, input }));
      const after = await contents(admin);
      const missing = (kind: 'accounts' | 'keys') => [...before[kind]].filter((one) => !after[kind].has(one)).length;
      report.procedures.push({ procedure, ...timing, lostAccounts: missing('accounts'), lostKeys: missing('keys') });
    }
    return { ...report, summary: report.procedures.map(render) };
  } finally {
    client.destroy();
  }
}

type TableLoss = { client: DynamoDBClient; table: string; admin: Admin; input: DrillInput };

/** Runs the procedure that brings back what was lost, with this output. */
type Restore = (print: RecoveryInput['print']) => Promise<unknown>;

async function loseTable({ client, table, input }: TableLoss): Promise<Restore> {
  await deleteTable(client, table, input.patience ?? patient);
  return (print) => restoreDeletedTable({ ...input, print, key: undefined, table: 'accounts' });
}

async function spoilTable({ client, table, admin, input }: TableLoss): Promise<Restore> {
  const { patience = patient, seed, print } = input;
  const at = new Date(Math.floor(Date.now() / 1000) * 1000);
  // Point-in-time recovery goes back to a second.
  await patience.sleep(2_000);
  const plan = `drill-${seed}`;
  await admin.plans.put({ code: plan, limits: { day: 0 } });
  await admin.accounts.create({ id: plan, plan });
  print('    waits until DynamoDB can restore that time');
  await waitUntil(patience, async () => ((await recoverableTimes(client, table))?.to ?? 0) >= at);
  return async (print) => {
    await restoreWrongContents({ ...input, print, key: undefined, at });
    if ((await admin.accounts.list({ prefix: plan })).accounts.some(({ id }) => id === plan))
      throw new CommandError('not_restored', `The account ${plan} of after ${at.toISOString()} is still there.`);
  };
}

class Interruption extends Error {}

/** Runs a procedure, interrupts it once before a step that the seed chooses, and runs it again. */
async function practise({ print, seed }: DrillInput, restore: Restore) {
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
