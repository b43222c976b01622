import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { townOfWeesp } from '../../../test/support/town.ts';
import { writeExtract } from '../../../test/support/write-extract.ts';
import { run } from '../../package/checks.ts';
import { startRegistry } from '../../package/local-registry.ts';
import { region } from '../aws/aws.ts';
import { startMinistack } from '../http/http.ts';
import { cache, type Judge, pythonPackages, root } from '../judge.ts';
import { Reader, type Reading } from './reader.ts';
import { type Answers, Terminal } from './terminal.ts';

/** The accounts that docs/deploy.md names: ministack takes the account from the key id. */
const accounts = { test: '111111111111', prod: '222222222222' };
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const municipality = { layout: 'municipality' } as const;

/** What a reader needs of this machine, whatever the guide. */
type Desk = {
  /** An empty folder. */
  work: string;
  /** The folder of the packed release. */
  release: string;
  variables: NodeJS.ProcessEnv;
  opened: AsyncDisposableStack;
};

/** The guides that one reader follows, one after the other, and where. */
const routes: Readonly<Record<string, (desk: Desk) => Promise<Reader>>> = {
  deployment: (desk) =>
    onEmulator(desk, [
      { page: 'docs/deploy.md', before: 'Take it down' },
      { page: 'docs/accounts.md' },
      { page: 'docs/commands.md' },
      { page: 'docs/runbook.md', before: 'Procedures', only: reads },
      { page: 'docs/deploy.md', from: 'Take it down', before: 'Never run' },
    ]),
};

/** The commands of the runbook that only read; the others are for an incident. */
const reads =
  /^npx bag-adres (?:doctor|account audit|load (?:status|check))|^aws [\w-]+ (?:describe|get|list)-/;

/**
 * A reader who takes the guides literally: their commands in their order, at a terminal, with
 * nothing but what the pages say.
 */
export const guides: Judge = {
  description: 'ministack and the AWS CLI: the commands of the guides, in their order',
  needs: [
    ['python3', '-m', 'venv', '--help'],
    ['script', '--version'],
  ],
  parts: Object.keys(routes),
  async judge(only) {
    await using opened = new AsyncDisposableStack();
    const work = mkdtempSync(join(tmpdir(), 'judge-guides-'));
    opened.defer(() => rmSync(work, { recursive: true, force: true }));
    const packages = await pythonPackages('guides/requirements.txt');
    const registry = await startRegistry(join(work, 'registry'));
    if (!registry) return { findings: ['the npm registry does not answer'], detail: 'nothing' };
    opened.defer(() => registry.stop());
    const release = join(work, 'release');
    await run(root, 'npm', ['run', 'release', '--', '--dry-run', '--out', release]);
    await registry.publish(join(release, `bag-adres-${version}.tgz`));
    const variables = variablesOf(packages, registry.variables);

    const findings: string[] = [];
    const details: string[] = [];
    for (const [name, follow] of Object.entries(routes)) {
      if (only !== undefined && name !== only) continue;
      await using ofRoute = new AsyncDisposableStack();
      const folder = join(work, name);
      mkdirSync(folder);
      const reader = await follow({ work: folder, release, variables, opened: ofRoute });
      findings.push(...reader.findings);
      details.push(`${name}: ${reader.taken} commands, ${reader.leftOut} left out`);
    }
    const shown = `all that was shown is in ${join(cache, 'guides')}`;
    return { findings, detail: [...details, shown].join('; ') };
  },
};

function variablesOf(packages: string, ofRegistry: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const elsewhere = `${process.env.PATH}`.split(':').filter((path) => !path.startsWith(root));
  return {
    ...ofRegistry,
    // `npm run` of this repository sets it, and the command line resolves files by it.
    INIT_CWD: undefined,
    PATH: [join(packages, 'bin'), dirname(process.execPath), ...elsewhere].join(':'),
    // ministack's APIs are under localhost, which not every system resolves (RFC 6761).
    NODE_OPTIONS: `--require ${JSON.stringify(join(import.meta.dirname, 'localhost.cjs'))}`,
    // Version 1 of the AWS CLI, the one that is a Python package, reads no AWS_REGION.
    AWS_DEFAULT_REGION: region,
    AWS_PAGER: '',
    npm_config_prefer_offline: 'true',
    npm_config_progress: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
}

/** Follows pages in an empty folder, with an AWS on this machine. */
async function onEmulator(
  { work, release, variables, opened }: Desk,
  readings: readonly Reading[],
): Promise<Reader> {
  const aws = await startMinistack();
  opened.defer(() => aws.stop());
  const folder = join(work, 'empty');
  mkdirSync(folder);
  const extract = await writeExtract('2021-10-15', townOfWeesp(), municipality);
  writeFileSync(join(folder, 'BAGGEM0457L-15102021.zip'), extract);
  const shown = join(cache, 'guides', basename(work));
  const terminal = new Terminal(folder, shown, { ...aws.environment, ...variables }, answers);
  opened.defer(() => terminal.end());
  await terminal.run(withoutChangeSets + failingCurl);

  const settings = join(folder, 'bag-adres.json');
  const keyOf = (printed: string) => printed.match(/bagadres_acme_\w+/g)?.at(-1) ?? '';
  const reader = new Reader({
    run: (shell) => {
      const stage = /stage[ =](test|trial)/.test(shell) ? 'test' : 'prod';
      return terminal.run(`export AWS_ACCESS_KEY_ID=${accounts[stage]}\n${shell}`);
    },
    placeholders: [
      [/bagadres_acme_\.\.\./g, keyOf],
      [/\bVERSION\b/g, () => version],
      [/\bDIR\//g, () => `${release}/`],
      [/\bKEY_ID\b/g, (printed) => keyOf(printed).split('_')[2]?.slice(0, 8) ?? ''],
      [/\bID\b/g, () => 'acme'],
      [/\bCOMMAND\b/g, () => 'load run'],
      [/\b2026-11\b/g, () => new Date().toISOString().slice(0, 7)],
    ],
    configure: (shown) =>
      writeFileSync(settings, withSettings(readFileSync(settings, 'utf8'), shown)),
  });
  for (const reading of readings) await reader.read(reading);
  return reader;
}

/** What the programs ask, and what docs/deploy.md says to answer. */
const answers: Answers = [
  [/AWS region \[.*\]: $/, ''],
  [/E-mail address for alarms.*: $/, ''],
  [/AWS account of test.*: $/, accounts.test],
  [/AWS account of prod.*: $/, accounts.prod],
  [/\(y\/n\)\??:? $/i, 'y'],
  [/\[y\/N\] $/, 'y'],
  [/Ok to proceed\? \(y\) $/, 'y'],
];

/** The CDK reads of a change set what ministack's don't have. */
const withoutChangeSets = `npx() {
  if [ "$1 $2" = 'cdk deploy' ]; then set -- "$@" --method direct; fi
  command npx "$@"
}`;

/** Otherwise curl shows an error of the service, and succeeds. */
const failingCurl = `
curl() { command curl --fail-with-body "$@"; }`;

/** The text of bag-adres.json with settings that a page shows a part of. */
function withSettings(text: string, shown: string): string {
  const config = JSON.parse(text);
  for (const [name, value] of Object.entries(JSON.parse(`{${shown}}`))) {
    if (name === 'shared' || name === 'stages') Object.assign(config[name], value);
    else {
      config.shared[name] = value;
    }
  }
  return JSON.stringify(config, null, 2);
}
