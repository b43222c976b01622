import type { S3Client } from '@aws-sdk/client-s3';
import { StateError } from './errors.ts';
import { evaluate, type Names } from './evaluate.ts';
import { isJsonObject, type Json, type JsonObject, jsonBytes, payloadLimit } from './json.ts';
import type { Branch } from './schema.ts';

/** What a Task calls: one per resource. */
export type Integration = {
  /** What is wrong with the Arguments as the definition has them, expressions unevaluated. */
  check(template: Json): string[];
  /** The call itself. A StateError that it throws is what the state fails with. */
  call(parameters: Json): Promise<Json>;
};

/** What happened, in the order in which it did; times are not waited for, only told. */
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

/** What all parts of one execution share. */
export type Run = {
  readonly name: string;
  readonly integrations: Readonly<Record<string, Integration>>;
  readonly s3: S3Client | null;
  readonly events: RunEvent[];
  readonly millisecondsPerSecond: number;
  runBranch(branch: Branch, input: Json, frame: Frame): Promise<Json>;
};

/** One sequence of states being run: the machine, a branch, an iteration or a child execution. */
export type Frame = {
  readonly run: Run;
  readonly variables: Record<string, Json>;
  /** The context object without `State`. */
  readonly context: JsonObject;
  readonly signal: AbortSignal;
};

/** Where a state is: its name, input and how often it was tried again. */
export type Entered = { name: string; input: Json; enteredTime: string; retryCount: number };

/** What an expression of this state can name; `more` adds `result` or `errorOutput`. */
export function namesAt(frame: Frame, entered: Entered, more: JsonObject = {}): Names {
  const { name, input, enteredTime, retryCount } = entered;
  const State: JsonObject = { Name: name, EnteredTime: enteredTime, RetryCount: retryCount };
  return { ...frame.variables, states: { input, context: { ...frame.context, State }, ...more } };
}

/** What a state leaves: its output, what it assigns, and where it goes, `null` being the end. */
export type Outcome = { output: Json; assigned: JsonObject; next: string | null };

/**
 * `Assign` and `Output`, both seeing the variables as they were when the state was entered; `at` is where they stand.
 */
export async function leave(
  { Assign, Output }: { Assign?: JsonObject | undefined; Output?: Json | undefined },
  usual: Json,
  names: Names,
  next: string | null,
  at = '',
): Promise<Outcome> {
  const output = Output === undefined ? usual : await evaluate(Output, names, `${at}Output`);
  const assigned = Assign === undefined ? {} : await evaluate(Assign, names, `${at}Assign`);
  return { output: limited(output, 'output'), assigned: limited(assigned, 'Assign') as JsonObject, next };
}

/** The value, if it is within the payload limit. @throws StateError States.DataLimitExceeded */
export function limited(value: Json, what: string): Json {
  // Each variable counts by itself and they count together; their names don't.
  const bytes = what === 'Assign' && isJsonObject(value) ? sum(Object.values(value).map(jsonBytes)) : jsonBytes(value);
  if (bytes <= payloadLimit) return value;
  throw new StateError(
    'States.DataLimitExceeded',
    `The ${what} has ${bytes} bytes of JSON; at most ${payloadLimit} are allowed.`,
  );
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
