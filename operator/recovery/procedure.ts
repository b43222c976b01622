import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { StackPart } from '../../lib/config/deployment.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { palace, runSmoke } from '../checks/smoke.ts';
import { findTable } from '../checks/table-settings.ts';
import { callerIdentity } from '../connect/admin.ts';
import { type OperatorAudit, operatorAudit, servicePartition } from '../connect/audit.ts';
import { clientConfig, type Deployment, deploymentStacks, findDeployment } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { accountOf, type DeploymentLocation, renderLocation } from '../connect/target.ts';
import { type Patience, patient } from '../connect/wait-for.ts';
import { countAccounts, renderCounts } from './backup-lines.ts';

/** What an operator asks of a recovery. */
export type RecoveryInput = {
  stack: string;
  /** Without it nothing is changed: the report is the plan. */
  execute: boolean;
  /** The deployment, named once more: nothing that is there is replaced without it. */
  into?: string | undefined;
  /** For the smoke test at the end. */
  key: string | undefined;
  print: (line: string) => void;
  patience?: Patience;
};

/** One step of a recovery. Each looks at AWS itself for what is done, so a procedure continues wherever it stopped. */
export type RecoveryStep = {
  /** What it does, as an imperative: "Delete the table x". */
  what: string;
  /** A step that can't be undone is marked in the plan. */
  destroys?: boolean;
  /** A step that adds to what is not of this recovery: like one that destroys, it needs the deployment named. */
  isForeign?: boolean;
  isDone(): Promise<boolean>;
  run(): Promise<unknown>;
};

/** What a recovery did or would do, with what an operator has to know, one line each. */
export type RecoveryReport = {
  target: RecoveryTarget;
  done: string[];
  remaining: string[];
  /** Milliseconds that each step of this run took. */
  took: { step: string; milliseconds: number }[];
  summary: string[];
};

/** Where a recovery works, what is there now, and where the new contents come from: shown before anything is done. */
export type RecoveryTarget = DeploymentLocation & { now?: string; from?: string };

/** What every recovery works with. */
export type RecoveryContext = {
  /** The deployment: `bag-adres-prod`, the names of its stacks, and the options that select it in another command. */
  name: string;
  stacks: Record<StackPart, string>;
  where: string;
  output: Deployment['output'];
  client: DynamoDBClient;
  patience: Patience;
  actor: string;
  audit: OperatorAudit;
};

export type Recovery = Pick<RecoveryTarget, 'now' | 'from'> & {
  steps: readonly RecoveryStep[];
  /** What an operator has to know of the plan, and at the end. */
  summary: string[];
  /** Checks the result when no step remains, and returns further lines of the summary. */
  end(took: RecoveryReport['took']): Promise<string[]>;
  /** Runs the steps, by default as they are. */
  around?: <T>(work: () => Promise<T>) => Promise<T>;
};

/**
 * Plans a recovery of a deployment, carries out what remains of it with `execute`, and ends with the smoke test.
 * What is there is replaced only where the input names the deployment, which is checked before the first write.
 * @throws CommandError naming the step that failed, after which the same command continues there
 */
export async function recover(
  input: RecoveryInput,
  parts: readonly StackPart[],
  plan: (context: RecoveryContext) => Promise<Recovery>,
): Promise<RecoveryReport> {
  const { name, stacks } = deploymentStacks(input.stack);
  checkInto(name, input.into);
  const { output } = await findDeployment(input.stack, parts);
  const client = new DynamoDBClient(clientConfig);
  const actor = await callerIdentity();
  const warnings: string[] = [];
  const audit = operatorAudit({
    client,
    accountsTable: output('AccountsTableName'),
    actor: async () => actor,
    print(line) {
      warnings.push(line);
      // A later step may fail, and then there is no summary.
      input.print(line);
    },
    partition: servicePartition,
  });
  const where = `--stack ${name}`;
  const { patience = patient } = input;
  try {
    const context = { name, stacks, where, output, client, patience, actor, audit };
    const { steps, summary, end, now, from, around = (work) => work() } = await plan(context);
    const place = { account: accountOf(actor), region: await client.config.region(), deployment: name };
    const target: RecoveryTarget = { ...place, ...(now && { now }), ...(from && { from }) };
    printTarget(target, input.print);
    const report = await around(() => runSteps(steps, input, target));
    if (report.remaining.length === 0)
      summary.push(...(await end(report.took)), ...(await smokeLines(output('BaseUrl'), input.key)));
    else if (steps.some((step) => needsName(step) && report.remaining.includes(step.what)))
      summary.push(`It replaces what is there: with --yes it also needs --into ${name}.`);
    return { target, ...report, summary: [...warnings, ...summary] };
  } catch (error) {
    if (error instanceof CommandError && warnings.length > 0) error.details.warnings = warnings;
    throw error;
  } finally {
    client.destroy();
  }
}

/** Refuses a target that is named otherwise than the deployment. @throws CommandError */
export function checkInto(name: string, into: string | undefined): void {
  if (into === undefined || into === name) return;
  throw new CommandError('other_target', `--stack selects ${name}, --into names ${into}. Nothing was changed.`);
}

/** @throws CommandError `not_empty` unless the operator named the deployment whose contents are replaced */
export function requireInto({ now, ...place }: RecoveryTarget, into: string | undefined): void {
  if (into !== undefined) return;
  const message =
    `This replaces what ${renderLocation(place)}, has: ${now}. Nothing was changed. ` +
    `If that is the deployment you mean, add --into ${place.deployment}.`;
  throw new CommandError('not_empty', message);
}

export function printTarget({ now, from, ...place }: RecoveryTarget, print: RecoveryInput['print']) {
  print(`Into: ${renderLocation(place)}`);
  if (now !== undefined) print(`There now: ${now}`);
  if (from !== undefined) print(`From: ${from}`);
}

/** What a deployment holds: its accounts and register, and how old its accounts table is. */
export async function describeContents(client: DynamoDBClient, output: Deployment['output']): Promise<string> {
  const accounts = output('AccountsTableName');
  const addresses = output('AddressesTableName');
  const [found, dataset] = await Promise.all([
    findTable(client, accounts),
    dynamoDbAddressTable(client, addresses)
      .dataset()
      .catch((error: Error) => {
        if (error.name !== 'ResourceNotFoundException') throw error;
        return null;
      }),
  ]);
  const register = dataset ? `the register of ${dataset.peildatum}` : 'no register';
  if (found?.TableStatus !== 'ACTIVE') return `no accounts table; ${register}`;
  const made = found.CreationDateTime ? `, in a table of ${found.CreationDateTime.toISOString()}` : '';
  return `${renderCounts(await countAccounts(accountsIn(client, accounts)))}${made}; ${register}`;
}

/** The admin module on a table, for calls that create no key. */
export function accountsIn(client: DynamoDBClient, table: string, actor?: string): Admin {
  const checksumSecret = async () => Promise.reject(new Error('no key is created here'));
  return createAdmin({ client: DynamoDBDocumentClient.from(client), table, checksumSecret, actor });
}

const needsName = ({ destroys, isForeign }: RecoveryStep) => destroys === true || isForeign === true;

/**
 * Looks at each step in order, and runs those that are not done. A step may depend on the one before it, so in a plan
 * nothing after the first step that is not done counts as done.
 */
export async function runSteps(
  steps: readonly RecoveryStep[],
  { execute, into, print }: RecoveryInput,
  target: RecoveryTarget,
): Promise<Omit<RecoveryReport, 'summary' | 'target'>> {
  const report: Omit<RecoveryReport, 'summary' | 'target'> = { done: [], remaining: [], took: [] };
  for (const [index, step] of steps.entries()) {
    const { what } = step;
    const label = `${index + 1}/${steps.length}`;
    if (report.remaining.length === 0 && (await step.isDone())) {
      report.done.push(what);
      print(`${label}  done      ${what}`);
    } else if (!execute) {
      report.remaining.push(what);
      print(`${label}  ${step.destroys ? 'DESTROYS' : 'to do   '}  ${what}`);
    } else {
      // Before the first step that writes: those before were done.
      if (steps.slice(index).some(needsName)) requireInto(target, into);
      print(`${label}  now       ${what}`);
      const startedAt = performance.now();
      await step.run().catch((error: Error) => {
        const message = `Step ${label} failed (${what}): ${error.message} Resolve that and run the same command again: it continues there.`;
        throw new CommandError('step_failed', message, { cause: error, details: { step: what } });
      });
      report.took.push({ step: what, milliseconds: Math.round(performance.now() - startedAt) });
      report.done.push(what);
    }
  }
  return report;
}

/** The smoke test with a key, or the command for it. Never throws: the recovery itself has ended. */
async function smokeLines(baseUrl: string, key: string | undefined): Promise<string[]> {
  const command = `npx bag-adres smoke --url ${baseUrl} --key KEY`;
  if (!key) return [`Test the service with a key: ${command}`];
  try {
    const { results } = await runSmoke(baseUrl, { key, address: palace, isGuess: true });
    const failed = results.filter(({ state }) => state === 'failed');
    const count = (wanted: string) => results.filter(({ state }) => state === wanted).length;
    return [
      `Smoke test: ${count('passed')} passed, ${failed.length} failed, ${count('skipped')} skipped.`,
      ...failed.map(({ title, reason }) => `  failed: ${title}: ${reason}`),
    ];
  } catch (error) {
    return [`Smoke test: ${(error as Error).message}. Repeat it: ${command}`];
  }
}
