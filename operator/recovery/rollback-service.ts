import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListVersionsByFunctionCommand,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { environment } from '../../core/names.ts';
import { callerIdentity, readSecret } from '../connect/admin.ts';
import { clientConfig, deploymentStacks, findDeployment } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { operatorAudit, servicePartition } from '../connect/operator-audit.ts';
import { runProcedure, type Step } from './procedure.ts';
import type { RestoreInput, RestoreReport } from './restore.ts';
import { smokeLines } from './verify.ts';

/** The functions that answer requests, by the beginning of their logical ids. */
const parts = ['AddressFunction', 'ValidateFunction'] as const;
const alias = 'live';

/**
 * Points the functions that answer requests to an earlier version, which takes seconds. A version from before a
 * rotation of the checksum secret would refuse every newer key, and is not chosen without `force`.
 * @throws CommandError when a deployment is in progress, or there is no such version
 */
export async function rollbackService(input: RestoreInput & { force: boolean }): Promise<RestoreReport> {
  const { name, stacks } = deploymentStacks(input.stack);
  const { output } = await findDeployment(input.stack, ['data', 'service']);
  const functions = await functionsOf(stacks.service);
  const lambda = new LambdaClient(clientConfig);
  const dynamoDb = new DynamoDBClient({ ...clientConfig, maxAttempts: 2 });
  const warnings: string[] = [];
  const audit = operatorAudit({
    client: dynamoDb,
    accountsTable: output('AccountsTableName'),
    actor: callerIdentity,
    print: (line) => warnings.push(line),
    partition: servicePartition,
  });
  try {
    const secret = await readSecret(output('KeyChecksumSecretArn'));
    const targets = await Promise.all(functions.map((one) => targetOf(lambda, one, name)));
    for (const { part, to, secrets } of targets) {
      if (secrets.includes(secret) || input.force) continue;
      throw new CommandError(
        'before_rotation',
        `Version ${to} of ${part} is from before the rotation of the checksum secret: it would refuse every key that was issued since. ` +
          'Deploy a good version of the code instead (docs/runbook.md#roll-back-in-an-emergency), or add --force to refuse those keys.',
      );
    }
    const steps = targets.map(
      ({ part, functionName, from, to, modified }): Step => ({
        what: `Point ${part} (${functionName}) from version ${from} to ${to}, of ${modified}`,
        isDone: async () => false,
        run: async () =>
          void (await lambda.send(
            new UpdateAliasCommand({
              FunctionName: functionName,
              Name: alias,
              FunctionVersion: to,
              RoutingConfig: { AdditionalVersionWeights: {} },
            }),
          )),
      }),
    );
    const versions = (which: 'from' | 'to') => Object.fromEntries(targets.map((one) => [one.part, one[which]]));
    const detail = { versions: versions('to'), before: versions('from') };
    const work = () => runProcedure(steps, input);
    const report = await (input.execute ? audit('service rollback', detail, work) : work());
    const summary =
      report.remaining.length > 0
        ? ['Requests go to the earlier version within seconds. Data is not touched.']
        : [
            `Now deploy a good version: npx cdk deploy ${stacks.service} -c bagAdres.deployment=emergency.`,
            ...(await smokeLines(output('BaseUrl'), input.key)),
          ];
    return { ...report, summary: [...warnings, ...summary] };
  } finally {
    dynamoDb.destroy();
    lambda.destroy();
  }
}

type ServiceFunction = { part: string; functionName: string };

async function functionsOf(stack: string): Promise<ServiceFunction[]> {
  const client = new CloudFormationClient(clientConfig);
  try {
    const { StackResourceSummaries = [] } = await client.send(new ListStackResourcesCommand({ StackName: stack }));
    const found = StackResourceSummaries.filter(({ ResourceType }) => ResourceType === 'AWS::Lambda::Function');
    return parts.map((part) => {
      const one = found.find(({ LogicalResourceId }) => LogicalResourceId?.startsWith(part));
      if (one?.PhysicalResourceId) return { part, functionName: one.PhysicalResourceId };
      throw new CommandError('no_function', `The stack ${stack} has no ${part}. Name another stack.`);
    });
  } finally {
    client.destroy();
  }
}

async function targetOf(lambda: LambdaClient, { part, functionName }: ServiceFunction, name: string) {
  const FunctionName = functionName;
  const { FunctionVersion: from = '', RoutingConfig } = await lambda.send(
    new GetAliasCommand({ FunctionName, Name: alias }),
  );
  if (Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {}).length > 0) {
    throw new CommandError(
      'deploying',
      `A deployment of ${part} is shifting traffic. Stop it, which moves traffic back: aws deploy stop-deployment, as in ` +
        `docs/runbook.md#roll-back-in-an-emergency. Then see "rollback --stack ${name}" again.`,
    );
  }
  const versions: { version: string; modified: string }[] = [];
  let Marker: string | undefined;
  do {
    const page: { Versions?: { Version?: string; LastModified?: string }[]; NextMarker?: string } = await lambda.send(
      new ListVersionsByFunctionCommand({ FunctionName, ...(Marker && { Marker }) }),
    );
    versions.push(
      ...(page.Versions ?? []).map(({ Version = '', LastModified = '' }) => ({
        version: Version,
        modified: LastModified,
      })),
    );
    Marker = page.NextMarker;
  } while (Marker !== undefined);
  const earlier = versions
    .filter(({ version }) => Number(version) < Number(from))
    .toSorted((a, b) => Number(b.version) - Number(a.version));
  const [target] = earlier;
  if (!target) {
    throw new CommandError(
      'no_version',
      `${part} has no version before ${from}. Deploy a good version of the code instead.`,
    );
  }
  const { Environment } = await lambda.send(
    new GetFunctionConfigurationCommand({ FunctionName, Qualifier: target.version }),
  );
  const { [environment.keyChecksumSecret]: current, [environment.previousKeyChecksumSecret]: previous } =
    Environment?.Variables ?? {};
  return { part, functionName, from, to: target.version, modified: target.modified, secrets: [current, previous] };
}
