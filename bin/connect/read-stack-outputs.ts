import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

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
