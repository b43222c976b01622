import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  DescribeMapRunCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import type { LoadReport } from '../../loader/load-report.ts';
import { CommandError } from '../commands/command-error.ts';
import { executionReport } from './execution-end.ts';
import { type ExecutionStory, executionStory } from './execution-history.ts';

export type FollowOptions = {
  client: SFNClient;
  executionArn: string;
  /** Gets a line for each step, and one now and then while many parts are worked on. */
  tell: (line: string) => void;
  /** How to follow it again. */
  again: string;
};

const shortestPauseMilliseconds = 200;
const longestPauseMilliseconds = 3_000;

/**
 * Watches an execution to its end. Ctrl-C ends the watching only.
 * @throws RefusedLoadError, CommandError
 */
export async function followExecution({ client, executionArn, tell, again }: FollowOptions): Promise<LoadReport> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt);
  const say = onceEach(tell);
  try {
    for (let pause = shortestPauseMilliseconds; ; pause = Math.min(pause * 1.5, longestPauseMilliseconds)) {
      const { signal } = interruption;
      const execution = await client.send(new DescribeExecutionCommand({ executionArn }), { abortSignal: signal });
      const story = executionStory(await history(client, executionArn));
      for (const line of await lines(client, story)) say(line);
      if (execution.status !== 'RUNNING') return executionReport(await withInnerError(client, execution, story), story);
      await sleep(pause, undefined, { signal });
    }
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    throw new CommandError('interrupted', `The load goes on without being watched. Watch it again with ${again}.`);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

async function history(client: SFNClient, executionArn: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  const pages = paginateGetExecutionHistory({ client }, { executionArn, maxResults: 1000, includeExecutionData: true });
  for await (const page of pages) events.push(...(page.events ?? []));
  return events;
}

/** The steps of people's interest; the rest is how the machine is made. */
const steps = ['Discover', 'Stage', 'Reference', 'Extract', 'Merge', 'Guard', 'Apply', 'Publish'];

async function lines(client: SFNClient, { entered, trouble, mapRuns }: ExecutionStory): Promise<string[]> {
  const said = entered.filter((state) => steps.includes(state)).map((state) => `${state.toLowerCase()} ...`);
  if (trouble) said.push(`${entered.at(-1)?.toLowerCase()} is tried again: ${trouble}`);
  const last = mapRuns.at(-1);
  if (!last || entered.at(-1) !== last.state) return said;
  const { itemCounts } = await client.send(new DescribeMapRunCommand({ mapRunArn: last.arn }));
  const { total = 0, succeeded = 0 } = itemCounts ?? {};
  const tenths = total === 0 ? 0 : Math.floor((succeeded / total) * 10);
  return tenths === 0 ? said : [...said, `${last.state.toLowerCase()} ${tenths * 10} % of ${total}`];
}

/** Says each line the first time that it comes; what is said again of a step that runs twice is left out. */
function onceEach(tell: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (said.has(line)) return;
    said.add(line);
    tell(line);
  };
}

/** A map only says that items failed; what the first of them failed with says more. */
async function withInnerError(client: SFNClient, execution: DescribeExecutionOutput, { mapRuns }: ExecutionStory) {
  const run = mapRuns.at(-1);
  if (!run || execution.error !== 'States.ExceedToleratedFailureThreshold') return execution;
  const list = new ListExecutionsCommand({ mapRunArn: run.arn, statusFilter: 'FAILED', maxResults: 1 });
  const [child] = (await client.send(list)).executions ?? [];
  if (!child) return execution;
  const { error, cause } = await client.send(new DescribeExecutionCommand({ executionArn: child.executionArn }));
  return { ...execution, error, cause };
}
