import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../../lib/config/config-error.ts';
import { pinnedVersions, settingsFileName } from '../../lib/config/deployment.ts';
import { logoFault } from '../../lib/config/logo.ts';
import type { Settings } from '../config/settings.ts';
import { CommandError, UsageError } from '../deployment/errors.ts';
import type { Answers } from '../init/repository.ts';
import { type CliCommand, folderOf, type Result, type Terminal } from './command.ts';
import { lines, table } from './terminal-text.ts';

type InitOptions = { yes?: true; region?: string; alarmEmail?: string; account?: Accounts };
type Accounts = Readonly<Record<string, string>>;

/** Written by `docs/examples/pipeline`, which is part of the package too. */
const pipeline = join(import.meta.dirname, '../../docs/examples/pipeline/deploy.yml');

/**
 * The commands on the settings in this folder: `init`, `config check`, `config show`, and `gate`.
 */
export function addSettingsCommands(program: CliCommand): void {
  const folder = folderOf(program.terminal);
  program
    .command('init')
    .description(
      'write the files of your own repository into this folder: settings by stage, cdk.json, a pipeline',
    )
    .option('--yes', 'ask nothing')
    .option('--region <region>', 'the AWS region of all stages (default: eu-central-1)')
    .option('--alarm-email <address>', 'who gets the notifications of alarms')
    .option(
      '--account <stage=id>',
      'the AWS account of a stage, like prod=123456789012; may be repeated',
      accountOf,
    )
    .notes(
      'A file that exists is kept; package.json gets the dependencies, and .gitignore the missing lines.',
    )
    .examples('init', 'init --yes --alarm-email beheer@example.nl --account prod=123456789012')
    .does((options: InitOptions) => init(program.terminal, options));
  const config = program
    .command('config')
    .description('check and show the settings of this folder');
  config
    .command('check')
    .description('check the settings of each stage, without AWS')
    .settingsOf('only this stage')
    .option('--json', 'print JSON: {"stages": [{"stage", "faults"}]}')
    .does(({ stage }: { stage?: string }) => check(folder, stage));
  config
    .command('show')
    .description('print the effective settings, and where each comes from')
    .settingsOf('this stage (default: as for "cdk deploy" without a stage)')
    .option('--json', 'print JSON: {"stage", "settings", "origins"}')
    .examples('config show --stage prod')
    .does(({ stage }: { stage?: string }) => show(folder, stage));
  program
    .command('gate')
    .description(
      'before a deployment: fail if a stage would lose a resource with data, or use a table without accounts',
    )
    .deployed('the stage (default: as for "cdk deploy" without a stage)', () => usualStage(folder))
    .option(
      '--protect',
      'then set a stack policy on the data stack that makes CloudFormation refuse the same',
    )
    .notes(
      `Compares the templates of the installed version and the settings with the deployed templates, and changes nothing without
--protect. To lose a resource on purpose, take the stack policy away and deploy without the gate.`,
    )
    .examples('gate --stage test', 'gate --stage prod --protect')
    .does((options: { stage?: string; protect?: true }) => gate(folder, options));
}

async function init(
  terminal: Terminal,
  { yes, region, alarmEmail, account = {} }: InitOptions,
): Promise<Result> {
  const folder = folderOf(terminal);
  const given: Answers = { region, alarmEmail, accounts: account };
  const answers = yes ? given : await answersTo(terminal, given);
  const read = (path: string) =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined;
  // Imported here because the schema of the settings loads slower than `--help` should print.
  const { repository } = await import('../init/repository.ts');
  const made = repository(
    { name: basename(folder), read },
    answers,
    pinnedVersions(),
    readFileSync(pipeline, 'utf8'),
  );
  for (const { path, text } of made.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const pathsOf = (changed: boolean) =>
    made.files.filter(({ wasThere }) => wasThere === changed).map(({ path }) => path);
  const json = { wrote: pathsOf(false), changed: pathsOf(true), kept: made.kept };
  return {
    json,
    text: lines(
      Object.entries(json).map(([verb, paths]) => paths.map((path) => `${verb.padEnd(9)}${path}`)),
    ),
    hint: lines(
      !made.kept.includes('package.json') && 'Next: npm install',
      'Next: edit bag-adres.json, where each stage needs its "account", then "npx bag-adres config check" and "npx cdk synth --quiet".',
      'Deploy: "npx cdk deploy --all -c bagAdres.stage=test"; see node_modules/bag-adres/docs/deploy.md.',
    ),
  };
}

/** Reads `prod=123456789012`. @throws UsageError */
function accountOf(text: string, others: Accounts = {}): Accounts {
  const [, stage, id] = /^([a-z][a-z0-9-]*)=(\d{12})$/.exec(text) ?? [];
  if (stage && id) return { ...others, [stage]: id };
  throw new UsageError(
    `--account takes STAGE=ID with 12 digits, like prod=123456789012, not "${text}".`,
  );
}

/**
 * Asks for missing answers; an empty answer leaves one out. @throws CommandError if nobody can
 * answer
 */
async function answersTo({ ask }: Terminal, given: Answers): Promise<Answers> {
  if (!ask) {
    throw new CommandError(
      'no_terminal',
      'init asks questions on a terminal. Here, add --yes and the options.',
    );
  }
  const question = async (text: string) => (await ask(text)).trim() || undefined;
  const region = given.region ?? (await question('AWS region [eu-central-1]: '));
  const alarmEmail = given.alarmEmail ?? (await question('E-mail address for alarms [none]: '));
  let { accounts } = given;
  for (const stage of ['test', 'prod']) {
    const id =
      accounts[stage] ??
      (await question(`AWS account of ${stage}, 12 digits [add it before a deployment]: `));
    if (id) accounts = accountOf(`${stage}=${id}`, accounts);
  }
  return { region, alarmEmail, accounts };
}

/**
 * The settings in a folder, of each stage and of one, unchecked or checked. @throws ConfigError,
 * CommandError
 */
async function settingsIn(folder: string) {
  // Imported here because the schema loads slower than `--help` should print.
  const { readSettingsFile, settingsOfStage } = await import('../config/settings.ts');
  const { parseConfig } = await import('../config/parse-config.ts');
  const file = readSettingsFile(folder);
  const missing = `There is no ${settingsFileName} here. Run "npx bag-adres init", or go to the folder that has it.`;
  if (!file) throw new CommandError('no_settings', missing);
  return {
    stages: Object.keys(file.stages),
    ofStage: (stage?: string) => settingsOfStage(file, stage),
    parse: ({ record, source }: Settings) => parseConfig(record, source),
  };
}

/** The stage that a command without `--stage` means. @throws ConfigError, CommandError */
async function usualStage(folder: string): Promise<string> {
  const { ofStage, parse } = await settingsIn(folder);
  return parse(ofStage()).stage;
}

/** Every field that is no group of others: its path and its value. */
function leaves(value: unknown, path: string[] = []): [path: string[], value: unknown][] {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isGroup || Object.keys(value).length === 0) return [[path, value]];
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

async function check(folder: string, named?: string): Promise<Result> {
  const { stages: all, ofStage, parse } = await settingsIn(folder);
  const stages = (named === undefined ? all : [named]).map((stage) => {
    const settings = ofStage(stage);
    return { stage, faults: faultsIn(() => logoFault(parse(settings).branding.logo, folder)) };
  });
  const invalid = stages.filter(({ faults }) => faults.length > 0).map(({ stage }) => stage);
  const message = `The settings of ${invalid.join(', ')} are not valid. Correct them.`;
  return {
    json: { stages },
    text: lines(
      stages.map(({ stage, faults }) => [
        faults.length === 0 ? `${stage}: valid` : `${stage}: not valid`,
        faults.map((fault) => `  - ${fault}`),
      ]),
      invalid.length > 0 && message,
    ),
    failure:
      invalid.length > 0
        ? new CommandError('invalid_settings', message, { isTold: true })
        : undefined,
  };
}

function faultsIn(work: () => string | undefined): readonly string[] {
  try {
    const fault = work();
    return fault ? [fault] : [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

async function show(folder: string, named?: string): Promise<Result> {
  const { ofStage, parse } = await settingsIn(folder);
  const settings = ofStage(named);
  const config = parse(settings);
  const fields = leaves(config).map(([path, value]) => {
    const valueIn = (fields: unknown) =>
      path.reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], fields);
    const layer = settings.layers.find(({ fields }) => valueIn(fields) !== undefined);
    return { name: path.join('.'), value, origin: layer?.origin ?? 'default' };
  });
  const origins = Object.fromEntries(fields.map(({ name, origin }) => [name, origin]));
  const text = table(['setting', 'value', 'from'], fields, ({ name, value, origin }) => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value), origin];
  });
  return { json: { stage: config.stage, settings: config, origins }, text, isVerbatim: true };
}

async function gate(
  folder: string,
  { stage, protect }: { stage?: string; protect?: true },
): Promise<Result> {
  const { ofStage, parse } = await settingsIn(folder);
  const config = parse(ofStage(stage));
  // Imported here because CloudFormation's specification and the AWS client load slower than
  // `--help` should print.
  const { examineDeployment, protectData } = await import('../gate/gate.ts');
  const report = await examineDeployment(folder, config);
  const { obstacles, stacks } = report;
  const isSafe = obstacles.length === 0;
  const guarded = isSafe && protect ? await protectData(report, config) : null;
  const message = 'This must not be deployed as it is: see the obstacles.';
  const text = lines(
    stacks.map(
      ({ name, isDeployed }) => `${name}: ${isDeployed ? 'compared' : 'not deployed yet'}`,
    ),
    obstacles.map((obstacle) => `Obstacle: ${obstacle}`),
    guarded !== null && `${guarded}: its stack policy is set`,
    isSafe && 'Nothing would be lost.',
  );
  const failure = isSafe ? undefined : new CommandError('loss', message);
  return { json: { ...report, protected: guarded }, text, failure };
}
