import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { packageVersion } from '../../lib/config/deployment.ts';
import { CommandError, UsageError } from '../connect/errors.ts';
import { type Answers, InitError, type Repository, repository } from '../init/repository.ts';
import { collectValues, folderOf, type Terminal } from './command.ts';

type InitOptions = { yes?: true; region?: string; alarmEmail?: string; account?: string[] };

/** Written by `docs/examples/pipeline`, which is part of the package too. */
const pipeline = join(import.meta.dirname, '../../docs/examples/pipeline/deploy.yml');

/** `init`. */
export function addInitCommand(program: Command, terminal: Terminal): void {
  program
    .command('init')
    .description('write the files of your own repository into this folder: settings by stage, cdk.json, a pipeline')
    .option('--yes', 'ask nothing')
    .option('--region <region>', 'the AWS region of all stages (default: eu-central-1)')
    .option('--alarm-email <address>', 'who gets the notifications of alarms')
    .option(
      '--account <stage=id>',
      'the AWS account of a stage, like prod=123456789012; may be repeated',
      collectValues,
    )
    .addHelpText(
      'after',
      `
A file that exists is kept. Settings in a former cdk.json move to bag-adres.json; the former file becomes cdk.json.former.

Examples:
  npx bag-adres init
  npx bag-adres init --yes --alarm-email beheer@example.nl --account prod=123456789012`,
    )
    .action((options: InitOptions) => init(terminal, options));
}

async function init(terminal: Terminal, options: InitOptions): Promise<void> {
  const folder = folderOf(terminal);
  const given: Answers = {
    region: options.region,
    alarmEmail: options.alarmEmail,
    accounts: readAccounts(options.account ?? []),
  };
  const answers = options.yes ? given : await ask(given);
  const found = {
    name: basename(folder),
    read: (path: string) => (existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined),
  };
  let made: Repository;
  try {
    made = repository(found, answers, packageVersion(), readFileSync(pipeline, 'utf8'));
  } catch (error) {
    if (error instanceof InitError) throw new CommandError('init', error.message, { cause: error });
    throw error;
  }
  const isTakenOver = made.takenOver.length > 0;
  if (isTakenOver && existsSync(join(folder, 'cdk.json.former')))
    throw new CommandError(
      'exists',
      'cdk.json.former exists: an earlier init wrote it. Remove it, then run this again.',
    );
  for (const { path, text, former } of made.files) {
    if (path === 'cdk.json' && former !== undefined && isTakenOver)
      writeFileSync(join(folder, 'cdk.json.former'), former);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    terminal.out(`${former === undefined ? 'wrote  ' : 'changed'}  ${path}`);
  }
  for (const path of made.kept) terminal.out(`kept     ${path}`);
  if (isTakenOver)
    terminal.out(`Settings taken over from cdk.json, which is now cdk.json.former: ${made.takenOver.join(', ')}`);
  terminal.err(
    [
      ...(existsSync(join(folder, 'node_modules/bag-adres')) ? [] : ['Next: npm install']),
      'Next: edit bag-adres.json, then "npx bag-adres config check" and "npx cdk synth --quiet".',
      'Deploy: "npx cdk deploy --all -c bagAdres.stage=test"; see node_modules/bag-adres/docs/deploy.md.',
    ].join('\n'),
  );
}

/** Reads `['prod=123456789012']`. @throws UsageError */
function readAccounts(texts: readonly string[]): Record<string, string> {
  const accounts: Record<string, string> = {};
  for (const text of texts) {
    const [, stage, id] = /^([a-z][a-z0-9-]*)=(\d{12})$/.exec(text) ?? [];
    if (!stage || !id)
      throw new UsageError(`--account takes STAGE=ID with 12 digits, like prod=123456789012, not "${text}".`);
    accounts[stage] = id;
  }
  return accounts;
}

/** Asks for what is not given. An empty answer leaves it out. @throws CommandError where nobody can answer */
async function ask(given: Answers): Promise<Answers> {
  if (!process.stdin.isTTY)
    throw new CommandError('no_terminal', 'init asks questions on a terminal. Here, add --yes and the options.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = async (text: string) => (await terminal.question(text)).trim() || undefined;
    const region = given.region ?? (await question('AWS region [eu-central-1]: '));
    const alarmEmail = given.alarmEmail ?? (await question('E-mail address for alarms [none]: '));
    const accounts = { ...given.accounts };
    for (const stage of ['test', 'prod']) {
      const id = accounts[stage] ?? (await question(`AWS account of ${stage}, 12 digits [that of your credentials]: `));
      if (id) Object.assign(accounts, readAccounts([`${stage}=${id}`]));
    }
    return { region, alarmEmail, accounts };
  } finally {
    terminal.close();
  }
}
