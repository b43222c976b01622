import { CommandError } from '../connect/errors.ts';
import { type CliCommand, folderOf, type Result, stageName } from './command.ts';
import { configIn } from './config-commands.ts';
import { lines } from './terminal-text.ts';

/** `gate`: a pipeline's check before it deploys. */
export function addGateCommand(program: CliCommand): void {
  program
    .command('gate')
    .description(
      'before a deployment: fail if a stage would lose a resource with data, or use a table without accounts',
    )
    .option('--stage <name>', 'the stage (default: as for "cdk deploy" without a stage)', stageName)
    .option('--protect', 'then set a stack policy on the data stack that makes CloudFormation refuse the same')
    .notes(
      `Compares the templates of the installed version and the settings with the deployed templates, and changes nothing without
--protect. To lose a resource on purpose, take the stack policy away and deploy without the gate.`,
    )
    .examples('gate --stage test', 'gate --stage prod --protect')
    .does(async ({ stage, protect }: { stage?: string; protect?: true }): Promise<Result> => {
      const folder = folderOf(program.terminal);
      const config = await configIn(folder, stage);
      // Imported here because CloudFormation's specification and the AWS client load slower than `--help` should print.
      const { examineDeployment, protectData } = await import('../gate/gate.ts');
      // The region in the settings, which "cdk deploy" uses whatever the environment says.
      process.env.AWS_REGION = config.region;
      const report = await examineDeployment(folder, config);
      const { obstacles, stacks } = report;
      const isSafe = obstacles.length === 0;
      const guarded = isSafe && protect ? await protectData(report, config) : null;
      const message = 'This must not be deployed as it is: see the obstacles.';
      const text = lines(
        stacks.map(({ name, isDeployed }) => `${name}: ${isDeployed ? 'compared' : 'not deployed yet'}`),
        obstacles.map((obstacle) => `Obstacle: ${obstacle}`),
        guarded !== null && `${guarded}: its stack policy is set`,
        isSafe && 'Nothing would be lost.',
      );
      const failure = isSafe ? undefined : new CommandError('loss', message);
      return { json: { ...report, protected: guarded }, text, failure };
    });
}
