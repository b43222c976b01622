import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  CloudFormationClient,
  DescribeStackResourceCommand,
  SetStackPolicyCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { accountsTable } from '../../core/tables.ts';
import type { Config } from '../../lib/config/config-schema.ts';
import { deploymentName, portalStackName, stackNames } from '../../lib/config/deployment.ts';
import { createAdminStore, readNames } from '../../packages/admin/accounts/admin-store.ts';
import {
  clientConfig,
  ifMissing,
  readTemplate,
  templateLayoutFault,
} from '../deployment/deployed-stacks.ts';
import { CommandError } from '../deployment/errors.ts';
import { type ComparedTemplate, lossesBetween, statefulTypes } from './compare-templates.ts';

/** The forbidden changes of a deployment, one sentence each; empty if it may go on. */
export type GateReport = {
  stage: string;
  stacks: { name: string; isDeployed: boolean }[];
  obstacles: string[];
};

/**
 * Compares the templates of a stage with the deployed templates, and their accounts table with the
 * present one. Changes nothing.
 */
export async function examineDeployment(folder: string, config: Config): Promise<GateReport> {
  const deployment = deploymentName(config.stage);
  const names = [...Object.values(stackNames(deployment)), portalStackName(deployment)];
  // Before the synthesis, which takes seconds: without credentials it would be for nothing.
  const deployed = await Promise.all(names.map((name) => readTemplate(name).catch(ifMissing)));
  const next = await synthesizedTemplates(folder, config.stage);
  const report: GateReport = { stage: config.stage, stacks: [], obstacles: [] };
  report.obstacles.push(...layoutObstacles(names, deployed));
  for (const [index, name] of names.entries()) {
    const before = deployed[index];
    const after = next.get(name);
    // A portal that the settings no longer have stays deployed as it is.
    if (!after) continue;
    report.stacks.push({ name, isDeployed: before !== undefined });
    for (const { logicalId, type, what } of lossesBetween(
      before === undefined ? {} : JSON.parse(before),
      after,
    )) {
      report.obstacles.push(`${name}: ${logicalId} (${type}) ${what}.`);
    }
  }
  const { data } = stackNames(deployment);
  const before = deployed[0] ?? '{}';
  const after = next.get(data) ?? {};
  report.obstacles.push(
    ...(await tableObstacles(data, JSON.parse(before), after, config.tables.accounts?.keyArn)),
  );
  return report;
}

/**
 * Why this version must not be deployed on the stored data; one obstacle, as all stacks of a
 * version have one layout.
 */
function layoutObstacles(names: readonly string[], deployed: readonly (string | undefined)[]) {
  for (const [index, template] of deployed.entries()) {
    const fault = template === undefined ? undefined : templateLayoutFault(template);
    if (fault) {
      return [
        `The deployed ${names[index]} ${fault}: the release notes (CHANGELOG.md) say how to move the stored data, and until then deploy the version that stored it.`,
      ];
    }
  }
  return [];
}

/** The accounts table in the data stack's output: a name, or its own table by its logical id. */
const accountsIn = ({ Outputs = {} }: ComparedTemplate) =>
  (Outputs.AccountsTableName as { Value?: string | { Ref: string } } | undefined)?.Value;

/**
 * Why the stacks must not use another accounts table than now: it does not exist, has no accounts,
 * or another key.
 */
async function tableObstacles(
  stack: string,
  before: ComparedTemplate,
  after: ComparedTemplate,
  keyArn?: string,
) {
  const now = accountsIn(before);
  const next = accountsIn(after);
  const isFirst = now === undefined && typeof next !== 'string';
  if (next === undefined || isFirst || JSON.stringify(now) === JSON.stringify(next)) return [];
  const name = typeof next === 'string' ? next : await physicalName(stack, next.Ref);
  const client = new DynamoDBClient(clientConfig);
  const found = await client
    .send(new DescribeTableCommand({ TableName: name }))
    .catch((error: Error) => {
      if (error.name !== 'ResourceNotFoundException') throw error;
    });
  const faults = (what: string, advice: string) => [
    `${stack} would use the table ${name}, which ${what}. ${advice}`,
  ];
  if (found?.Table?.TableStatus !== 'ACTIVE') {
    return faults(
      `is ${found?.Table?.TableStatus ?? 'missing'}`,
      'Wait for its restore, or correct tables.accounts.',
    );
  }
  const { KeySchema = [], SSEDescription } = found.Table;
  const keys = KeySchema.map(({ AttributeName }) => AttributeName).join();
  const { partitionKey, sortKey } = accountsTable;
  if (keys !== `${partitionKey},${sortKey}`) {
    return faults(`has the key ${keys}`, 'It is no accounts table: correct tables.accounts.name.');
  }
  const { KMSMasterKeyArn: key } = SSEDescription ?? {};
  const advice = key ? `Set tables.accounts.keyArn to that.` : 'Take tables.accounts.keyArn out.';
  if (typeof next === 'string' && key !== keyArn) {
    return faults(`is encrypted with ${key ?? 'a key that AWS owns'}`, advice);
  }
  const store = createAdminStore(DynamoDBDocumentClient.from(client), name, 'gate', Date.now);
  const { names } = await readNames(store, 'account', { limit: 1 });
  const restore =
    'Every key would be refused. Restore the accounts first: docs/runbook.md#restore-a-table.';
  return names.length > 0 ? [] : faults('has no account', restore);
}

async function physicalName(StackName: string, LogicalResourceId: string): Promise<string> {
  const client = new CloudFormationClient(clientConfig);
  const found = await client.send(
    new DescribeStackResourceCommand({ StackName, LogicalResourceId }),
  );
  return found.StackResourceDetail?.PhysicalResourceId ?? LogicalResourceId;
}

/**
 * Denies CloudFormation to replace or remove stateful resources. A diff only tells, a policy
 * blocks.
 */
export const stackPolicy = {
  Statement: [
    { Effect: 'Allow', Action: 'Update:*', Principal: '*', Resource: '*' },
    {
      Effect: 'Deny',
      Action: ['Update:Replace', 'Update:Delete'],
      Principal: '*',
      Resource: '*',
      Condition: { StringEquals: { ResourceType: statefulTypes } },
    },
  ],
};

/**
 * Sets the stack policy of a deployed data stack, and returns its name; a trial may be replaced.
 */
export async function protectData(
  { stacks }: GateReport,
  { removalPolicy, stage }: Config,
): Promise<string | null> {
  const { data } = stackNames(deploymentName(stage));
  const isDeployed = stacks.find(({ name }) => name === data)?.isDeployed;
  if (!isDeployed || removalPolicy === 'destroy') return null;
  const client = new CloudFormationClient(clientConfig);
  await client.send(
    new SetStackPolicyCommand({ StackName: data, StackPolicyBody: JSON.stringify(stackPolicy) }),
  );
  return data;
}

/** The app beside this file: compiled in a package, TypeScript in a clone. */
const app = resolve(import.meta.dirname, `../../bin/app${extname(import.meta.filename)}`);

/** The templates of a stage by the name of the stack. @throws CommandError with the app's output */
async function synthesizedTemplates(
  folder: string,
  stage: string,
): Promise<Map<string, ComparedTemplate>> {
  const output = await mkdtemp(join(tmpdir(), 'bag-adres-gate-'));
  try {
    const cdk = join(folder, 'cdk.json');
    const context = existsSync(cdk) ? (JSON.parse(readFileSync(cdk, 'utf8')).context ?? {}) : {};
    const env = {
      ...process.env,
      CDK_OUTDIR: output,
      // The code is not compared, so the bundles are not needed.
      CDK_CONTEXT_JSON: JSON.stringify({
        ...context,
        'bagAdres.stage': stage,
        'aws:cdk:bundling-stacks': [],
      }),
      CDK_VALIDATION: 'false',
    };
    await promisify(execFile)(process.execPath, [app], { cwd: folder, env }).catch((error) => {
      throw new CommandError('synthesis', String(error.stderr).trim() || String(error), {
        cause: error,
      });
    });
    const files = readdirSync(output).filter((file) => file.endsWith('.template.json'));
    const templates = files.map((file) => JSON.parse(readFileSync(join(output, file), 'utf8')));
    return new Map(
      files.map((file, index) => [basename(file, '.template.json'), templates[index]]),
    );
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}
