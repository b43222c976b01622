import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { deploymentName, packageVersion, portalStackName, stackNames } from '../../lib/config/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import type { UpgradePlan } from '../upgrade/plan.ts';
import { readReleases } from '../upgrade/releases.ts';
import { folderOf, printResult, type Terminal } from './command.ts';
import { configIn } from './config.ts';
import { table } from './table.ts';

type UpgradeOptions = { stage?: string; from?: string; apply?: true; json?: true };
type RollbackOptions = { stage?: string; to?: string; apply?: true; json?: true };

const stageHelp = 'the stage (default: that of a "cdk deploy" without a stage)';

/** `upgrade` and `rollback-code`. */
export function addUpgradeCommands(program: Command, terminal: Terminal): void {
  program
    .command('upgrade')
    .description('show what a deployment of the installed version would change, and the steps in order')
    .option('--stage <name>', stageHelp)
    .option('--from <folder>', 'compare with the templates of this folder, an earlier cdk.out, instead of with AWS')
    .option('--apply', 'then run the deployment; refused while something would be lost')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
Changes nothing without --apply. The exit code is 1 if a resource or an output would be lost.

Example:
  npm install --save-exact bag-adres@VERSION
  npx bag-adres upgrade --stage test`,
    )
    .action((options: UpgradeOptions) => upgrade(terminal, options));
  program
    .command('rollback-code')
    .description('go back to the former version of the code at once, with the settings as they are')
    .option('--stage <name>', stageHelp)
    .option('--to <version>', 'the version, or a packed file (default: the release before the installed one)')
    .option('--apply', 'run the steps; without it they are only printed')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
For an emergency: deploys only the stack of the service, all at once and past its alarms. Data stays as it is.

Example:
  npx bag-adres rollback-code --stage prod --to 1.0.0`,
    )
    .action((options: RollbackOptions) => rollbackCode(terminal, options));
}

async function upgrade(terminal: Terminal, { stage: named, from, apply, json }: UpgradeOptions): Promise<void> {
  const folder = folderOf(terminal);
  const { stage, region, portal } = configIn(folder, named);
  // Imported here because CloudFormation's specification and the AWS client load slower than `--help` should print.
  const { planUpgrade } = await import('../upgrade/plan.ts');
  const { deployedTemplates, synthesizedTemplates, templatesIn } = await import('../upgrade/read-stacks.ts');
  if (from === undefined) process.env.AWS_REGION ??= region;
  const deployment = deploymentName(stage);
  const names = [...Object.values(stackNames(deployment)), ...(portal ? [portalStackName(deployment)] : [])];
  // Before the synthesis, which takes seconds: without credentials it would be for nothing.
  const former = from === undefined ? await deployedTemplates(names) : templatesIn(resolve(folder, from));
  const next = await synthesizedTemplates(folder, stage);
  const states = [...next].map(([name, template]) => ({ name, deployed: former.get(name), next: template }));
  const plan = planUpgrade(stage, packageVersion(), states, readReleases());
  printResult(terminal, json ? { json } : {}, { json: plan, text: renderUpgrade(plan) });
  if (plan.obstacles.length > 0)
    throw new CommandError('loss', 'This upgrade must not be deployed as it is: see the obstacles.');
  if (apply) await runSteps(folder, plan.steps.filter(isDeployment));
}

const isDeployment = (step: string) => step.startsWith('npx cdk deploy');

function renderUpgrade({ stage, installed, deployed, stacks, releases, obstacles, steps }: UpgradePlan): string {
  const rows = stacks.map(({ name, isDeployed, deployedVersion, added, changed, removed }) => [
    name,
    isDeployed ? (deployedVersion ?? '-') : 'not deployed',
    installed,
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

async function rollbackCode(terminal: Terminal, { stage: named, to, apply, json }: RollbackOptions): Promise<void> {
  const folder = folderOf(terminal);
  const { stage } = configIn(folder, named);
  const isFile = to !== undefined && /[/\\]|\.tgz$/.test(to);
  if (isFile && !existsSync(resolve(folder, to)))
    throw new CommandError('no_file', `${to} does not exist. Name a packed file or a version.`);
  if (to !== undefined && !isFile && !/^\d+\.\d+\.\d+$/.test(to))
    throw new CommandError('no_version', `"${to}" is no version. --to takes one like 1.0.0, or a packed file.`);
  const { planRollback } = await import('../upgrade/plan.ts');
  const plan = planRollback(stage, packageVersion(), readReleases(), to);
  if (!plan)
    throw new CommandError('no_release', `There is no release before ${packageVersion()}. Name a version with --to.`);
  const steps = plan.steps.map((step, index) => `${index + 1}. ${step}`);
  const text = [`Stage ${stage}: back to ${plan.to}, with the settings as they are.`, ...steps].join('\n');
  printResult(terminal, json ? { json } : {}, { json: plan, text });
  if (plan.obstacle) throw new CommandError('no_rollback', `${plan.obstacle} Move forward with a corrected version.`);
  if (apply) await runSteps(folder, plan.steps);
  else if (!json) terminal.err('Nothing was done. To run these steps, add --apply.');
}

/** Runs each step, with its output on this terminal. @throws CommandError for the first that fails */
async function runSteps(cwd: string, steps: readonly string[]): Promise<void> {
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
