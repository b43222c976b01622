import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { deploymentName, portalStackName } from '../../lib/config/deployment.ts';
import { workflowCommands } from '../../tools/rehearsal/documented-commands.ts';
import { everything, portal, type Template, templates } from '../lib/synthesized.ts';
import { folderForNow } from '../support/folder-for-now.ts';

type Statement = { Action: string | string[]; Condition?: Record<string, Record<string, unknown>> };

function statementsIn(file: string): Statement[] {
  return JSON.parse(readFileSync(`docs/examples/pipeline/${file}`, 'utf8')).Statement;
}

/** The actions of a policy of the example, of every statement. */
function actionsIn(file: string): string[] {
  return statementsIn(file).flatMap(({ Action }) => Action);
}

/** The actions that let a role do something: with one of these, whoever may also pass the role may do anything. */
const givesPermission =
  /^(?:\*|iam:(?:\*|CreateRole|PutRole.*|AttachRole.*|DeleteRolePermissionsBoundary|.*Policy(?:Version)?))$/;
const harmless = ['iam:DeleteRolePolicy', 'iam:DetachRolePolicy', 'iam:GetRolePolicy', 'iam:UpdateAssumeRolePolicy'];

/** What CloudFormation calls for these resources, by the handlers of their schemas in its registry. */
const calls: Readonly<Record<string, string>> = {
  'AWS::Lambda::Function':
    'CreateFunction GetFunction GetFunctionCodeSigningConfig GetFunctionRecursionConfig GetRuntimeManagementConfig ' +
    'PutFunctionConcurrency DeleteFunctionConcurrency UpdateFunctionCode UpdateFunctionConfiguration TagResource ' +
    'UntagResource ListTags DeleteFunction',
  'AWS::Lambda::Version': 'PublishVersion GetFunctionConfiguration GetProvisionedConcurrencyConfig DeleteFunction',
  'AWS::Lambda::Alias':
    'CreateAlias GetAlias UpdateAlias DeleteAlias PutProvisionedConcurrencyConfig GetProvisionedConcurrencyConfig ' +
    'DeleteProvisionedConcurrencyConfig',
  'AWS::Lambda::Permission': 'AddPermission GetPolicy RemovePermission',
};

/** What the actions of a service begin with, where that is not its name in CloudFormation. */
const prefixes: Readonly<Record<string, string>> = {
  ApiGatewayV2: 'apigateway',
  Cognito: 'cognito-idp',
  StepFunctions: 'states',
};

describe('the policies of the example pipeline', () => {
  let all: Template[];
  beforeAll(async () => {
    const { data, service, loader, stack } = await templates({ ...everything, portal });
    all = [data, service, loader, stack(portalStackName(deploymentName(everything.stage))).template];
  }, 60_000);

  it('let CloudFormation create every resource of every stack', () => {
    const services = new Set(
      all
        .flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type.split('::')))
        .map(([, name = '']) => name),
    );
    expect(services.size).toBeGreaterThan(10);
    const allowed = actionsIn('execution-policy.json').map((action) => action.split(':', 1)[0]);
    const missing = [...services].filter((name) => !allowed.includes(prefixes[name] ?? name.toLowerCase()));
    expect(missing).toEqual([]);
  });

  it('name the calls of Lambda one by one, and leave out none that CloudFormation makes', () => {
    const types = new Set(all.flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type)));
    const ofLambda = [...types].filter((type) => type.startsWith('AWS::Lambda::'));
    const needed = ofLambda.flatMap((type) => (calls[type] ?? `the calls of ${type}`).split(' '));
    const allowed = actionsIn('execution-policy.json').flatMap((action) => /^lambda:(.*)$/.exec(action)?.[1] ?? []);
    expect(ofLambda.length).toBeGreaterThan(3);
    expect(needed.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(allowed.filter((name) => name.includes('*') || /Invoke|Layer/.test(name))).toEqual([]);
  });

  it('let nobody give a role any permission without the boundary', () => {
    const giving = statementsIn('execution-policy.json').filter(({ Action }) =>
      [Action].flat().some((action) => givesPermission.test(action) && !harmless.includes(action)),
    );
    expect(giving.length).toBeGreaterThan(1);
    for (const { Condition = {} } of giving)
      expect(Condition.StringEquals?.['iam:PermissionsBoundary']).toMatch(/:policy\/bag-adres-boundary$/);
  });

  it('have a boundary within which the roles of the stacks can do all that they do, and can give no permission', () => {
    const within = actionsIn('permissions-boundary.json');
    const resources = all.flatMap(({ Resources }) => Object.values(Resources));
    const used = resources
      .filter(({ Type }) => Type === 'AWS::IAM::Policy')
      .flatMap(
        ({ Properties }) => (Properties as { PolicyDocument: { Statement: Statement[] } }).PolicyDocument.Statement,
      )
      .flatMap(({ Action }) => Action);
    expect(new Set(used).size).toBeGreaterThan(20);
    expect([...new Set(used)].filter((action) => !within.includes(action))).toEqual([]);
    expect(within.filter((action) => /[*]|^(?:iam|sts|organizations|account):/.test(action))).toEqual([]);
    // Every policy is one that this test has read.
    const inline = resources.filter(({ Type, Properties }) => Type === 'AWS::IAM::Role' && Properties?.Policies);
    expect(inline).toEqual([]);
  });

  it('reach no role, function, table or bucket of others, which the stacks name by their own names', () => {
    const named = all
      .flatMap(({ Resources }) => Object.values(Resources))
      .flatMap(({ Properties = {} }) =>
        ['RoleName', 'FunctionName', 'TableName', 'BucketName'].map((name) => Properties[name]),
      )
      .filter((name) => typeof name === 'string');
    expect(named).toEqual([]);
    const ofStacks = statementsIn('execution-policy.json').filter(({ Action }) =>
      [Action].flat().some((action) => /^(?:iam|lambda|dynamodb):/.test(action)),
    ) as (Statement & { Resource: string | string[] })[];
    expect(ofStacks.length).toBeGreaterThan(5);
    for (const { Resource } of ofStacks) for (const one of [Resource].flat()) expect(one).toContain('bag-adres-');
  });

  it('allow every command of doctor', () => {
    const files = globSync('operator/checks/*.ts');
    const sources = files.map((file) => readFileSync(file, 'utf8'));
    const sent = sources
      .flatMap((source) => [...source.matchAll(/new (\w+)Command\(/g)].map(([, name = '']) => name))
      // Of the settings of a table it only reads.
      .filter((name) => !/^(?:Update|Tag)/.test(name));
    expect(sent.length).toBeGreaterThan(10);
    const allowed = actionsIn('deploy-policy.json').map((action) => action.split(':')[1]);
    // Whoever has credentials may ask whose they are.
    expect(sent.filter((command) => command !== 'GetCallerIdentity' && !allowed.includes(command))).toEqual([]);
  });
});

describe('the workflow of the example pipeline', () => {
  const file = 'docs/examples/pipeline/deploy.yml';
  const workflow = readFileSync(file, 'utf8');
  const folder = folderForNow('bag-adres-pipeline-');

  /** What the step that reads the settings gives to the other jobs, by the name of the output. */
  function outputsOf(stages: Record<string, object>): { status: number | null; outputs: Record<string, string> } {
    const here = mkdtempSync(join(folder, 'a-'));
    writeFileSync(join(here, 'bag-adres.json'), JSON.stringify({ stages }));
    writeFileSync(
      join(here, 'npx'),
      `#!/bin/sh\nshift; exec "${process.execPath}" "${resolve('bin/bag-adres.ts')}" "$@"\n`,
    );
    chmodSync(join(here, 'npx'), 0o755);
    const script = workflowCommands(file, workflow).find(({ shell }) => shell.includes('config show'))?.shell ?? '';
    const env = { ...process.env, PATH: [here, process.env.PATH].join(delimiter), GITHUB_OUTPUT: join(here, 'output') };
    const { status } = spawnSync('bash', ['-e', '-c', script], { cwd: here, env });
    const written = readFileSync(join(here, 'output'), 'utf8');
    const outputs = [...written.matchAll(/^(\w+)<<END\n([\s\S]*?)\nEND$/gm)].map(([, name, value]) => [name, value]);
    return { status, outputs: Object.fromEntries(outputs) };
  }

  it('names no region and no account', () => {
    expect(workflow).not.toMatch(/\b[a-z]{2}-[a-z]+-\d\b|\d{12}\b(?!\w)/);
    expect(workflow).not.toContain('bagAdres.account');
  });

  it('signs in to the region and the account that bag-adres.json has for the stage that a job deploys', () => {
    const test = { region: 'eu-west-1', account: '111111111111' };
    const prod = { region: 'eu-north-1', account: '222222222222' };
    const { status, outputs } = outputsOf({ test, prod });
    expect(status).toBe(0);
    const jobs = workflow.split(/^ {2}(?=\w+:$)/m).filter((job) => job.includes('configure-aws-credentials'));
    const signedIn = jobs.map((job) => {
      const values = [
        ...job.matchAll(
          /(aws-region|allowed-account-ids): \$\{\{ fromJSON\(needs\.settings\.outputs\.(\w+)\)\.settings\.(\w+) \}\}/g,
        ),
      ];
      return [
        job.split(':', 1)[0],
        ...values.map(
          ([, input, stage = '', field = '']) => `${input}=${JSON.parse(outputs[stage] ?? '{}').settings[field]}`,
        ),
      ];
    });
    const of = ({ region, account }: typeof test) => [`aws-region=${region}`, `allowed-account-ids=${account}`];
    // A pull request is compared with prod, and so is a "cdk" that names no stage.
    expect(signedIn).toEqual([
      ['diff', ...of(prod)],
      ['test', ...of(test)],
      ['prod', ...of(prod)],
    ]);
    for (const [job, stage] of [
      [jobs[0], undefined],
      [jobs[1], 'test'],
      [jobs[2], undefined],
    ] as const)
      expect(/npx cdk .*-c bagAdres\.stage=(\w+)/.exec(job ?? '')?.[1]).toBe(stage);
  });

  it('stops before it signs in where a stage has no account', () => {
    expect(outputsOf({ test: {}, prod: {} })).toEqual({ status: 1, outputs: {} });
  });
});
