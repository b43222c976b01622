import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CommandError } from '../cli/arguments.ts';

/** A CloudFormation stack: how it is (`UPDATE_COMPLETE`), and its outputs by name. */
export type StackView = { status: string; outputs: Partial<Record<string, string>> };

/** Throws what CloudFormation says where there is no such stack. */
export async function readStack(stack: string): Promise<StackView> {
  const client = new CloudFormationClient();
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = Stacks[0]?.Outputs ?? [];
    return {
      status: Stacks[0]?.StackStatus ?? 'unknown',
      outputs: Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])),
    };
  } finally {
    client.destroy();
  }
}

/** The outputs of a CloudFormation stack, by name. */
export async function readStackOutputs(stack: string): Promise<StackView['outputs']> {
  return (await readStack(stack)).outputs;
}

/** The stacks of a deployment and what they put out. */
export type Deployment = {
  /** What the names of its stacks begin with: `bag-adres-prod`. */
  name: string;
  /** @throws CommandError where no stack puts this out */
  output(name: OutputName): string;
};

export type OutputName =
  | 'AddressesTableName'
  | 'AccountsTableName'
  | 'KeyChecksumSecretArn'
  | 'AlarmTopicArn'
  | 'StateMachineArn'
  | 'SnapshotBucketName'
  | 'BaseUrl';

const parts = ['data', 'service', 'loader'] as const;

/** What the stacks of a deployment are called, from the name of any of them or from what all their names begin with. */
export function deploymentStacks(stack: string): { name: string; stacks: Record<(typeof parts)[number], string> } {
  const name = stack.replace(/-(?:data|service|loader)$/, '');
  return { name, stacks: { data: `${name}-data`, service: `${name}-service`, loader: `${name}-loader` } };
}

/** Reads the outputs of some stacks of a deployment. @throws CommandError where one does not exist */
export async function findDeployment(stack: string, wanted: readonly (typeof parts)[number][]): Promise<Deployment> {
  const { name, stacks } = deploymentStacks(stack);
  const outputs = Object.assign({}, ...(await Promise.all(wanted.map((part) => outputsOf(stacks[part])))));
  return {
    name,
    output(key) {
      if (outputs[key] !== undefined) return outputs[key];
      const names = wanted.map((part) => stacks[part]).join(', ');
      throw new CommandError(
        'no_output',
        `There is no output ${key} in ${names}; deploy again, or name another stack.`,
      );
    },
  };
}

async function outputsOf(stack: string): Promise<Partial<Record<string, string>>> {
  return readStackOutputs(stack).catch((error: Error) => {
    if (!/does not exist/.test(error.message)) throw error;
    const message =
      `The stack ${stack} does not exist. --stack takes any stack of a deployment, like bag-adres-prod-data, or what ` +
      'their names begin with, like bag-adres-prod; check it, AWS_PROFILE and AWS_REGION.';
    throw new CommandError('aws_not_found', message, { cause: error });
  });
}

/** Settings of an AWS client: an operator waits longer than a request may, but not for ever. */
export const patience = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};
