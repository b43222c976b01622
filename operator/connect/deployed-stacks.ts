import { CloudFormationClient, DescribeStacksCommand, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { deploymentName, portalStackName, type StackPart, stackNames } from '../../lib/config/deployment.ts';
import { CommandError } from './errors.ts';

/** A CloudFormation stack: its status, like `UPDATE_COMPLETE`, its outputs by name, and whether it can't be deleted. */
export type StackView = { status: string; outputs: Partial<Record<string, string>>; isProtected: boolean };

/** Reads a stack; throws CloudFormation's error when there is no such stack. */
export async function readStack(stack: string): Promise<StackView> {
  const { Stacks = [] } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: stack }));
  const outputs = Stacks[0]?.Outputs ?? [];
  return {
    status: Stacks[0]?.StackStatus ?? 'unknown',
    isProtected: Stacks[0]?.EnableTerminationProtection === true,
    outputs: Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])),
  };
}

/** The text of a stack's deployed template. */
export async function readTemplate(stack: string): Promise<string> {
  const client = new CloudFormationClient(clientConfig);
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: stack }));
  return TemplateBody;
}

/** Passes `undefined` for a stack that does not exist. Use: `readStack(name).catch(ifMissing)`. */
export function ifMissing(error: Error): undefined {
  if (!/does not exist/.test(error.message)) throw error;
}

/** The portal of a deployment: its stack, by status and outputs; `undefined` if it has no portal. */
export async function readPortal(deployment: string): Promise<(StackView & { stack: string }) | undefined> {
  const stack = portalStackName(deployment);
  const view = await readStack(stack).catch(ifMissing);
  return view && { ...view, stack };
}

/** The outputs of a deployment. */
export type Deployment = {
  /** The prefix of its stacks' names: `bag-adres-prod`. */
  name: string;
  /** @throws CommandError when no stack has this output */
  output(name: OutputName): string;
  /** An output that a deployment may lack: by its configuration, or because its version is older. */
  optionalOutput(name: OptionalOutputName): string | undefined;
};

export type OutputName =
  | 'AddressesTableName'
  | 'AccountsTableName'
  | 'AlarmTopicArn'
  | 'StateMachineArn'
  | 'SnapshotBucketName'
  | 'StatementsBucketName'
  | 'BaseUrl';

/**
 * `Version`: of this project, when it was deployed. `ExtractSource`, `MutationsSource`: the extract and the list of
 * mutations that the daily check asks for.
 */
export type OptionalOutputName = 'Version' | 'ExtractSource' | 'MutationsSource';

/** The deployment of a stage, and the names of its stacks. */
export function deploymentStacks(stage: string): { name: string; stacks: Record<StackPart, string> } {
  const name = deploymentName(stage);
  return { name, stacks: stackNames(name) };
}

/** Reads the outputs of some stacks of a stage. @throws CommandError when one does not exist */
export async function findDeployment(stage: string, wanted: readonly StackPart[]): Promise<Deployment> {
  const { name, stacks } = deploymentStacks(stage);
  const outputs = Object.assign({}, ...(await Promise.all(wanted.map((part) => outputsOf(stacks[part])))));
  return {
    name,
    output(key) {
      if (outputs[key] !== undefined) return outputs[key];
      const names = wanted.map((part) => stacks[part]).join(', ');
      throw new CommandError('no_output', `No output ${key} in ${names}. Deploy this version, or name another stage.`);
    },
    optionalOutput: (key) => outputs[key],
  };
}

async function outputsOf(stack: string): Promise<StackView['outputs']> {
  const view = await readStack(stack).catch(ifMissing);
  if (view) return view.outputs;
  const message =
    `The stack ${stack} does not exist in this account and region. Check --stage, AWS_PROFILE and AWS_REGION. ` +
    'If it was never deployed: npx cdk deploy --all.';
  throw new CommandError('aws_not_found', message);
}

/**
 * Configuration of the AWS clients: more retries and longer timeouts than a request of the service may take. Nobody
 * closes a client: its idle connections keep no process running.
 */
export const clientConfig = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};
