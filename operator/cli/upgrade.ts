import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { deploymentName, packageVersion, portalStackName, stackNames } from '../../lib/config/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import type { UpgradePlan } from '../upgrade/plan.ts';
import { type CliCommand, folderOf, type Result, type Terminal } from './command.ts';
import { configIn } from './config.ts';
import { table } from './table.ts';

const stageHelp = 'the stage (default: that of a "cdk deploy" without a stage)';

/** `upgrade` and `rollback-code`. */
export function addUpgradeCommands(program: CliCommand): void {
  program
    .command('upgrade')
    .description('show what a deployment of the installed version would change, and the steps in order')
    .option('--stage <name>', stageHelp)
    .option('--from <folder>', 'compare with the templates of this folder, an earlier cdk.out, instead of with AWS')
    .option('--apply', 'then run the deployment; refused while something would be lost')
    .notes('Changes nothing without --apply. The exit code is 1 if a resource or an output would be lost.')
    .notes('Example:\n  npm install --save-exact bag-adres@VERSION\n  npx bag-adres upgrade --stage test')
    .does((options: UpgradeOptions) => upgrade(program.terminal, options));
  program
    .command('rollback-code')
    .description('go back to the former version of the code at once, with the settings as they are')
    .option('--stage <name>', stageHelp)
    .option(
      '--to <version>',
      'the version, or a packed file; --apply needs it (default: the release before the installed one)',
    )
    .option('--apply', 'run the steps; without it they are only printed')
    .notes(
      'For an emergency: deploys the service first, then the other stacks with code, all at once and past their alarms. The stack with the data stays as it is.',
    )
    .examples('rollback-code --stage prod --to 1.0.0')
    .does((options: RollbackOptions) => rollbackCode(program.terminal, options));
}

type UpgradeOptions = { stage?: string; from?: string; apply?: true };

async function upgrade(terminal: Terminal, { stage: named, from, apply }: UpgradeOptions): Promise<Result> {
  const folder = folderOf(terminal);
  const { stage, region } = await configIn(folder, named);
  // Imported here because CloudFormation's specification and the AWS client load slower than `--help` should print.
  const { planUpgrade } = await import('../upgrade/plan.ts');
  const { readReleases } = await import('../upgrade/releases.ts');
  const { deployedTemplates, synthesizedTemplates, templatesIn } = await import('../upgrade/read-stacks.ts');
  // The region of the settings, to which "cdk deploy" deploys whatever the environment says.
  process.env.AWS_REGION = region;
  const deployment = deploymentName(stage);
  // Also the portal that the settings no longer have.
  const names = [...Object.values(stackNames(deployment)), portalStackName(deployment)];
  // Before the synthesis, which takes seconds: without credentials it would be for nothing.
  const former = from === undefined ? await deployedTemplates(names) : templatesIn(resolve(folder, from));
  const next = await synthesizedTemplates(folder, stage);
  const states = names
    .filter((name) => next.has(name) || former.has(name))
    .map((name) => ({ name, deployed: former.get(name), next: next.get(name) }));
  const plan = planUpgrade(stage, packageVersion(), states, readReleases());
  const result = { json: plan, text: renderUpgrade(plan) };
  if (plan.obstacles.length > 0) {
    const message = 'This upgrade must not be deployed as it is: see the obstacles.';
    return { ...result, failure: new CommandError('loss', message) };
  }
  const deployments = plan.steps.filter((step) => step.startsWith('npx cdk deploy'));
  return { ...result, afterwards: apply && (() => runSteps(terminal, stage, deployments)) };
}

function renderUpgrade({ stage, installed, deployed, stacks, releases, obstacles, steps }: UpgradePlan): string {
  const rows = stacks.map(({ name, isDeployed, isConfigured, deployedVersion, added, changed, removed }) => [
    name,
    isDeployed ? (deployedVersion ?? '-') : 'not deployed',
    isConfigured ? installed : 'not in the settings',
    `${added}, ${changed}, ${removed}`,
  ]);
  const notes = releases.flatMap(({ version, stacks: changes, fields, cost, rollback }) => [
    `${version}: ${changes} ${fields} Cost: ${cost} ${rollback.possible ? 'It can be rolled back' : "It can't be rolled back"}: ${rollback.note}`,
  ]);
  return [
    `Stage ${stage}: ${deployed ?? 'nothing'} is deployed, ${installed} is installed.`,
    table(['stack', 'deployed', 'installed', 'added, changed, removed'], rows),
    ...notes,
    ...obstacles.map((obstacle) => `Obstacle: ${obstacle}`),
    'Steps:',
    ...steps.map((step, index) => `${index + 1}. ${step}`),
  ].join('\n');
}

type RollbackOptions = { stage?: string; to?: string; apply?: true };

async function rollbackCode(terminal: Terminal, { stage: named, to, apply }: RollbackOptions): Promise<Result> {
  const folder = folderOf(terminal);
  const { stage, region, portal } = await configIn(folder, named);
  const isFile = to !== undefined && /[/\\]|\.tgz$/.test(to);
  if (isFile && !existsSync(resolve(folder, to)))
    throw new CommandError('no_file', `${to} does not exist. Name a packed file or a version.`);
  if (to !== undefined && !isFile && !/^\d+\.\d+\.\d+$/.test(to))
    throw new CommandError('no_version', `"${to}" is no version. --to takes one like 1.0.0, or a packed file.`);
  const { planRollback } = await import('../upgrade/plan.ts');
  const { readReleases } = await import('../upgrade/releases.ts');
  const plan = planRollback({ stage, hasPortal: portal !== undefined, apply }, packageVersion(), readReleases(), to);
  if (!plan)
    throw new CommandError('no_release', `There is no release before ${packageVersion()}. Name a version with --to.`);
  const steps = plan.steps.map((step, index) => `${index + 1}. ${step}`);
  const text = [`Stage ${stage}: back to ${plan.to}, with the settings as they are.`, ...steps].join('\n');
  const result = { json: plan, text };
  if (plan.obstacle) return { ...result, failure: new CommandError('no_rollback', plan.obstacle) };
  process.env.AWS_REGION = region;
  if (apply) return { ...result, afterwards: () => runSteps(terminal, stage, plan.steps) };
  return {
    ...result,
    hint: `Nothing was done. To run these steps, add ${to === undefined ? `--to ${plan.to} ` : ''}--apply.`,
  };
}

/** Says where, then runs each step, with its output on this terminal. @throws CommandError for the first that fails */
async function runSteps(terminal: Terminal, stage: string, steps: readonly string[]): Promise<void> {
  const { targetOf } = await import('../connect/target.ts');
  const cwd = folderOf(terminal);
  terminal.err(`Into: ${await targetOf({ stage }, cwd)}`);
  for (const step of steps) {
    // The shell finds npm and npx under Windows too; the steps are of our own making.
    const child = spawn(step, { cwd, shell: true, stdio: 'inherit' });
    const code = await new Promise<number | null>((resolve) =>
      child.on('close', resolve).on('error', () => resolve(null)),
    );
    if (code !== 0)
      throw new CommandError(
        'step_failed',
        `"${step}" failed. Correct what it reports, then run it and the later steps.`,
      );
  }
}
