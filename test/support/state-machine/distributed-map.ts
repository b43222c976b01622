import { randomUUID } from 'node:crypto';
import { batchItems, type ChildInput } from './batch-items.ts';
import { NotInterpretedError, StateError } from './errors.ts';
import { evaluateInteger } from './evaluate.ts';
import { type Entered, type Frame, limited, namesAt } from './frame.ts';
import { itemContext, selectItem, stateItems } from './inline-map.ts';
import type { Json, JsonObject } from './json.ts';
import { pool } from './pool.ts';
import { readItems } from './read-items.ts';
import type { MapState } from './schema.ts';
import { type ChildResult, resultsOf, writeResults } from './write-results.ts';

const mostAtOnce = 10_000;

/**
 * Runs each item or batch as an execution of its own, which sees no variable from outside. Failures are counted in
 * items; once they are more than tolerated no child begins any more and the state fails.
 */
export async function runDistributedMap(state: MapState, entered: Entered, frame: Frame): Promise<Json> {
  const names = namesAt(frame, entered);
  const { run } = frame;
  const { items, source } = state.ItemReader
    ? await readItems(state.ItemReader, s3Of(frame), names)
    : { items: await stateItems(state, entered, frame), source: 'STATE_DATA' };
  const selected: Json[] = [];
  for (const [index, item] of items.entries()) {
    selected.push(await selectItem(state, item, itemContext(index, item, source), entered, frame));
  }
  const children = await batchItems(selected, state.ItemBatcher, names);
  const limit = (await evaluateInteger(state.MaxConcurrency, names, 'MaxConcurrency', [0, mostAtOnce])) || mostAtOnce;
  const tooMany = await threshold(state, entered, frame, items.length);

  const id = randomUUID();
  const label = state.Label ?? entered.name;
  const results: ChildResult[] = children.map(({ input }) => pending(input));
  const mapRun = new AbortController();
  let failedItems = 0;
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
      if (result.status === 'SUCCEEDED') return;
      failedItems += child.items;
      if (tooMany(failedItems)) mapRun.abort();
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
  const written = state.ResultWriter?.Resource
    ? await writeResults(results, state.ResultWriter, s3Of(frame), names, { mapRunArn, id })
    : null;
  if (mapRun.signal.aborted) {
    throw new StateError(
      'States.ExceedToleratedFailureThreshold',
      'The specified tolerated failure threshold was exceeded',
    );
  }
  return limited(written ?? resultsOf(results, state.ResultWriter?.WriterConfig), 'result of the Map');
}

async function threshold(state: MapState, entered: Entered, frame: Frame, items: number) {
  const names = namesAt(frame, entered);
  const { ToleratedFailureCount: count, ToleratedFailurePercentage: percentage } = state;
  const most = { count: items, percentage: 100 };
  if (count !== undefined || percentage === undefined) {
    most.count = await evaluateInteger(count ?? 0, names, 'ToleratedFailureCount', [0, 100_000_000]);
  }
  if (percentage !== undefined) {
    most.percentage = await evaluateInteger(percentage, names, 'ToleratedFailurePercentage', [0, 100]);
  }
  return (failed: number) => failed > most.count || (failed * 100) / items > most.percentage;
}

async function runChild(state: MapState, { input }: ChildInput, frame: Frame, label: string): Promise<ChildResult> {
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
    const output = await run.runBranch(state.ItemProcessor, input, { ...frame, outer: {}, variables: {}, context });
    return { status: 'SUCCEEDED', output, described: ended('SUCCEEDED', { Output: JSON.stringify(output) }) };
  } catch (error) {
    if (error instanceof StateError) {
      return {
        status: 'FAILED',
        output: null,
        described: ended('FAILED', { Error: error.error, Cause: error.reason }),
      };
    }
    if (error === frame.signal.reason) return { status: 'ABORTED', output: null, described: ended('ABORTED', {}) };
    throw error;
  }
}

function pending(input: Json): ChildResult {
  return { status: 'PENDING', output: null, described: { Input: JSON.stringify(input), Status: 'PENDING' } };
}

function s3Of({ run }: Frame) {
  if (run.s3) return run.s3;
  throw new NotInterpretedError(['an ItemReader or ResultWriter needs the option s3']);
}
