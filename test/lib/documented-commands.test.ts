import { existsSync, globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { everything, type Resource, templates } from './synthesized.ts';

const pages = globSync('docs/*.md').map((file) => ({ file, text: readFileSync(file, 'utf8') }));
/** Shell blocks, with continued lines joined. */
const blocks = pages.flatMap(({ text }) =>
  [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block.replace(/\\\n\s*/g, ' ')),
);

/** Every command of a block by itself: a substitution, `$(...)`, is one, and its place in the outer one is a value. */
function commandsIn(block: string): string[] {
  const inner: string[] = [];
  let rest = block;
  for (;;) {
    const outer = rest.replace(/\$\(\(([^()]*)\)\)/g, 'VALUE').replace(/\$\(([^()]*)\)/g, (_, command) => {
      inner.push(command);
      return 'VALUE';
    });
    if (outer === rest) break;
    rest = outer;
  }
  return [...inner, ...rest.split('\n')].flatMap((line) => line.split(/;\s|\||&&(?=\s)/));
}

type AwsCommand = { service: string; operation: string; options: string[] };

const awsCommands: AwsCommand[] = blocks.flatMap(commandsIn).flatMap((command) => {
  const [, service, operation, rest = ''] = /\baws ([a-z0-9-]+) ([a-z0-9-]+)(.*)/.exec(command) ?? [];
  if (!service || !operation) return [];
  const isWait = operation === 'wait';
  const [, waiter = ''] = /^ ([a-z-]+)/.exec(rest) ?? [];
  const options = [...rest.matchAll(/\s--([a-z0-9-]+)/g)].map(([, option = '']) => option);
  return [{ service, operation: isWait ? `wait ${waiter}` : operation, options }];
});

/** Options of the AWS command line itself. */
const common = ['query', 'output', 'region'];

/** Of services whose SDK is not a dependency: as the AWS CLI's reference has them. */
const reference: Record<string, string[]> = {
  'logs start-query': ['log-group-name', 'query-string', 'start-time', 'end-time', 'limit'],
  'logs get-query-results': ['query-id'],
  'deploy list-deployments': ['application-name', 'deployment-group-name', 'include-only-statuses'],
  'deploy stop-deployment': ['deployment-id', 'auto-rollback-enabled', 'no-auto-rollback-enabled'],
  'service-quotas request-service-quota-increase': ['service-code', 'quota-code', 'desired-value'],
  'cloudwatch get-metric-statistics': [
    ...['namespace', 'metric-name', 'statistics', 'period', 'start-time', 'end-time', 'dimensions'],
  ],
  'backup update-region-settings': ['resource-type-opt-in-preference', 'resource-type-management-preference'],
  's3 rm': ['recursive'],
  's3 cp': ['recursive'],
};

const packages: Record<string, string> = { stepfunctions: 'sfn', secretsmanager: 'secrets-manager' };
const pascal = (name: string) => name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What is wrong with a command, by the types of the SDK: the AWS CLI derives its options from the same models. */
function faultsOf({ service, operation, options }: AwsCommand): string[] {
  const name = `${service} ${operation}`;
  const own = options.filter((option) => !common.includes(option));
  const known = reference[name];
  if (known) return own.filter((option) => !known.includes(option)).map((option) => `${name} has no --${option}`);
  const folder = `node_modules/@aws-sdk/client-${packages[service] ?? service}/dist-types`;
  const waiter = operation.startsWith('wait ') ? pascal(operation.slice(5)) : undefined;
  if (waiter) return existsSync(`${folder}/waiters/waitFor${waiter}.d.ts`) ? [] : [`no ${name}`];
  const file = `${folder}/commands/${pascal(operation)}Command.d.ts`;
  if (!existsSync(file)) return [`no ${name}`];
  const [, input = ''] = /CommandInput extends (\w+)/.exec(readFileSync(file, 'utf8')) ?? [];
  const models = globSync(`${folder}/models/models_*.d.ts`)
    .map((model) => readFileSync(model, 'utf8'))
    .join('\n');
  const [, body = ''] = new RegExp(`interface ${input} (?:extends \\w+ )?\\{([\\s\\S]*?)\\n\\}`).exec(models) ?? [];
  const members = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member = '']) => member.toLowerCase());
  const isKnown = (option: string) =>
    members.includes(option.replace(/^no-(?=enable|deletion)/, '').replaceAll('-', ''));
  return own.filter((option) => !isKnown(option)).map((option) => `${name} has no --${option}`);
}

describe('an AWS command in the docs', () => {
  it.each([...new Set(awsCommands.map((command) => JSON.stringify(command)))])(
    'exists, with its options: %s',
    (command) => {
      expect(faultsOf(JSON.parse(command))).toEqual([]);
    },
  );

  it('is found, and a wrong one would be', () => {
    expect(awsCommands.length).toBeGreaterThan(20);
    expect(faultsOf({ service: 'lambda', operation: 'update-alias', options: ['function-name', 'alias'] })).toEqual([
      'lambda update-alias has no --alias',
    ]);
    expect(faultsOf({ service: 'dynamodb', operation: 'restore-table', options: [] })).toEqual([
      'no dynamodb restore-table',
    ]);
  });
});

type CdkOptions = Record<string, { alias?: string | string[] }>;
/** The CDK command line as it describes itself. */
const cdk: { globalOptions: CdkOptions; commands: Record<string, { options?: CdkOptions }> } = JSON.parse(
  readFileSync('node_modules/aws-cdk/lib/cli/cli-type-registry.json', 'utf8'),
);

describe('a CDK command in the docs', () => {
  const commands = blocks.flatMap(commandsIn).filter((command) => /^\s*npx cdk /.test(command));

  it.each([...new Set(commands.map((command) => command.trim()))])('exists, with its options: %s', (command) => {
    const [, name = ''] = /npx cdk (\w+)/.exec(command) ?? [];
    const own = cdk.commands[name]?.options;
    expect(own).toBeDefined();
    const known = Object.entries({ ...cdk.globalOptions, ...own }).flatMap(([option, { alias = [] }]) => [
      `--${option}`,
      ...[alias].flat().map((short) => `-${short}`),
    ]);
    const options = [...command.matchAll(/\s(--?[a-z][a-z-]*)/g)].map(([, option = '']) => option);
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
  });

  it('is found', () => {
    expect(commands.length).toBeGreaterThan(5);
  });
});

describe('a name in the docs', () => {
  let stacks: Record<string, { Resources: Record<string, Resource>; Outputs?: object }>;
  beforeAll(() => {
    const { data, service, loader } = templates(everything);
    stacks = { data, service, loader };
  }, 60_000);

  const all = pages.map(({ text }) => text).join('\n');

  it('leads to one resource: `name STACK LOGICAL_ID TYPE`', () => {
    const names = [...all.matchAll(/\bname (data|service|loader) (\w+) (AWS::\w+::\w+)/g)];
    expect(names.length).toBeGreaterThan(5);
    for (const [text, stack = '', prefix = '', type] of names) {
      const found = Object.entries(stacks[stack]?.Resources ?? {}).filter(
        ([id, { Type }]) => id.startsWith(prefix) && Type === type,
      );
      expect([text, found.length]).toEqual([text, 1]);
    }
  });

  it('leads to an output: `out STACK OUTPUT`', () => {
    const outputs = [...all.matchAll(/\bout (data|service|loader) ([A-Z]\w+)/g)];
    expect(outputs.length).toBeGreaterThan(5);
    for (const [text, stack = '', output = ''] of outputs)
      expect([text, Object.keys(stacks[stack]?.Outputs ?? {}).includes(output)]).toEqual([text, true]);
  });
});
