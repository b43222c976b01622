import { type Command, Option } from 'commander';
import { sourceLocation } from '../../loader/storage/source-location.ts';
import { UsageError } from './command-error.ts';

/** Where a command finds the loads, and how it prints. */
export type LoadOptions = { json?: true; local?: true; data?: string; stack?: string };

/** Gives `command` the options that every command about loads has. */
export function withLoads(command: Command): Command {
  const where = (flags: string, description: string) =>
    new Option(flags, description).helpGroup('Where the register is loaded:');
  return command
    .option('--json', 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error')
    .addOption(where('--local', 'on this machine, for the running "npm start"').conflicts('stack'))
    .addOption(where('--data <dir>', 'with --local: the --data that "npm start" was given'))
    .addOption(
      where('--stack <name>', 'in the cloud, a deployment: any of its stacks, or what their names begin with'),
    );
}

/** Checks what can be seen without a look at the place. @throws UsageError */
export function checkPlace({ local, data, stack }: LoadOptions): void {
  if (data !== undefined && !local) throw new UsageError('--data says which --local run; add --local.');
  if (local || stack !== undefined) return;
  throw new UsageError('Say where: --local for the running "npm start", or --stack NAME for a deployment.');
}

/** An extract as it was given. npm runs us in the root of the project; a relative path is one of where npm was run. @throws UsageError */
export function sourceOf(extract: string, env: NodeJS.ProcessEnv): string {
  const location = sourceLocation(extract, env.INIT_CWD ?? process.cwd());
  if (location !== null) return location;
  throw new UsageError(`--extract takes a file, an http(s) URL or s3://BUCKET/KEY, not "${extract}".`);
}
