import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { workflowCommands } from '../../tools/rehearsal/documented-commands.ts';
import { everything, portal, type Resource, templates } from '../lib/synthesized.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { sweep } from '../support/sweep.ts';

type Statement = { Action: string | string[]; Condition?: Record<string, Record<string, unknown>> };

function statementsIn(file: string): Statement[] {
  return JSON.parse(readFileSync(`docs/examples/pipeline/${file}`, 'utf8')).Statement;
}

/** The actions of a policy of the example, of every statement. */
function actionsIn(file: string): string[] {
  return statementsIn(file).flatMap(({ Action }) => Action);
}

/**
 * The actions that let a role do something: with one of these, whoever may also pass the role may
 * do anything.
 */
const givesPermission =
  /^(?:\*|iam:(?:\*|CreateRole|PutRole.*|AttachRole.*|DeleteRolePermissionsBoundary|.*Policy(?:Version)?))$/;
const harmless = [
  'iam:DeleteRolePolicy',
  'iam:DetachRolePolicy',
  'iam:GetRolePolicy',
  'iam:UpdateAssumeRolePolicy',
];

/** What CloudFormation calls for each type of resource. */
const { permissions } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'handler-permissions.json'), 'utf8'),
) as {
  permissions: Record<string, string>;
};

/** Types that have no handlers in the registry: of them only the service is checked. */
const withoutHandlers = [
  'AWS::ApiGatewayV2::Stage',
  'AWS::Budgets::Budget',
  'AWS::CDK::Metadata',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::Route53::RecordSet',
];

/**
 * Calls for what no stack has: networks, file systems, streams, Firehose, S3 Tables, code signing,
 * layers, people.
 */
const unused =
  /^(?:ec2|elasticfilesystem|kinesis|firehose|s3tables|cloudfront):|^lambda:.*(?:CodeSigning|LayerVersion|PutFunctionRecursion)|^iam:.*(?:Group|User)Policy$/;
/** A role never loses its boundary. */
const withheld = ['iam:DeleteRolePermissionsBoundary'];

/** What the actions of a service begin with, where that is not its name in CloudFormation. */
const prefixes: Readonly<Record<string, string>> = {
  ApiGatewayV2: 'apigateway',
  Cognito: 'cognito-idp',
  StepFunctions: 'states',
};

describe('the policies of the example pipeline', () => {
  let all: (Resource & { id: string })[];
  let types: string[];
  beforeAll(async () => {
    all = Object.values((await templates({ ...everything, portal })).all)
      .flatMap(({ Resources }) =>
        Object.entries(Resources).map(([id, resource]) => ({ id, ...resource })),
      )
      .filter(({ id, Type }) => !id.startsWith('CustomS3Auto') && !Type.startsWith('Custom::'));
    types = [...new Set(all.map(({ Type }) => Type))];
  });

  it('let CloudFormation create every resource of every stack, but the function that empties the buckets of a trial', () => {
    const services = new Set(types.map((type) => type.split('::')[1] ?? ''));
    expect(services.size).toBeGreaterThan(10);
    const allowed = actionsIn('execution-policy.json').map((action) => action.split(':', 1)[0]);
    const missing = [...services].filter(
      (name) => !allowed.includes(prefixes[name] ?? name.toLowerCase()),
    );
    expect(missing).toEqual([]);
  });

  it('allow each call that CloudFormation makes for a resource, by the handlers of its registry', () => {
    expect(
      types.filter((type) => !(type in permissions) && !withoutHandlers.includes(type)),
    ).toEqual([]);
    const actions = actionsIn('execution-policy.json');
    const allowed = actions.map((action) => new RegExp(`^${action.replaceAll('*', '.*')}$`, 'i'));
    const needed = types.flatMap((type) => (permissions[type] ?? '').split(' ').filter(Boolean));
    expect(new Set(needed).size).toBeGreaterThan(150);
    const missing = needed.filter(
      (action) => !unused.test(action) && !allowed.some((form) => form.test(action)),
    );
    expect([...new Set(missing)]).toEqual(withheld);
  });

  it('let AWS create its own roles for a domain of API Gateway and for AWS Backup, and for no other service', () => {
    const statements = statementsIn('execution-policy.json');
    const own = statements.filter(({ Action }) => Action === 'iam:CreateServiceLinkedRole');
    const services = {
      'iam:AWSServiceName': ['backup.amazonaws.com', 'ops.apigateway.amazonaws.com'],
    };
    expect(own.map(({ Condition }) => Condition)).toEqual([{ StringEquals: services }]);
  });

  it('name the calls of Lambda one by one, and neither invoke a function nor use a layer', () => {
    const ofLambda = actionsIn('execution-policy.json').filter((action) =>
      action.startsWith('lambda:'),
    );
    expect(ofLambda.length).toBeGreaterThan(20);
    expect(ofLambda.filter((name) => name.includes('*') || /Invoke|Layer/.test(name))).toEqual([]);
  });

  it('let nobody give a role any permission without the boundary', () => {
    const giving = statementsIn('execution-policy.json').filter(({ Action }) =>
      [Action].flat().some((action) => givesPermission.test(action) && !harmless.includes(action)),
    );
    expect(giving.length).toBeGreaterThan(1);
    for (const { Condition = {} } of giving) {
      expect(Condition.StringEquals?.['iam:PermissionsBoundary']).toMatch(
        /:policy\/bag-adres-boundary$/,
      );
    }
  });

  it('have a boundary within which the roles of the stacks can do all that they do, and can give no permission', () => {
    const within = actionsIn('permissions-boundary.json');
    type Policy = { PolicyDocument: { Statement: Statement[] } };
    const used = all
      .filter(({ Type }) => Type === 'AWS::IAM::Policy')
      .flatMap(({ Properties }) => (Properties as Policy).PolicyDocument.Statement)
      .flatMap(({ Action }) => Action);
    expect(new Set(used).size).toBeGreaterThan(20);
    expect([...new Set(used)].filter((action) => !within.includes(action))).toEqual([]);
    expect(
      within.filter((action) => /[*]|^(?:iam|sts|organizations|account):/.test(action)),
    ).toEqual([]);
    // Every policy is one that this test has read.
    const inline = all.filter(
      ({ Type, Properties }) => Type === 'AWS::IAM::Role' && Properties?.Policies,
    );
    expect(inline).toEqual([]);
  });

  it('reach no role, function, table or bucket of others, which the stacks name by their own names', () => {
    const names = ['RoleName', 'FunctionName', 'TableName', 'BucketName'];
    const named = all.flatMap(({ Properties = {} }) => names.map((name) => Properties[name]));
    expect(named.filter((name) => typeof name === 'string')).toEqual([]);
    const ofStacks = statementsIn('execution-policy.json').filter(({ Action }) =>
      [Action]
        .flat()
        .some((action) => /^(?:iam:(?!CreateServiceLinked)|lambda:|dynamodb:)/.test(action)),
    ) as (Statement & { Resource: string | string[] })[];
    expect(ofStacks.length).toBeGreaterThan(5);
    for (const { Resource } of ofStacks) {
      for (const one of [Resource].flat()) expect(one).toContain('bag-adres-');
    }
  });

  it('allow every command of doctor and of the gate', () => {
    const files = globSync('operator/{checks,gate}/*.ts');
    const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    const sent = [
      ...new Set([...source.matchAll(/new (\w+)Command\(/g)].map(([, name = '']) => name)),
    ];
    expect(sent.length).toBeGreaterThan(8);
    const allowed = actionsIn('deploy-policy.json').map((action) => action.split(':')[1]);
    // Whoever has credentials may ask whose they are.
    expect(
      sent.filter((command) => command !== 'GetCallerIdentity' && !allowed.includes(command)),
    ).toEqual([]);
  });

  it('read no table but that with the addresses, and of the others whether there are accounts', () => {
    const ofTables = all.filter(({ Type }) => Type === 'AWS::DynamoDB::Table');
    const tables = ofTables.map(({ id }) => `table/bag-adres-prod-data-${id}-1A2B`);
    const reading = statementsIn('deploy-policy.json').filter(({ Action }) =>
      [Action].flat().some((action) => /^dynamodb:(?:\*|Get|Scan|Query|BatchGet)/.test(action)),
    ) as (Statement & { Resource: string })[];
    const [ids] = reading.filter(({ Condition }) => Condition);
    expect([ids?.Action, ids?.Condition]).toEqual([
      'dynamodb:Query',
      { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['account#'] } },
    ]);
    const read = reading
      .filter((one) => one !== ids)
      .flatMap(({ Resource }) => {
        const form = new RegExp(`^${Resource.replace(/^.*:/, '').replaceAll('*', '.*')}$`);
        return tables.filter((table) => form.test(table));
      });
    expect(read).toEqual([expect.stringMatching(/-data-Addresses/)]);
    expect(tables).toHaveLength(2);
    expect(JSON.stringify(statementsIn('diff-policy.json'))).not.toContain('dynamodb');
  });
});

describe('the workflow of the example pipeline', () => {
  const file = 'docs/examples/pipeline/deploy.yml';
  const workflow = readFileSync(file, 'utf8');
  const jobs = workflow
    .split(/^ {2}(?=\w+:\n {4}\w)/m)
    .slice(1)
    .filter((text) => text.includes('runs-on'))
    .map((text) => ({ name: text.split(':', 1)[0] ?? '', text }));
  const folder = folderForNow('bag-adres-pipeline-');

  /** What the step that reads the settings gives to the other jobs, by the name of the output. */
  function outputsOf(stages: Record<string, object>): {
    status: number | null;
    outputs: Record<string, string>;
  } {
    const here = mkdtempSync(join(folder, 'a-'));
    writeFileSync(join(here, 'bag-adres.json'), JSON.stringify({ stages }));
    const program = `"${process.execPath}" "${resolve('bin/bag-adres.ts')}"`;
    writeFileSync(join(here, 'npx'), `#!/bin/sh\nshift; exec ${program} "$@"\n`);
    chmodSync(join(here, 'npx'), 0o755);
    const script =
      workflowCommands(file, workflow).find(({ shell }) => shell.includes('config show'))?.shell ??
      '';
    const env = {
      ...process.env,
      PATH: [here, process.env.PATH].join(delimiter),
      GITHUB_OUTPUT: join(here, 'output'),
    };
    const { status } = spawnSync('bash', ['-e', '-c', script], { cwd: here, env });
    const written = readFileSync(join(here, 'output'), 'utf8');
    const outputs = [...written.matchAll(/^(\w+)<<END\n([\s\S]*?)\nEND$/gm)].map(
      ([, name, value]) => [name, value],
    );
    return { status, outputs: Object.fromEntries(outputs) };
  }

  /** What each job signs in with, where `stage` is that of the run of the matrix. */
  function signIns(
    outputs: Record<string, string>,
    stage: string,
  ): Record<string, Record<string, string>> {
    const given = { matrix: { stage }, needs: { settings: { outputs } } };
    const value = (_: string, expression: string) =>
      new Function('matrix', 'needs', 'fromJSON', `return ${expression}`)(
        given.matrix,
        given.needs,
        JSON.parse,
      );
    const inputs = /(role-to-assume|aws-region|allowed-account-ids): (.*)$/gm;
    const inputsOf = (text: string) =>
      [...text.matchAll(inputs)].map(([, input, given = '']) => [
        input,
        given.replace(/\$\{\{ (.*?) \}\}/g, value),
      ]);
    const signing = jobs.filter(({ text }) => text.includes('configure-aws-credentials'));
    return Object.fromEntries(
      signing.map(({ name, text }) => [name, Object.fromEntries(inputsOf(text))]),
    );
  }

  it('names no region and no account', () => {
    expect(workflow).not.toMatch(/\b[a-z]{2}-[a-z]+-\d\b|\d{12}\b(?!\w)/);
    expect(workflow).not.toContain('bagAdres.account');
    const policies = globSync('docs/examples/pipeline/*.json').map((path) =>
      readFileSync(path, 'utf8'),
    );
    expect(policies.join()).not.toMatch(/\b[a-z]{2}-[a-z]+-\d\b/);
  });

  it.each(sweep(['us-east-1', 'eu-west-1'], 1))(
    'and the files of "init --region %s" name no other region',
    (region) => {
      const here = mkdtempSync(join(folder, 'a-'));
      const args = [resolve('bin/bag-adres.ts'), 'init', '--yes', '--region', region];
      expect(spawnSync(process.execPath, args, { cwd: here }).status).toBe(0);
      const files = readdirSync(here, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      const texts = files.map(({ parentPath, name }) =>
        readFileSync(join(parentPath, name), 'utf8'),
      );
      const named = texts.join().match(/\b(?:af|ap|ca|eu|il|me|mx|sa|us)-[a-z]+-\d\b/g);
      expect([files.length, ...new Set(named)]).toEqual([7, region]);
    },
  );

  const regions: [string, string][] = [
    ['us-east-1', 'eu-central-1'],
    ['eu-west-1', 'eu-west-1'],
    ['eu-west-1', 'eu-north-1'],
  ];
  it.each(sweep(regions, 1))(
    'signs in to the region and the account of the stage of each job: %s, %s',
    (ofTest, ofProd) => {
      const stages = {
        test: { region: ofTest, account: '111111111111' },
        prod: { region: ofProd, account: '222222222222' },
      };
      const { status, outputs } = outputsOf(stages);
      expect(status).toBe(0);
      for (const stage of ['test', 'prod'] as const) {
        const of = (role: string, { region, account }: typeof stages.test) => ({
          'role-to-assume': `arn:aws:iam::${account}:role/bag-adres-${role}`,
          'aws-region': region,
          'allowed-account-ids': account,
        });
        expect(signIns(outputs, stage)).toEqual({
          diff: of('diff', stages[stage]),
          test: of('deploy', stages.test),
          prod: of('deploy', stages.prod),
        });
      }
      for (const { text } of jobs) {
        for (const [, environment] of text.matchAll(/^ {4}environment: (\w+)$/gm)) {
          expect(
            [...text.matchAll(/(?:stage=|--stage |group: deploy-)(\w+)/g)].map(([, of]) => of),
          ).toEqual(Array(4).fill(environment));
        }
      }
    },
  );

  it('deploys and compares no stage past the gate, which ends a step where a stage would lose something', () => {
    const gated = jobs.filter(({ text }) => text.includes('npx cdk '));
    expect(gated.map(({ name }) => name)).toEqual(['diff', 'test', 'prod']);
    for (const { text } of gated) {
      const gate = text.indexOf('npx bag-adres gate --stage ');
      const deployment = text.indexOf('npx cdk deploy');
      expect(gate).toBeGreaterThan(0);
      if (deployment >= 0) expect(gate).toBeLessThan(deployment);
      // Elsewhere a pipe ends as its last command does.
      expect(!/gate .*\|/.test(text) || text.includes('shell: bash')).toBe(true);
    }
  });

  it('lets no commit that waits for an approval hold up another, and deploys a stage once at a time', () => {
    const groupOf = (text: string) => /^ +group: (.*)$/m.exec(text)?.[1];
    expect(jobs.map(({ name, text }) => [name, groupOf(text)])).toEqual([
      ...['settings', 'diff', 'comment'].map((name) => [name, undefined]),
      ['test', 'deploy-test'],
      ['prod', 'deploy-prod'],
    ]);
    expect(groupOf(workflow.split(/^jobs:$/m)[0] ?? '')).toBeUndefined();
    expect(workflow).not.toContain('cancel-in-progress: true');
  });

  it('comments on a change of any length with what GitHub accepts', () => {
    const here = mkdtempSync(join(folder, 'a-'));
    writeFileSync(join(here, 'test-summary.txt'), 'x'.repeat(94_213));
    writeFileSync(join(here, 'gh'), '#!/bin/sh\nexit 0\n');
    chmodSync(join(here, 'gh'), 0o755);
    const script =
      workflowCommands(file, workflow).find(({ shell }) => shell.includes('gh pr comment'))
        ?.shell ?? '';
    const env = {
      ...process.env,
      PATH: [here, process.env.PATH].join(delimiter),
      NUMBER: '1',
      RUN_URL: 'https://run',
    };
    expect(spawnSync('bash', ['-e', '-c', script], { cwd: here, env }).status).toBe(0);
    const comment = readFileSync(join(here, 'comment.md'), 'utf8');
    expect(comment.length).toBeLessThan(65_536);
    expect(comment).toMatch(
      /^\*\*test\*\*\n\n```\nx+```\n\n\*\*prod\*\*\n\n```\nIt could not be compared\.\n```\n\nThe whole/,
    );
  });

  it('stops before it signs in where a stage has no account', () => {
    expect(outputsOf({ test: {}, prod: {} })).toEqual({ status: 1, outputs: {} });
  });
});
