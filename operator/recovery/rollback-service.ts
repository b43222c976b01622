import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  paginateListVersionsByFunction,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { environment } from '../../core/names.ts';
import { readSecret } from '../connect/admin.ts';
import { clientConfig } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { type RecoveryInput, type RecoveryReport, recover } from './procedure.ts';

/** The functions that answer requests, by the beginning of their logical ids. */
const parts = ['AddressFunction', 'ValidateFunction'] as const;
const Name = 'live';

/**
 * Points the functions that answer requests to an earlier version, which takes seconds. A version from before a
 * rotation of the checksum secret would refuse every newer key, and is not chosen without `force`. A function that an
 * earlier run moved, as the description of its alias says, stays where it is, unless it is to go `further` back.
 * @throws CommandError when a deployment is in progress, or there is no such version
 */
export async function rollbackService(
  input: RecoveryInput & { force: boolean; further: boolean },
): Promise<RecoveryReport> {
  const lambda = new LambdaClient(clientConfig);
  try {
    return await recover(input, ['data', 'service'], async ({ name, stacks, output, audit }) => {
      const functions = await functionsOf(stacks.service);
      const secret = await readSecret(output('KeyChecksumSecretArn'));
      const aliases = await Promise.all(functions.map((one) => aliasOf(lambda, one, name)));
      const targets = await Promise.all(aliases.map((alias) => targetOf(lambda, alias, input.further)));
      const older = targets.find(({ secrets }) => !secrets.includes(secret));
      if (older && !input.force) {
        throw new CommandError(
          'before_rotation',
          `Version ${older.to} of ${older.part} is from before the rotation of the checksum secret: it would refuse every key that was issued since. ` +
            'Deploy a good version of the code instead (docs/runbook.md#roll-back-in-an-emergency), or add --force to refuse those keys.',
        );
      }
      const versions = (which: 'from' | 'to') => Object.fromEntries(targets.map((one) => [one.part, one[which]]));
      const detail = { versions: versions('to'), before: versions('from') };
      const deploy = `npx cdk deploy ${stacks.service} -c bagAdres.deployment=emergency`;
      return {
        steps: targets.map(({ part, FunctionName, isMoved, from, to, modified }) => ({
          what: `Point ${part} (${FunctionName}) from version ${from} to ${to}, of ${modified}`,
          isDone: async () => isMoved,
          run: () => {
            const moved = { FunctionVersion: to, Description: `Rolled back from ${from} to ${to}` };
            const RoutingConfig = { AdditionalVersionWeights: {} };
            return lambda.send(new UpdateAliasCommand({ FunctionName, Name, RoutingConfig, ...moved }));
          },
        })),
        summary: input.execute ? [] : ['Requests go to the earlier version within seconds. Data is not touched.'],
        around: (work) => (input.execute ? audit('service rollback', detail, work) : work()),
        end: async () => [`Now deploy a good version: ${deploy}.`],
      };
    });
  } finally {
    lambda.destroy();
  }
}

type ServiceFunction = { part: string; FunctionName: string };

async function functionsOf(stack: string): Promise<ServiceFunction[]> {
  const client = new CloudFormationClient(clientConfig);
  try {
    const { StackResourceSummaries = [] } = await client.send(new ListStackResourcesCommand({ StackName: stack }));
    const found = StackResourceSummaries.filter(({ ResourceType }) => ResourceType === 'AWS::Lambda::Function');
    return parts.map((part) => {
      const one = found.find(({ LogicalResourceId }) => LogicalResourceId?.startsWith(part));
      if (one?.PhysicalResourceId) return { part, FunctionName: one.PhysicalResourceId };
      throw new CommandError('no_function', `The stack ${stack} has no ${part}. Name another stack.`);
    });
  } finally {
    client.destroy();
  }
}

type Alias = ServiceFunction & { version: string; movedFrom: string | undefined };

/** The live version of a function, and the one from which a rollback moved it there. */
async function aliasOf(lambda: LambdaClient, { part, FunctionName }: ServiceFunction, name: string): Promise<Alias> {
  const { FunctionVersion: version = '', ...alias } = await lambda.send(new GetAliasCommand({ FunctionName, Name }));
  if (Object.keys(alias.RoutingConfig?.AdditionalVersionWeights ?? {}).length > 0) {
    throw new CommandError(
      'deploying',
      `A deployment of ${part} is shifting traffic. Stop it, which moves traffic back: aws deploy stop-deployment, as in ` +
        `docs/runbook.md#roll-back-in-an-emergency. Then see "rollback --stack ${name}" again.`,
    );
  }
  const [, from, to] = /^Rolled back from (\d+) to (\d+)$/.exec(alias.Description ?? '') ?? [];
  // A deployment since then leaves the description.
  return { part, FunctionName, version, movedFrom: to === version ? from : undefined };
}

/**
 * The version before the live one, or where it was moved already the live one itself, and the checksum secrets that it
 * was deployed with.
 */
async function targetOf(lambda: LambdaClient, { version, movedFrom, ...one }: Alias, further: boolean) {
  const { part, FunctionName } = one;
  const isMoved = !further && movedFrom !== undefined;
  const from = isMoved ? movedFrom : version;
  const earlier: { to: string; modified: string }[] = [];
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client: lambda }, { FunctionName })) {
    const versions = Versions.map(({ Version = '', LastModified = '' }) => ({ to: Version, modified: LastModified }));
    earlier.push(...versions.filter(({ to }) => (isMoved ? to === version : Number(to) < Number(from))));
  }
  const [target] = earlier.toSorted((a, b) => Number(b.to) - Number(a.to));
  if (!target) {
    const message = `${part} has no version before ${from}. Deploy a good version of the code instead.`;
    throw new CommandError('no_version', message);
  }
  const { Environment } = await lambda.send(
    new GetFunctionConfigurationCommand({ FunctionName, Qualifier: target.to }),
  );
  const { [environment.keyChecksumSecret]: current, [environment.previousKeyChecksumSecret]: previous } =
    Environment?.Variables ?? {};
  return { ...one, isMoved, from, ...target, secrets: [current, previous] };
}
