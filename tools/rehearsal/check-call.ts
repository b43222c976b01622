import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toolPath } from '../../.ci/tools/installed.ts';
import { runCommandLine } from '../../bin/bag-adres.ts';

/**
 * Why a call of a program would fail on a real machine: an unknown command or option; `null` when
 * it is fine.
 */
export async function checkCall([program = '', ...args]: readonly string[]): Promise<
  string | null
> {
  switch (program) {
    case 'npm':
      return checkNpm(args);
    case 'npx':
      return checkNpx(args);
    case 'cdk':
      return 'cdk is not on the path; use npx cdk';
    case 'node':
      return 'this may be an old Node; use an npm script or npx node';
    case 'aws':
      return checkAws(args);
    default:
      return null;
  }
}

async function checkNpx([program = '', ...args]: readonly string[]): Promise<string | null> {
  if (program === 'cdk') return checkCdk(args);
  if (program === 'node') return null;
  if (program !== 'bag-adres') return `npx ${program} is not installed`;
  return checkBagAdres(args);
}

async function checkNpm(args: readonly string[]): Promise<string | null> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [command = '', ...rest] = args.filter((arg) => arg !== '-s' && arg !== '--silent');
  if (['ci', 'install', 'view'].includes(command)) return null;
  const script = command === 'run' ? (rest.shift() ?? '') : command;
  if (!(script in scripts)) return `there is no npm script "${script}"`;
  if (rest.length > 0 && rest[0] !== '--') {
    return `npm takes these options itself: put -- before ${rest[0]}`;
  }
  return checkHelp(`npm run ${script}`, rest.slice(1), () => helpOf(scripts[script] ?? ''));
}

/** Runs the command where nothing can be reached: it must get past its arguments. */
async function checkBagAdres(args: string[]): Promise<string | null> {
  const nowhere = join(tmpdir(), 'no-such-folder');
  const err: string[] = [];
  const local = args.includes('--local') && !args.includes('--data') ? ['--data', nowhere] : [];
  const terminal = {
    out: () => undefined,
    err: (line: string) => void err.push(line),
    env: { INIT_CWD: nowhere, BAG_ADRES_KEY: 'x' },
  };
  const environment = { ...process.env };
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) delete process.env[name];
  }
  Object.assign(process.env, {
    HOME: nowhere,
    AWS_CONFIG_FILE: nowhere,
    AWS_SHARED_CREDENTIALS_FILE: nowhere,
    AWS_EC2_METADATA_DISABLED: 'true',
  });
  try {
    const exit = await runCommandLine(
      [
        ...args.map((arg, at) => (args[at - 1] === '--url' ? 'http://127.0.0.1:1' : filledIn(arg))),
        ...local,
      ],
      terminal,
    );
    return exit === 2 ? `${err.at(-1)}` : null;
  } finally {
    process.env = environment;
  }
}

/** What a document leaves to the reader, and something that could stand there. */
function filledIn(argument: string): string {
  if (argument === 'KEY_ID') return 'b9uDEGM7';
  return argument
    .replace(/=\.\.\.$/, '=5')
    .replace(/^https:\/\/\.\.\./, 'https://example.nl/extract.zip');
}

const helps = new Map<string, Promise<string>>();

/** The help of the program that an npm script runs. */
function helpOf(script: string): Promise<string> {
  const [, entry = ''] = /local\/launch\.js (\S+\.ts)/.exec(script) ?? [];
  const help = helps.get(entry) ?? (entry === '' ? Promise.resolve('') : printedHelp(entry));
  helps.set(entry, help);
  return help;
}

async function printedHelp(entry: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, [entry, '--help'])).stdout;
}

type CdkOptions = Record<string, { alias?: string | string[] }>;
type CdkCommand = { aliases?: string[]; options?: CdkOptions };

/** The list of which the CDK's command line is made. */
const cdk: { globalOptions: CdkOptions; commands: Record<string, CdkCommand> } = JSON.parse(
  readFileSync(await toolPath('aws-cdk/lib/cli/cli-type-registry.json'), 'utf8'),
);

function checkCdk([name = '', ...args]: readonly string[]): string | null {
  const command =
    cdk.commands[name] ??
    Object.values(cdk.commands).find(({ aliases }) => aliases?.includes(name));
  if (!command) return `cdk has no command "${name}"`;
  const known = Object.entries({ ...cdk.globalOptions, ...command.options }).flatMap(
    ([option, { alias = [] }]) => [
      `--${option}`,
      `--no-${option}`,
      ...[alias].flat().map((letters) => (letters.length === 1 ? `-${letters}` : `--${letters}`)),
    ],
  );
  const unknown = optionsOf(args).find((option) => ![...known, '--help', '-h'].includes(option));
  return unknown === undefined ? null : `cdk ${name} has no option ${unknown}`;
}

const optionsOf = (args: readonly string[]) =>
  args.filter((arg) => /^--?[a-z]/i.test(arg)).map((arg) => arg.split('=')[0] ?? '');

/** Checks that the help of a program names every option. */
async function checkHelp(
  name: string,
  args: readonly string[],
  help: () => Promise<string>,
): Promise<string | null> {
  const options = optionsOf(args);
  if (options.length === 0) return null;
  const text = await help();
  const unknown = options.find(
    (option) => !new RegExp(`(?<![\\w-])${option.replace(/^--no-/, '--')}(?![\\w-])`).test(text),
  );
  return unknown === undefined ? null : `${name} has no option ${unknown}`;
}

/**
 * Packages of the SDK by the name of the service on the AWS command line: both are made of the same
 * service models.
 */
const services: Record<string, () => Promise<object>> = {
  cloudformation: () => import('@aws-sdk/client-cloudformation'),
  dynamodb: () => import('@aws-sdk/client-dynamodb'),
  lambda: () => import('@aws-sdk/client-lambda'),
  s3api: () => import('@aws-sdk/client-s3'),
  secretsmanager: () => import('@aws-sdk/client-secrets-manager'),
  sns: () => import('@aws-sdk/client-sns'),
  stepfunctions: () => import('@aws-sdk/client-sfn'),
  sts: () => import('@aws-sdk/client-sts'),
};

/**
 * Commands of services whose package is not installed, and those that are no operation, with their
 * options.
 */
const otherCommands: Record<string, string> = {
  's3 rm': '--recursive',
  's3 cp': '--recursive',
  's3 ls': '--recursive',
  // Without --delete, which would remove what the source lacks.
  's3 sync': '',
  'sso login': '',
  configure: '',
  'logs start-query':
    '--log-group-name --log-group-names --start-time --end-time --query-string --limit',
  'logs get-query-results': '--query-id',
  'logs tail': '--follow --since --format --filter-pattern',
  'deploy create-deployment':
    '--application-name --deployment-group-name --revision --deployment-config-name --override-alarm-configuration --description',
  'deploy stop-deployment': '--deployment-id --auto-rollback-enabled --no-auto-rollback-enabled',
  'deploy list-deployments': '--application-name --deployment-group-name --include-only-statuses',
  'deploy update-deployment-group':
    '--application-name --current-deployment-group-name --alarm-configuration',
  'service-quotas get-service-quota': '--service-code --quota-code',
  'service-quotas request-service-quota-increase': '--service-code --quota-code --desired-value',
  'cloudwatch get-metric-statistics':
    '--namespace --metric-name --dimensions --statistics --period --start-time --end-time',
  'cloudwatch describe-alarms': '--alarm-names --alarm-name-prefix --state-value',
  'backup list-backup-jobs': '--by-state --by-backup-vault-name --by-resource-type',
  'backup list-copy-jobs': '--by-state --by-resource-type',
  'backup list-recovery-points-by-backup-vault': '--backup-vault-name --by-resource-arn',
  'backup start-copy-job':
    '--recovery-point-arn --source-backup-vault-name --destination-backup-vault-arn --iam-role-arn --lifecycle',
  'backup start-restore-job': '--recovery-point-arn --metadata --iam-role-arn --resource-type',
  'backup describe-restore-job': '--restore-job-id',
  'acm describe-certificate': '--certificate-arn',
  'acm import-certificate': '--certificate-arn --certificate --private-key --certificate-chain',
  'backup update-region-settings':
    '--resource-type-opt-in-preference --resource-type-management-preference',
  'iam create-policy': '--policy-name --policy-document',
  'iam create-role': '--role-name --assume-role-policy-document --permissions-boundary',
  'iam put-role-policy': '--role-name --policy-name --policy-document',
  'iam create-open-id-connect-provider': '--url --client-id-list --thumbprint-list',
};

const globalOptions = [
  '--query',
  '--output',
  '--region',
  '--profile',
  '--no-cli-pager',
  '--cli-input-json',
];

/**
 * What can't be undone with the same call, and what else goes with it. A procedure that does this
 * by hand must be one of `mayDestroy`: anything else is a command of ours, whose tests look at what
 * is left.
 */
const destroys: readonly [RegExp, string][] = [
  [/^dynamodb delete-table\b/, 'its point-in-time recovery goes with the table'],
  [/^dynamodb delete-backup\b/, 'it may be the only copy of a table'],
  [
    /^dynamodb (?:delete-item|batch-write-item|put-item|update-item)\b/,
    'it passes the lock and the audit',
  ],
  [/^secretsmanager delete-secret\b/, 'every key or session rests on the secret'],
  [/^s3 rm\b|^s3api delete-/, 'snapshots and statements are objects'],
  [
    /^kms (?:schedule-key-deletion|disable-key)\b/,
    'nothing that the key encrypts can be read again',
  ],
];

/** Destructive calls of the documents, each where nothing is lost by it. */
const mayDestroy: readonly RegExp[] = [
  /^dynamodb delete-table --table-name NAME$/, // an empty table that a failed first deployment left
  /^dynamodb delete-item .*"#dataset"/, // before a first load again, as the procedure says
  /^s3 rm .*s3:\/\//, // of a trial that is taken down
];

function destruction(args: readonly string[]): string | null {
  const call = args.join(' ');
  const [, effect] = destroys.find(([pattern]) => pattern.test(call)) ?? [];
  return effect === undefined || mayDestroy.some((pattern) => pattern.test(call)) ? null : effect;
}

async function checkAws(args: readonly string[]): Promise<string | null> {
  const effect = destruction(args);
  if (effect !== null) return `this destroys data: ${effect}`;
  const words = args.filter((arg, index) => !arg.startsWith('-') && index < 3);
  const [service = '', operation = ''] = words;
  const used = args.filter((arg) => /^--[a-z]/.test(arg)).map((arg) => arg.split('=')[0] ?? '');
  const options = used.filter((option) => !globalOptions.includes(option));
  const other = otherCommands[`${service} ${operation}`] ?? otherCommands[service];
  if (other !== undefined) return unknownOption(options, other.split(' '));
  const load = services[service];
  if (!load) return `aws ${service} ${operation} is not in the list of known commands`;
  const members = inputMembers(
    await load(),
    operation === 'wait' ? waited(words[2] ?? '') : operation,
  );
  if (!members) {
    return `aws ${service} has no command "${operation}${operation === 'wait' ? ` ${words[2]}` : ''}"`;
  }
  return unknownOption(
    options,
    members.flatMap((member) => [`--${kebab(member)}`, `--no-${kebab(member)}`]),
  );
}

/** The operation that a waiter calls, `stack-delete-complete`. */
function waited(waiter: string): string {
  const operations: Record<string, string> = {
    'stack-delete-complete': 'describe-stacks',
    'stack-rollback-complete': 'describe-stacks',
    'stack-update-complete': 'describe-stacks',
    'table-exists': 'describe-table',
    'table-not-exists': 'describe-table',
  };
  return operations[waiter] ?? '';
}

function unknownOption(options: readonly string[], known: readonly string[]): string | null {
  const unknown = options.find((option) => !known.includes(option));
  return unknown === undefined ? null : `there is no option ${unknown}`;
}

/** The names of the members of an operation's input, from the schema that the SDK has of it. */
function inputMembers(sdk: object, operation: string): string[] | undefined {
  const name = operation.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const schema = (sdk as Record<string, unknown[] | undefined>)[`${name}$`];
  const input = typeof schema?.[4] === 'function' ? (schema[4] as () => unknown[])() : schema?.[4];
  return Array.isArray(input) ? (input[4] as string[]) : undefined;
}

/** `RoleARN` and `roleArn` as the AWS command line writes them: `role-arn`. */
function kebab(member: string): string {
  return member
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}
