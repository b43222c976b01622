import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run } from '../../package/checks.ts';
import { pythonPackages, root } from '../judge.ts';

export const account = '123456789012';
export const region = 'eu-central-1';

/** What the server noted: a part of AWS that moto lacks, or that something of ours failed. */
export type Note = Partial<
  Record<'unknownType' | 'notUpdated' | 'unknownProperty' | Objection | 'reason', string>
>;
type Objection = 'denied' | 'failed';

/** What of the notes speaks against us: what a role of ours may not do, and what failed. */
export const objections = (notes: readonly Note[]) =>
  notes.flatMap(({ denied, failed, reason }) => denied ?? (failed ? `${failed}: ${reason}` : []));

// biome-ignore lint/suspicious/noExplicitAny: what boto3 answers, of any service
export type Answer = any;

/**
 * An AWS on this machine, by the variables with which every client, the CDK's and ours, calls it.
 */
export type Reached = { environment: Readonly<Record<string, string>> };

/** AWS by moto, for as long as a judge sits. */
export type Aws = Reached & {
  /**
   * Calls an operation by boto3, which had no part in what is judged. @throws Error if it is
   * refused
   */
  ask(
    service: string,
    operation: string,
    parameters?: Readonly<Record<string, unknown>>,
  ): Promise<Answer>;
  /**
   * From now on a role may do only what its policies allow; the operator goes on doing anything.
   */
  checkAccess(): Promise<void>;
  /** What was noted since the last time. */
  notes(): Note[];
  stop(): Promise<void>;
};

/** What leads a client to an endpoint on this machine. */
export const environmentAt = (endpoint: string, AWS_ACCESS_KEY_ID: string) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: region,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY: AWS_ACCESS_KEY_ID,
});

/** Starts moto's server. @throws Error if it ends before it listens */
export async function startAws(): Promise<Aws> {
  const packages = await pythonPackages('aws/requirements.txt');
  const server = spawn(join(packages, 'bin/python'), [
    '-B',
    join(import.meta.dirname, 'server.py'),
  ]);
  let log = '';
  server.stderr.on('data', (chunk) => (log = `${log}${chunk}`.slice(-20_000)));
  const ended = once(server, 'exit').then(() => {
    throw new Error(`moto ended:\n${log}`);
  });
  ended.catch(() => undefined);
  const noted: Note[] = [];
  const waiting: ((line: Answer) => void)[] = [];
  createInterface(server.stdout).on('line', (text) => {
    const line = JSON.parse(text);
    if ('endpoint' in line || 'answer' in line || 'refused' in line) waiting.shift()?.(line);
    else {
      noted.push(line);
    }
  });
  const next = () => Promise.race([new Promise<Answer>((resolve) => waiting.push(resolve)), ended]);
  const { endpoint } = await next();
  return {
    environment: environmentAt(endpoint, 'operator'),
    async ask(service, operation, parameters = {}) {
      const answered = next();
      server.stdin.write(`${JSON.stringify({ service, region, operation, parameters })}\n`);
      const { answer, refused } = await answered;
      if (refused !== undefined) throw new Error(`${service} ${operation}: ${refused}`);
      return answer;
    },
    async checkAccess() {
      await fetch(`${endpoint}/moto-api/reset-auth`, { method: 'POST', body: '0' });
    },
    notes: () => noted.splice(0),
    async stop() {
      server.stdin.end();
      server.kill();
      await ended.catch(() => undefined);
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'judge-aws-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let made: Promise<string> | undefined;

/** A folder of an operator, with the installed package of a release, made once for all judges. */
export function operatorFolder(): Promise<string> {
  made ??= (async () => {
    await run(root, 'npm', ['run', 'release', '--', '--dry-run', '--out', folder]);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const quick = ['--no-audit', '--no-fund', '--prefer-offline'];
    await inFolder('npm', ['install', ...quick, join(folder, `bag-adres-${version}.tgz`)]);
    await inFolder('npx', ['--no', 'bag-adres', 'init', '--yes', '--account', `prod=${account}`]);
    await inFolder('npm', ['install', ...quick]);
    return folder;
  })();
  return made;
}

const inFolder = (command: string, args: string[], variables: NodeJS.ProcessEnv = {}) =>
  run(folder, command, args, { INIT_CWD: folder, ...variables });

const bin = (command: string) => join(folder, 'node_modules/.bin', command);

/** A file of the pipeline's policies, as an operator fills it in. */
const policy = (file: string) =>
  readFileSync(join(folder, 'node_modules/bag-adres/docs/examples/pipeline', file), 'utf8');

/** Bootstraps the account as the pipeline's README says, with its policies. */
export async function bootstrap({ ask, environment }: Aws): Promise<void> {
  await operatorFolder();
  const arns: string[] = [];
  for (const [name, file] of Object.entries({
    boundary: 'permissions-boundary',
    execution: 'execution-policy',
  })) {
    const parameters = { PolicyName: `bag-adres-${name}`, PolicyDocument: policy(`${file}.json`) };
    arns.push((await ask('iam', 'create_policy', parameters)).Policy.Arn);
  }
  const options = ['--cloudformation-execution-policies', arns[1] ?? ''];
  await bootstrapWith({ environment }, options);
}

/** Bootstraps the account. */
export async function bootstrapWith(
  { environment }: Reached,
  options: readonly string[] = [],
): Promise<void> {
  await operatorFolder();
  // Where no cdk.json asks for a synthesis first.
  const elsewhere = join(folder, 'node_modules');
  await run(
    elsewhere,
    bin('cdk'),
    ['bootstrap', `aws://${account}/${region}`, ...options],
    environment,
  );
}

/** The same AWS, called with a role that a policy of the pipeline is for. */
export async function withRole(aws: Aws, RoleName: string, file: string): Promise<Aws> {
  const trust = {
    Effect: 'Allow',
    Principal: { AWS: `arn:aws:iam::${account}:root` },
    Action: 'sts:AssumeRole',
  };
  const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [trust] });
  const { Role } = await aws.ask('iam', 'create_role', { RoleName, AssumeRolePolicyDocument });
  await aws.ask('iam', 'put_role_policy', {
    RoleName,
    PolicyName: 'judge',
    PolicyDocument: policy(file),
  });
  const { Credentials } = await aws.ask('sts', 'assume_role', {
    RoleArn: Role.Arn,
    RoleSessionName: 'judge',
  });
  const { AccessKeyId, SecretAccessKey, SessionToken: AWS_SESSION_TOKEN } = Credentials;
  const role = {
    AWS_ACCESS_KEY_ID: AccessKeyId,
    AWS_SECRET_ACCESS_KEY: SecretAccessKey,
    AWS_SESSION_TOKEN,
  };
  return { ...aws, environment: { ...aws.environment, ...role } };
}

/** Settings of a stage that is deployed or destroyed. */
export type Settings = Readonly<Record<string, unknown>>;

/**
 * Deploys or destroys all stacks of a stage. @throws Error with what the CDK printed, where it
 * fails
 */
export async function cdk(
  aws: Reached,
  command: 'deploy' | 'destroy',
  stage: string,
  settings: Settings,
) {
  writeFileSync(
    join(folder, 'bag-adres.json'),
    JSON.stringify({ stages: { [stage]: { account, ...settings } } }),
  );
  const context = {
    '@aws-cdk/core:permissionsBoundary': { name: 'bag-adres-boundary' },
    'bagAdres.stage': stage,
  };
  writeFileSync(
    join(folder, 'cdk.json'),
    JSON.stringify({ app: 'node_modules/.bin/bag-adres app', context }),
  );
  rmSync(join(folder, 'cdk.out'), { recursive: true, force: true });
  // The CDK reads of a change set what moto's don't have.
  const options =
    command === 'deploy' ? ['--require-approval', 'never', '--method', 'direct'] : ['--force'];
  // The rules that the CDK checks a template by take most of the time; tests check them.
  const quick = { ...aws.environment, CDK_VALIDATION: 'false' };
  await inFolder(bin('cdk'), [command, '--all', '--no-notices', ...options], quick);
}

/** Runs a command of the installed package. @throws Error with what it printed, where it fails */
export function bagAdres(aws: Reached, ...args: string[]): Promise<string> {
  return inFolder(bin('bag-adres'), args, aws.environment);
}

/** The outputs of the stacks of a deployment. */
export async function outputsOf({ ask }: Aws, deployment: string): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {};
  for (const part of ['data', 'service', 'loader']) {
    const { Stacks } = await ask('cloudformation', 'describe_stacks', {
      StackName: `${deployment}-${part}`,
    });
    for (const { OutputKey, OutputValue } of Stacks[0].Outputs) outputs[OutputKey] = OutputValue;
  }
  return outputs;
}
