import { randomUUID } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  type Branch,
  type Machine,
  type MapState,
  machineSchema,
  type State,
  type Task,
} from './definition.ts';
import {
  asJson,
  evaluate,
  evaluateAs,
  type Json,
  type JsonObject,
  type Names,
} from './expressions.ts';
import type { Integration } from './integrations.ts';
import { matchesError, StateError, StoppedError } from './state-error.ts';

/** What happened, in order. Nothing waits: pauses are only told. */
export type RunEvent =
  | { kind: 'entered'; state: string }
  | { kind: 'waited'; state: string; seconds: number }
  | { kind: 'retried'; state: string; error: string; attempt: number; delaySeconds: number }
  | { kind: 'caught'; state: string; error: string; cause: string; next: string }
  | ({ kind: 'mapped'; state: string } & MapCounts);

/** How a Distributed Map went: in items and in child executions, with the most of these at once. */
type MapCounts = {
  items: number;
  children: number;
  succeeded: number;
  failed: number;
  pending: number;
  peak: number;
};

type RunOptions = {
  name: string;
  input: unknown;
  /** By resource, `arn:aws:states:::lambda:invoke`. */
  integrations: Readonly<Record<string, Integration>>;
  /** For what Distributed Maps read and write. */
  s3: S3Client;
};

/** How an execution ended, and what happened in it. */
export type Execution = { arn: string; events: RunEvent[] } & (
  | { status: 'SUCCEEDED'; output: Json }
  | { status: 'FAILED'; error: string; cause: string }
  | { status: 'ABORTED' }
);

/** The parsed definition. @throws ZodError that names what is not interpreted */
export const machineOf = (definition: unknown): Machine => machineSchema.parse(definition);

/**
 * Runs a definition as Step Functions does, as far as its documentation tells. Timeouts don't end
 * anything, and an execution leaves no history. A fault of the definition itself is an error of
 * this process.
 */
export async function runMachine(machine: Machine, options: RunOptions): Promise<Execution> {
  const events: RunEvent[] = [];
  const input = asJson(options.input);
  const arn = `arn:aws:states:eu-west-1:123456789012:execution:${options.name}:${randomUUID()}`;
  try {
    const output = await runBranch(machine, input, {
      ...options,
      events,
      executionArn: arn,
      variables: {},
    });
    return { arn, status: 'SUCCEEDED', output, events };
  } catch (error) {
    if (error instanceof StoppedError) return { arn, status: 'ABORTED', events };
    if (!(error instanceof StateError)) throw error;
    return { arn, status: 'FAILED', error: error.error, cause: error.reason, events };
  }
}

/**
 * A sequence of states being run: the machine, or a child execution, which sees no variable from
 * outside.
 */
type Frame = Omit<RunOptions, 'input'> & {
  events: RunEvent[];
  executionArn: string;
  variables: Record<string, Json>;
};

/** What a state leaves: its output, what it assigns, and the state after it, if it has one. */
type Outcome = { output: Json; assigned: JsonObject; next: string | undefined };

/** No execution of a test takes so many states; a loop that never ends does. */
const mostEvents = 20_000;

/** Runs the states from `StartAt` to an end; gives the output of the last. @throws StateError */
async function runBranch({ StartAt, States }: Branch, input: Json, frame: Frame): Promise<Json> {
  let name: string | undefined = StartAt;
  let data: Json = limited(input);
  while (name !== undefined) {
    const state = States[name];
    if (!state) throw new Error(`There is no state ${name}.`);
    if (frame.events.push({ kind: 'entered', state: name }) > mostEvents) {
      throw new Error('An endless loop.');
    }
    const { output, assigned, next } = await runState(state, name, data, frame);
    Object.assign(frame.variables, assigned);
    [name, data] = [next, output];
  }
  return data;
}

/**
 * What an expression can name in a state with this input; `more` adds `result` or `errorOutput`.
 */
function namesIn({ variables, executionArn }: Frame, input: Json, more: JsonObject = {}): Names {
  return { ...variables, states: { input, context: { Execution: { Id: executionArn } }, ...more } };
}

async function runState(state: State, name: string, input: Json, frame: Frame): Promise<Outcome> {
  const names = namesIn(frame, input);
  switch (state.Type) {
    case 'Task':
      return withRetries(state, name, input, frame, () => runTask(state, names, frame));
    case 'Map':
      return withRetries(state, name, input, frame, () => runMap(state, name, names, frame));
    case 'Choice':
      for (const rule of state.Choices) {
        if (await evaluateAs('boolean', rule.Condition, names)) {
          return leave(rule, input, names, rule.Next);
        }
      }
      return leave(state, input, names, state.Default);
    case 'Wait':
      frame.events.push({ kind: 'waited', state: name, seconds: state.Seconds });
      return leave(state, input, names, state.Next);
    case 'Pass':
      return leave(state, input, names, state.Next);
    case 'Succeed':
      return leave(state, input, names, undefined);
    case 'Fail':
      throw new StateError(
        await evaluateAs('string', state.Error, names),
        await evaluateAs('string', state.Cause, names),
      );
  }
}

/** `Assign` and `Output` see the variables as they were when the state was entered. */
async function leave(
  { Assign = {}, Output }: { Assign?: JsonObject | undefined; Output?: Json | undefined },
  usual: Json,
  names: Names,
  next: string | undefined,
): Promise<Outcome> {
  const output = limited(Output === undefined ? usual : await evaluate(Output, names));
  return { output, assigned: limited(await evaluate(Assign, names)) as JsonObject, next };
}

/** The most bytes of JSON that a state takes, gives or assigns at once (256 KiB). */
const payloadLimit = 262_144;
const bytesOf = (value: Json) => Buffer.byteLength(JSON.stringify(value));

/** The value, if it is within the payload limit. @throws StateError States.DataLimitExceeded */
function limited(value: Json): Json {
  const bytes = bytesOf(value);
  if (bytes <= payloadLimit) return value;
  throw new StateError(
    'States.DataLimitExceeded',
    `${bytes} bytes of JSON are more than ${payloadLimit}.`,
  );
}

async function runTask(
  { Resource, Arguments }: Task,
  names: Names,
  { integrations }: Frame,
): Promise<Json> {
  const integration = integrations[Resource];
  if (!integration) throw new Error(`The resource ${Resource} is not known.`);
  return limited(
    asJson(await integration(limited(await evaluate(Arguments, names)) as JsonObject)),
  );
}

/** Does the work of a state that may fail, as its Retry and Catch say. */
async function withRetries(
  state: Task | MapState,
  name: string,
  input: Json,
  frame: Frame,
  work: () => Promise<Json>,
): Promise<Outcome> {
  const attempts = state.Retry.map(() => 0);
  for (;;) {
    try {
      const result = await work();
      return await leave(state, result, namesIn(frame, input, { result }), state.Next);
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const { error: code, reason: cause } = error;
      const at = state.Retry.findIndex(({ ErrorEquals }) => matchesError(ErrorEquals, code));
      const retrier = state.Retry[at];
      const attempt = (attempts[at] ?? 0) + 1;
      attempts[at] = attempt;
      if (retrier && attempt <= retrier.MaxAttempts) {
        const { IntervalSeconds, BackoffRate, MaxDelaySeconds } = retrier;
        const delaySeconds = Math.min(
          IntervalSeconds * BackoffRate ** (attempt - 1),
          MaxDelaySeconds,
        );
        frame.events.push({ kind: 'retried', state: name, error: code, attempt, delaySeconds });
        continue;
      }
      const catcher = state.Catch.find(({ ErrorEquals }) => matchesError(ErrorEquals, code));
      if (!catcher) throw error;
      frame.events.push({ kind: 'caught', state: name, error: code, cause, next: catcher.Next });
      const errorOutput = { Error: code, Cause: cause };
      return leave(catcher, errorOutput, namesIn(frame, input, { errorOutput }), catcher.Next);
    }
  }
}

const statuses = ['SUCCEEDED', 'FAILED', 'PENDING'] as const;
type Child = {
  Input: Json;
  Status: (typeof statuses)[number];
  Output?: Json;
  Error?: string;
  Cause?: string;
};

/**
 * Runs each batch of items as an execution of its own. Once one has failed no other begins, and the
 * state fails.
 */
async function runMap(state: MapState, name: string, names: Names, frame: Frame): Promise<Json> {
  const { MaxItemsPerBatch, BatchInput } = state.ItemBatcher;
  const items = await readItems(state, names, frame.s3);
  const children = batches(items, MaxItemsPerBatch, await evaluate(BatchInput, names)).map(
    (Input): Child => ({ Input, Status: 'PENDING' }),
  );
  const limit = await evaluateAs<number>('number', state.MaxConcurrency, names);
  const waiting = children.values();
  let running = 0;
  let peak = 0;
  const hasFailed = () => children.some(({ Status }) => Status === 'FAILED');
  const worker = async () => {
    for (let next = waiting.next(); !next.done && !hasFailed(); next = waiting.next()) {
      peak = Math.max(peak, ++running);
      await runChild(state, next.value, frame);
      running--;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, children.length) }, worker));
  const [succeeded = 0, failed = 0, pending = 0] = statuses.map(
    (status) => children.filter(({ Status }) => Status === status).length,
  );
  const counts = {
    items: items.length,
    children: children.length,
    succeeded,
    failed,
    pending,
    peak,
  };
  frame.events.push({ kind: 'mapped', state: name, ...counts });
  const written = await writeResults(children, state, names, frame.s3);
  if (failed === 0) return written;
  throw new StateError(
    'States.ExceedToleratedFailureThreshold',
    'The specified tolerated failure threshold was exceeded',
  );
}

async function runChild(
  { ItemProcessor, Label }: MapState,
  child: Child,
  frame: Frame,
): Promise<void> {
  const executionArn = `${frame.executionArn}/${Label}:${randomUUID()}`;
  try {
    const Output = await runBranch(ItemProcessor, child.Input, {
      ...frame,
      executionArn,
      variables: {},
    });
    Object.assign(child, { Status: 'SUCCEEDED', Output });
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    Object.assign(child, { Status: 'FAILED', Error: error.error, Cause: error.reason });
  }
}

/** The inputs of the children: as many items as the batcher allows and as fit the payload limit. */
function batches(items: readonly Json[], most: number, BatchInput: Json): Json[] {
  const made: { BatchInput: Json; Items: Json[] }[] = [];
  for (const item of items) {
    const last = made.at(-1);
    const isFull = !last || last.Items.length >= most;
    if (isFull || bytesOf({ ...last, Items: [...last.Items, item] }) > payloadLimit) {
      made.push({ BatchInput, Items: [item] });
    } else {
      last.Items.push(item);
    }
  }
  return made;
}

/** The items of a map: a JSON array in S3. @throws StateError States.ItemReaderFailed */
async function readItems({ ItemReader }: MapState, names: Names, s3: S3Client): Promise<Json[]> {
  const { Bucket, Key } = (await evaluate(ItemReader.Arguments, names)) as {
    Bucket: string;
    Key: string;
  };
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const items = JSON.parse((await Body?.transformToString()) ?? '') as Json;
    if (Array.isArray(items)) return items;
    throw new Error(`s3://${Bucket}/${Key} is no JSON array`);
  } catch (error) {
    throw new StateError('States.ItemReaderFailed', String(error));
  }
}

/**
 * Writes the results by status, and a manifest that names the files; gives what the map hands on
 * instead of them.
 */
async function writeResults(
  children: readonly Child[],
  { ResultWriter }: MapState,
  names: Names,
  s3: S3Client,
) {
  const where = (await evaluate(ResultWriter.Arguments, names)) as {
    Bucket: string;
    Prefix: string;
  };
  const { Bucket } = where;
  const folder = `${where.Prefix}/${randomUUID()}`;
  const files: Record<string, { Key: string; Size: number }[]> = {
    SUCCEEDED: [],
    FAILED: [],
    PENDING: [],
  };
  for (const status of statuses) {
    const some = children.filter(({ Status }) => Status === status);
    if (some.length === 0) continue;
    const Key = `${folder}/${status}_0.json`;
    const Body = JSON.stringify(some);
    await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    files[status] = [{ Key, Size: Buffer.byteLength(Body) }];
  }
  const Key = `${folder}/manifest.json`;
  const manifest = JSON.stringify({ DestinationBucket: Bucket, ResultFiles: files });
  await s3.send(new PutObjectCommand({ Bucket, Key, Body: manifest }));
  return { ResultWriterDetails: { Bucket, Key } };
}
