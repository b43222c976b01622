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
import type { ManifestEntry } from '../../loader/dataset/manifest.ts';
import { failureStates } from '../../loader/names.ts';
import { finishedReport, type LoadReport, RefusedLoadError, unchangedReport } from '../../loader/steps/load-report.ts';
import { CommandError } from '../cli/arguments.ts';
import { explainLoadFailure } from '../cli/explain-error.ts';

/** What the history of an execution tells of a load so far. */
export type ExecutionStory = {
  /** The states it has been in, in order. */
  entered: string[];
  /** What the last state has failed with, as long as it is tried again. */
  trouble: string | null;
  /** The map that runs or ran last in a state. */
  mapRuns: { state: string; arn: string }[];
  /** What the guard said of the last load. */
  report: LoadReport | null;
  /** What was published last. */
  published: ManifestEntry | null;
};

/** Reads the events of one execution, oldest first. */
export function executionStory(events: readonly HistoryEvent[]): ExecutionStory {
  const story: ExecutionStory = { entered: [], trouble: null, mapRuns: [], report: null, published: null };
  for (const event of events) {
    const { stateEnteredEventDetails, stateExitedEventDetails, taskFailedEventDetails } = event;
    if (stateEnteredEventDetails?.name) story.entered.push(stateEnteredEventDetails.name);
    if (stateEnteredEventDetails || stateExitedEventDetails) story.trouble = null;
    if (taskFailedEventDetails) story.trouble = causeText(taskFailedEventDetails.cause ?? '');
    const arn = event.mapRunStartedEventDetails?.mapRunArn;
    if (arn) story.mapRuns.push({ state: story.entered.at(-1) ?? '', arn });
    const output = parsed(stateExitedEventDetails?.output);
    if (stateExitedEventDetails?.name === 'Guard') story.report = (output?.report as LoadReport) ?? null;
    if (stateExitedEventDetails?.name === 'Publish') story.published = output as ManifestEntry | null;
  }
  return story;
}

/** The message in the cause of an error, which Lambda gives as JSON. */
export function causeText(cause: string): string {
  const { errorMessage } = parsed(cause) ?? {};
  return typeof errorMessage === 'string' ? errorMessage : cause;
}

/** An output that was cut off is as good as none. */
function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

type Unchanged = Parameters<typeof unchangedReport>[0];

/** The report of an execution that succeeded; else the error that says why not. @throws RefusedLoadError, CommandError */
export function executionReport(
  { name = '', status, output, error = '', cause = '' }: DescribeExecutionOutput,
  story: ExecutionStory,
): LoadReport {
  if (status === 'SUCCEEDED') return succeeded(JSON.parse(output ?? 'null'), story);
  if (status === 'FAILED' && error === 'LoadRefused') throw refused(story, cause);
  if (status === 'FAILED') {
    const { code, message } = explainLoadFailure(error, causeText(cause)) ?? {
      code: 'failed',
      message: `The load failed at ${lastStep(story)}: ${error}: ${causeText(cause)}`,
    };
    throw new CommandError(code, message, { details: { execution: name } });
  }
  const what = status === 'TIMED_OUT' ? 'took longer than a load may' : 'was stopped';
  const message = `The load ${name} ${what}, at ${lastStep(story)}. Run the load again: it goes on where it stopped.`;
  throw new CommandError((status ?? 'failed').toLowerCase(), message, { details: { execution: name } });
}

function succeeded(output: Unchanged | LoadReport | ManifestEntry, story: ExecutionStory): LoadReport {
  if ('outcome' in output) return output;
  if (!('action' in output)) return story.report ?? finishedReport(output);
  // What was under way from before was finished, and beside it there was nothing to do.
  return story.published ? finishedReport(story.published) : unchangedReport(output);
}

function refused({ report }: ExecutionStory, cause: string): Error {
  if (report) return new RefusedLoadError(report);
  return new CommandError('blocked', `The guard stopped the load, nothing was written: ${cause}`);
}

const endings: string[] = Object.values(failureStates);

function lastStep({ entered }: ExecutionStory): string {
  return entered.findLast((state) => !endings.includes(state)) ?? 'its start';
}

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
