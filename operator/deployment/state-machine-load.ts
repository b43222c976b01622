import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  DescribeMapRunCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import { findMembers } from '../../loader/bag/extract-members.ts';
import { extractIdentity, type ManifestEntry } from '../../loader/dataset/load.ts';
import {
  finishedReport,
  type LoadReport,
  RefusedLoadError,
  type Unchanged,
  unchangedReport,
} from '../../loader/guard/load-report.ts';
import { listMutations } from '../../loader/mutations/mutation-lists.ts';
import { failureStates } from '../../loader/names.ts';
import { loadSteps } from '../../loader/steps/load-steps.ts';
import type { Progress, StageProgress } from '../../loader/steps/step.ts';
import { openSource } from '../../loader/storage/open.ts';
import type { Storage } from '../../loader/storage/storage.ts';
import { CommandError, explainLoadError } from './errors.ts';

/** Whether a source is a file on this machine, which a deployment can't read. */
export function isOnThisMachine(source: string): boolean {
  return !/^(?:https?|s3):\/\//i.test(source);
}

/** The storage in a bucket, for a file of this machine. */
type Uploads = { storage: Storage; bucket: string; progress: Progress };

/**
 * Uploads an extract to the bucket unless it is already there, and returns its location:
 * `s3://BUCKET/uploads/...`. A file that is no extract is refused before the upload.
 * @throws SourceError, ExtractError
 */
export async function uploadExtract(
  path: string,
  { storage, bucket, progress }: Uploads,
): Promise<string> {
  const source = await openSource(path);
  if (!source?.access) throw new Error(`${path} can't be read in ranges`);
  try {
    const { location } = source.version;
    const { size } = source.access;
    const { peildatum, members } = await findMembers(source.access, basename(location));
    const checksums = members.map(({ path }) => path.at(-1)?.crc32);
    const key = `uploads/${extractIdentity(peildatum, checksums)}-${size}.zip`;
    if (!(await storage.open(key))) {
      const shown = progress.begin('stage', { bytes: size });
      await storage.putStream(key, counted(source.stream(), shown));
      shown.end();
    }
    return `s3://${bucket}/${key}`;
  } finally {
    await source.close();
  }
}

/**
 * Uploads the deliveries that are on this machine; a list or a zip elsewhere is left alone. @throws
 * SourceError
 */
export async function uploadMutations(
  locations: readonly string[],
  { storage, bucket }: Uploads,
): Promise<string[]> {
  const found: string[] = [];
  for (const given of locations) {
    const files = isOnThisMachine(given)
      ? (await listMutations(given)).listed
      : [{ name: given, location: given }];
    for (const { name, location } of files) {
      if (!isOnThisMachine(location)) {
        found.push(location);
        continue;
      }
      const bytes = await readFile(location);
      const key = `uploads/${crc32(bytes).toString(16)}/${name}`;
      if (!(await storage.open(key))) await storage.put(key, bytes);
      found.push(`s3://${bucket}/${key}`);
    }
  }
  return found;
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  shown: StageProgress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    shown.advance({ bytes: chunk.length });
    yield chunk;
  }
}

/** The progress of a load, from the history of its execution. */
type ExecutionStory = {
  /** The states that it entered, in order. */
  entered: string[];
  /** Why the current state failed, while it is being retried. */
  retryReason: string | null;
  mapRuns: { state: string; arn: string }[];
  /** The guard's report of the last load. */
  report: LoadReport | null;
  published: ManifestEntry | null;
};

/** Reads the events of one execution, oldest first. */
function executionStory(events: readonly HistoryEvent[]): ExecutionStory {
  const story: ExecutionStory = {
    entered: [],
    retryReason: null,
    mapRuns: [],
    report: null,
    published: null,
  };
  for (const event of events) {
    const { stateEnteredEventDetails, stateExitedEventDetails, taskFailedEventDetails } = event;
    if (stateEnteredEventDetails?.name) story.entered.push(stateEnteredEventDetails.name);
    if (stateEnteredEventDetails || stateExitedEventDetails) story.retryReason = null;
    if (taskFailedEventDetails) story.retryReason = causeText(taskFailedEventDetails.cause ?? '');
    const arn = event.mapRunStartedEventDetails?.mapRunArn;
    if (arn) story.mapRuns.push({ state: story.entered.at(-1) ?? '', arn });
    const output = parsed(stateExitedEventDetails?.output);
    if (stateExitedEventDetails?.name === 'Guard') {
      story.report = (output?.report as LoadReport) ?? null;
    }
    if (stateExitedEventDetails?.name === 'Publish') {
      story.published = output as ManifestEntry | null;
    }
  }
  return story;
}

/** The message in the cause of an error, which Lambda writes as JSON. */
function causeText(cause: string): string {
  const { errorMessage } = parsed(cause) ?? {};
  return typeof errorMessage === 'string' ? errorMessage : cause;
}

/** Output that was cut off counts as none. */
function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/**
 * The report of an execution that succeeded. @throws RefusedLoadError, CommandError if it failed
 */
function executionReport(execution: DescribeExecutionOutput, story: ExecutionStory): LoadReport {
  const { name = '', status, output, error = '', cause = '' } = execution;
  if (status === 'SUCCEEDED') return succeeded(JSON.parse(output ?? 'null'), story);
  if (status === 'FAILED' && error === 'LoadRefused') {
    if (story.report) throw new RefusedLoadError(story.report);
    throw new CommandError('refused', `The guard refused the load; nothing was written: ${cause}`);
  }
  const step =
    story.entered.findLast((state) => !Object.values<string>(failureStates).includes(state)) ??
    'its start';
  const what = status === 'TIMED_OUT' ? 'timed out' : 'was stopped';
  const stopped = `The load ${name} ${what} at ${step}. Run it again: it continues where it stopped.`;
  const unexplained = {
    code: 'failed',
    message: `The load failed at ${step}: ${error}: ${causeText(cause)}`,
  };
  const { code, message } =
    status === 'FAILED'
      ? (explainLoadError(error, causeText(cause)) ?? unexplained)
      : { code: (status ?? 'failed').toLowerCase(), message: stopped };
  throw new CommandError(code, message, { details: { execution: name } });
}

function succeeded(
  output: Unchanged | LoadReport | ManifestEntry,
  story: ExecutionStory,
): LoadReport {
  if ('outcome' in output) return output;
  if (!('action' in output)) return story.report ?? finishedReport(output);
  // It finished an interrupted load, and there was nothing else to do.
  return story.published ? finishedReport(story.published) : unchangedReport(output);
}

/** How an execution of the state machine ended. Plain JSON. */
export type EndedLoad = {
  name: string;
  started: string;
  ended: string | null;
  outcome: 'succeeded' | 'refused' | 'failed' | 'timed_out' | 'aborted';
  /**
   * Why it did not succeed: the error of the failed step, or of the failed item of a map, and where
   * its log is.
   */
  error: { code: string; message: string; log: string } | null;
};

/**
 * The last three executions that ended, the newest first. The error is read of the newest alone, if
 * that failed.
 */
export async function lastRuns(
  client: SFNClient,
  stateMachineArn: string,
  log: string,
): Promise<EndedLoad[]> {
  const { executions = [] } = await client.send(
    new ListExecutionsCommand({ stateMachineArn, maxResults: 4 }),
  );
  const ended = executions.filter(({ status }) => status !== 'RUNNING').slice(0, 3);
  const runs = ended.map(({ name = '', status = 'FAILED', startDate, stopDate }): EndedLoad => {
    const outcome = status.toLowerCase() as EndedLoad['outcome'];
    const [start, stop] = [startDate, stopDate].map((date) => date?.toISOString());
    return { name, started: start ?? '', ended: stop ?? null, outcome, error: null };
  });
  const [newest] = runs;
  if (!newest || newest.outcome === 'succeeded') return runs;
  const executionArn = ended[0]?.executionArn ?? '';
  const execution = await client.send(new DescribeExecutionCommand({ executionArn }));
  const story = executionStory(await history(client, executionArn));
  try {
    executionReport(await withInnerError(client, execution, story), story);
  } catch (error) {
    const { code, message } = error as CommandError;
    if (error instanceof RefusedLoadError || execution.error === 'LoadRefused') {
      newest.outcome = 'refused';
    } else {
      newest.error = { code, message, log };
    }
  }
  return runs;
}

const shortestPauseMilliseconds = 200;
const longestPauseMilliseconds = 3_000;

/**
 * Follows an execution to its end. Ctrl-C stops the following only.
 * @param tell gets a line for each step, and one for each tenth of a map
 * @param again the command that follows it again
 * @throws RefusedLoadError, CommandError
 */
export async function followExecution(
  client: SFNClient,
  executionArn: string,
  tell: (line: string) => void,
  again: string,
) {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt);
  const printed = new Set<string>();
  try {
    for (
      let pause = shortestPauseMilliseconds;
      ;
      pause = Math.min(pause * 1.5, longestPauseMilliseconds)
    ) {
      const { signal } = interruption;
      const execution = await client.send(new DescribeExecutionCommand({ executionArn }), {
        abortSignal: signal,
      });
      const story = executionStory(await history(client, executionArn));
      for (const line of await progressLines(client, story)) {
        // A step may run twice.
        if (!printed.has(line)) tell(line);
        printed.add(line);
      }
      if (execution.status !== 'RUNNING') {
        return executionReport(await withInnerError(client, execution, story), story);
      }
      await sleep(pause, undefined, { signal });
    }
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    throw new CommandError(
      'interrupted',
      `Stopped following; the load continues. Follow it again with ${again}.`,
    );
  } finally {
    process.off('SIGINT', interrupt);
  }
}

async function history(client: SFNClient, executionArn: string): Promise<HistoryEvent[]> {
  const pages = paginateGetExecutionHistory(
    { client },
    { executionArn, maxResults: 1000, includeExecutionData: true },
  );
  const events: HistoryEvent[] = [];
  for await (const page of pages) events.push(...(page.events ?? []));
  return events;
}

async function progressLines(
  client: SFNClient,
  { entered, retryReason, mapRuns }: ExecutionStory,
): Promise<string[]> {
  const lines = entered.flatMap((state) => {
    // The other states are internal to the state machine.
    const step = state.toLowerCase();
    return step in loadSteps && step !== 'release' ? [`${step} ...`] : [];
  });
  if (retryReason) lines.push(`${entered.at(-1)?.toLowerCase()} is being retried: ${retryReason}`);
  const last = mapRuns.at(-1);
  if (!last || entered.at(-1) !== last.state) return lines;
  const { itemCounts } = await client.send(new DescribeMapRunCommand({ mapRunArn: last.arn }));
  const { total = 0, succeeded = 0 } = itemCounts ?? {};
  const tenths = total === 0 ? 0 : Math.floor((succeeded / total) * 10);
  return tenths === 0
    ? lines
    : [...lines, `${last.state.toLowerCase()} ${tenths * 10}% of ${total}`];
}

/** The error of the first failed item: the map itself only says that items failed. */
async function withInnerError(
  client: SFNClient,
  execution: DescribeExecutionOutput,
  { mapRuns }: ExecutionStory,
) {
  const run = mapRuns.at(-1);
  if (!run || execution.error !== 'States.ExceedToleratedFailureThreshold') return execution;
  const list = new ListExecutionsCommand({
    mapRunArn: run.arn,
    statusFilter: 'FAILED',
    maxResults: 1,
  });
  const [child] = (await client.send(list)).executions ?? [];
  if (!child) return execution;
  const { error, cause } = await client.send(
    new DescribeExecutionCommand({ executionArn: child.executionArn }),
  );
  return { ...execution, error, cause };
}
