import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../package/checks.ts';
import { startRegistry } from '../../package/local-registry.ts';
import { region } from '../aws/aws.ts';
import { type Judge, pythonPackages, root } from '../judge.ts';
import { inClone } from './clone.ts';
import { type Desk, kept, type Release } from './desk.ts';
import { onEmulator, version } from './emulator.ts';
import type { Reader } from './reader.ts';

/** The guides that one reader follows, one after the other, and where. */
const routes: Readonly<Record<string, (desk: Desk) => Promise<Reader>>> = {
  readme: (desk) =>
    onEmulator(desk, [{ page: 'README.md', from: 'Deploy it', before: 'How it works' }]),
  deployment: (desk) =>
    onEmulator(desk, [
      { page: 'docs/deploy.md', before: 'Take it down' },
      { page: 'docs/loading.md', only: onDeployment },
      { page: 'docs/accounts.md' },
      { page: 'docs/commands.md' },
      { page: 'docs/runbook.md', before: 'Procedures', only: reads },
      { page: 'docs/deploy.md', from: 'Take it down', before: 'Never run' },
    ]),
  local: (desk) =>
    inClone(desk, [
      { page: 'README.md', from: 'Run it', before: 'Test it' },
      { page: 'README.md', from: 'One machine', before: 'When not to use it' },
      { page: 'docs/local.md' },
      { page: 'docs/loading.md', only: onMachine },
    ]),
};

/**
 * The commands of docs/loading.md that work on a deployment, and those on one machine. ministack
 * ignores the output of a state `Succeed`, which is all that `load reject` returns.
 */
const onDeployment = /^(?:npx bag-adres load (?!reject)|aws )/;
const onMachine = /^(?:npx bag-adres load|npm start)/;

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
    const variables = variablesOf(packages);
    let published: Promise<Release> | undefined;
    const release = () => {
      published ??= publish(work, opened);
      return published;
    };

    const findings: string[] = [];
    const details: string[] = [];
    for (const [name, follow] of Object.entries(routes)) {
      if (only !== undefined && name !== only) continue;
      await using ofRoute = new AsyncDisposableStack();
      const folder = join(work, name);
      mkdirSync(folder);
      try {
        const reader = await follow({ work: folder, release, variables, opened: ofRoute });
        findings.push(...reader.findings);
        details.push(`${name}: ${reader.taken} commands, ${reader.leftOut} left out`);
      } catch (error) {
        findings.push(`${name}: ${error}`);
      }
    }
    const shown = `all that was shown is in ${kept}`;
    return { findings, detail: [...details, shown].join('; ') };
  },
};

/** Packs the release and publishes it to a registry on this machine. */
async function publish(work: string, opened: AsyncDisposableStack): Promise<Release> {
  const registry = await startRegistry(join(work, 'registry'));
  if (!registry) throw new Error('The npm registry does not answer. Try again with a network.');
  opened.defer(() => registry.stop());
  const folder = join(work, 'release');
  await run(root, 'npm', ['run', 'release', '--', '--dry-run', '--out', folder]);
  await registry.publish(join(folder, `bag-adres-${version}.tgz`));
  return { folder, variables: registry.variables };
}

function variablesOf(packages: string): NodeJS.ProcessEnv {
  const elsewhere = `${process.env.PATH}`.split(':').filter((path) => !path.startsWith(root));
  return {
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
