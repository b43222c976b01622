import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import { followingProxySwitch } from '../../core/connections.ts';
import { layoutFault } from '../../core/tables.ts';
import {
  deploymentName,
  type StackPart,
  stackNames,
  templateMetadata,
} from '../../lib/config/deployment.ts';
import { CommandError } from './errors.ts';

/**
 * The status of a stack, like `UPDATE_COMPLETE`, and its outputs. @throws CloudFormation's error if
 * it is missing
 */
export async function readStack(stack: string) {
  const { Stacks = [] } = await new CloudFormationClient(clientConfig).send(
    new DescribeStacksCommand({ StackName: stack }),
  );
  const { StackStatus: status = 'unknown', Outputs = [] } = Stacks[0] ?? {};
  const named = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
  return { status, outputs: Object.fromEntries(named) as Partial<Record<string, string>> };
}

export async function readTemplate(stack: string): Promise<string> {
  const client = new CloudFormationClient(clientConfig);
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: stack }));
  return TemplateBody;
}

/**
 * How the layout of a stack's data, by its deployed template, differs from this version's;
 * `undefined` if it does not: `layoutFault`.
 */
export function templateLayoutFault(template: string): string | undefined {
  const { Metadata = {} } = JSON.parse(template) as { Metadata?: Record<string, unknown> };
  const { layout } = (Metadata[templateMetadata] ?? {}) as { layout?: unknown };
  return layoutFault(layout);
}

/** Passes `undefined` for a stack that does not exist. Use: `readStack(name).catch(ifMissing)`. */
export function ifMissing(error: Error): undefined {
  if (!/does not exist/.test(error.message)) throw error;
}

export type OutputName =
  | 'AddressesTableName'
  | 'AccountsTableName'
  | 'AlarmTopicArn'
  | 'StateMachineArn'
  | 'SnapshotBucketName'
  | 'StatementsBucketName'
  | 'BaseUrl';

/**
 * `Version`: of this project, when it was deployed. `MutationsSource`: the list that the daily
 * check asks for.
 */
export type OptionalOutputName = 'Version' | 'MutationsSource';

export function deploymentStacks(stage: string): {
  name: string;
  stacks: Record<StackPart, string>;
} {
  const name = deploymentName(stage);
  return { name, stacks: stackNames(name) };
}

/** Reads the outputs of some stacks of a stage. @throws CommandError when one does not exist */
export async function findDeployment(stage: string, wanted: readonly StackPart[]) {
  const { name, stacks } = deploymentStacks(stage);
  const outputs = Object.assign(
    {},
    ...(await Promise.all(wanted.map((part) => outputsOf(stacks[part])))),
  );
  return {
    name,
    /** @throws CommandError when no stack has this output */
    output(key: OutputName): string {
      if (outputs[key] !== undefined) return outputs[key];
      const names = wanted.map((part) => stacks[part]).join(', ');
      throw new CommandError(
        'no_output',
        `No output ${key} in ${names}. Deploy this version, or name another stage.`,
      );
    },
    /**
     * An output that a deployment may lack: by its configuration, or because its version is older.
     */
    optionalOutput: (key: OptionalOutputName): string | undefined => outputs[key],
  };
}

async function outputsOf(stack: string) {
  const view = await readStack(stack).catch(ifMissing);
  if (view) return view.outputs;
  const missing = `The stack ${stack} does not exist in this account and region.`;
  const advice =
    'Check --stage, AWS_PROFILE and AWS_REGION. If it was never deployed: npx cdk deploy --all.';
  throw new CommandError('aws_not_found', `${missing} ${advice}`);
}

/**
 * Configuration of the AWS clients: more retries and longer timeouts than a request of the service
 * may take. Nobody closes a client: its idle connections keep no process running.
 */
export const clientConfig = {
  maxAttempts: 5,
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    throwOnRequestTimeout: true,
    ...followingProxySwitch(),
  },
};
