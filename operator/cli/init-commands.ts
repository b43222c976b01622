import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pinnedVersions } from '../../lib/config/deployment.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import type { Answers } from '../init/repository.ts';
import { type CliCommand, folderOf, type Result, type Terminal } from './command.ts';
import { lines } from './terminal-text.ts';

type InitOptions = { yes?: true; region?: string; alarmEmail?: string; account?: Accounts };
type Accounts = Readonly<Record<string, string>>;

/** Written by `docs/examples/pipeline`, which is part of the package too. */
const pipeline = join(import.meta.dirname, '../../docs/examples/pipeline/deploy.yml');

/** `init`. */
export function addInitCommand(program: CliCommand): void {
  program
    .command('init')
    .description('write the files of your own repository into this folder: settings by stage, cdk.json, a pipeline')
    .option('--yes', 'ask nothing')
    .option('--region <region>', 'the AWS region of all stages (default: eu-central-1)')
    .option('--alarm-email <address>', 'who gets the notifications of alarms')
    .option('--account <stage=id>', 'the AWS account of a stage, like prod=123456789012; may be repeated', accountOf)
    .notes('A file that exists is kept; package.json gets the dependencies, and .gitignore the missing lines.')
    .examples('init', 'init --yes --alarm-email beheer@example.nl --account prod=123456789012')
    .does((options: InitOptions) => init(program.terminal, options));
}

async function init(terminal: Terminal, { yes, region, alarmEmail, account = {} }: InitOptions): Promise<Result> {
  const folder = folderOf(terminal);
  const given: Answers = { region, alarmEmail, accounts: account };
  const answers = yes ? given : await answersTo(terminal, given);
  const read = (path: string) =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined;
  // Imported here because the schema of the settings loads slower than `--help` should print.
  const { repository } = await import('../init/repository.ts');
  const made = repository({ name: basename(folder), read }, answers, pinnedVersions(), readFileSync(pipeline, 'utf8'));
  for (const { path, text } of made.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const pathsOf = (changed: boolean) =>
    made.files.filter(({ wasThere }) => wasThere === changed).map(({ path }) => path);
  const json = { wrote: pathsOf(false), changed: pathsOf(true), kept: made.kept };
  return {
    json,
    text: lines(Object.entries(json).map(([verb, paths]) => paths.map((path) => `${verb.padEnd(9)}${path}`))),
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
  throw new UsageError(`--account takes STAGE=ID with 12 digits, like prod=123456789012, not "${text}".`);
}

/** Asks for missing answers; an empty answer leaves one out. @throws CommandError if nobody can answer */
async function answersTo({ ask }: Terminal, given: Answers): Promise<Answers> {
  if (!ask)
    throw new CommandError('no_terminal', 'init asks questions on a terminal. Here, add --yes and the options.');
  const question = async (text: string) => (await ask(text)).trim() || undefined;
  const region = given.region ?? (await question('AWS region [eu-central-1]: '));
  const alarmEmail = given.alarmEmail ?? (await question('E-mail address for alarms [none]: '));
  let { accounts } = given;
  for (const stage of ['test', 'prod']) {
    const id = accounts[stage] ?? (await question(`AWS account of ${stage}, 12 digits [add it before a deployment]: `));
    if (id) accounts = accountOf(`${stage}=${id}`, accounts);
  }
  return { region, alarmEmail, accounts };
}
