import { randomUUID } from 'node:crypto';
import { batchItems } from './batch-items.ts';
import { NotInterpretedError, StateError } from './errors.ts';
import { evaluateInteger } from './evaluate.ts';
import { type Entered, type Frame, limited, namesAt } from './frame.ts';
import type { Json, JsonObject } from './json.ts';
import { pool } from './pool.ts';
import { readItems } from './read-items.ts';
import type { MapState } from './schema.ts';
import { type ChildResult, writeResults } from './write-results.ts';

const mostAtOnce = 10_000;

/**
 * Runs each item or batch as an execution of its own, which sees no variable from outside. Once one
 * has failed no child begins any more and the state fails.
 */
export async function runDistributedMap(state: MapState, entered: Entered, frame: Frame): Promise<Json> {
  const names = namesAt(frame, entered);
  const { run } = frame;
  const items = await readItems(state.ItemReader, s3Of(frame), names);
  const children = await batchItems(items, state.ItemBatcher, names);
  const limit = (await evaluateInteger(state.MaxConcurrency, names, 'MaxConcurrency', [0, mostAtOnce])) || mostAtOnce;

  const id = randomUUID();
  const label = state.Label;
  const results: ChildResult[] = children.map(pending);
  const mapRun = new AbortController();
  const peak = await pool(
    children,
    limit,
    async (child, index) => {
      const result = await runChild(
        state,
        child,
        { ...frame, signal: AbortSignal.any([frame.signal, mapRun.signal]) },
        label,
      );
      results[index] = result;
      if (result.status !== 'SUCCEEDED') mapRun.abort();
    },
    () => mapRun.signal.aborted || frame.signal.aborted,
  );
  frame.signal.throwIfAborted();
  const count = (...statuses: string[]) => results.filter(({ status }) => statuses.includes(status)).length;
  run.events.push({
    kind: 'mapped',
    state: entered.name,
    items: items.length,
    children: children.length,
    succeeded: count('SUCCEEDED'),
    failed: count('FAILED', 'ABORTED'),
    pending: count('PENDING'),
    peak,
  });

  const mapRunArn = `arn:aws:states:eu-west-1:123456789012:mapRun:${run.name}/${label}:${id}`;
  const written = await writeResults(results, state.ResultWriter, s3Of(frame), names, { mapRunArn, id });
  if (mapRun.signal.aborted) {
    throw new StateError(
      'States.ExceedToleratedFailureThreshold',
      'The specified tolerated failure threshold was exceeded',
    );
  }
  return limited(written, 'result of the Map');
}

async function runChild(state: MapState, input: Json, frame: Frame, label: string): Promise<ChildResult> {
  const { run } = frame;
  const name = randomUUID();
  const startDate = new Date().toISOString();
  const ExecutionArn = `arn:aws:states:eu-west-1:123456789012:execution:${run.name}/${label}:${name}`;
  const described: JsonObject = {
    ExecutionArn,
    Input: JSON.stringify(input),
    InputDetails: { Included: true },
    Name: name,
    StartDate: startDate,
    StateMachineArn: `arn:aws:states:eu-west-1:123456789012:stateMachine:${run.name}/${label}`,
  };
  const context: JsonObject = {
    ...frame.context,
    Execution: { Id: ExecutionArn, Input: input, Name: name, StartTime: startDate, RedriveCount: 0 },
  };
  const ended = (Status: ChildResult['status'], more: JsonObject): JsonObject => ({
    ...described,
    ...more,
    Status,
    StopDate: new Date().toISOString(),
  });
  try {
    limited(input, 'input of a child execution');
    const output = await run.runBranch(state.ItemProcessor, input, { ...frame, variables: {}, context });
    return { status: 'SUCCEEDED', described: ended('SUCCEEDED', { Output: JSON.stringify(output) }) };
  } catch (error) {
    if (error instanceof StateError) {
      return {
        status: 'FAILED',
        described: ended('FAILED', { Error: error.error, Cause: error.reason }),
      };
    }
    if (error === frame.signal.reason) return { status: 'ABORTED', described: ended('ABORTED', {}) };
    throw error;
  }
}

function pending(input: Json): ChildResult {
  return { status: 'PENDING', described: { Input: JSON.stringify(input), Status: 'PENDING' } };
}

function s3Of({ run }: Frame) {
  if (run.s3) return run.s3;
  throw new NotInterpretedError(['an ItemReader or ResultWriter needs the option s3']);
}
