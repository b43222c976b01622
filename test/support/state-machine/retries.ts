import { matchesError, StateError } from './errors.ts';
import { type Entered, type Frame, leave, namesAt, type Outcome } from './frame.ts';
import type { Json, JsonObject } from './json.ts';
import type { MapState, Retrier, Task } from './schema.ts';

/**
 * Does the work of a state that may fail, as its Retry and Catch say. Waits between attempts are told, not waited for.
 * An expression that fails in Arguments, Assign or Output fails the attempt.
 */
export async function withRetries(
  state: Task | MapState,
  { name, input }: { name: string; input: Json },
  frame: Frame,
  work: (entered: Entered) => Promise<Json>,
): Promise<Outcome> {
  const attempts = new Map<Retrier, number>();
  const enteredTime = new Date().toISOString();
  for (let retryCount = 0; ; retryCount++) {
    const entered = { name, input, enteredTime, retryCount };
    try {
      const result = await work(entered);
      return await leave(state, result, namesAt(frame, entered, { result }), state.Next ?? null);
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const retrier = state.Retry.find(({ ErrorEquals }) => matchesError(ErrorEquals, error.error));
      const attempt = retrier ? (attempts.get(retrier) ?? 0) + 1 : 0;
      if (!retrier || attempt > retrier.MaxAttempts) return caught(state, error, entered, frame);
      attempts.set(retrier, attempt);
      const delaySeconds = delay(retrier, attempt);
      frame.run.events.push({ kind: 'retried', state: name, error: error.error, attempt, delaySeconds });
      frame.signal.throwIfAborted();
    }
  }
}

/** The longest wait before this attempt, counted from 1; with jitter it may be any shorter. */
function delay({ IntervalSeconds, BackoffRate, MaxDelaySeconds = Number.POSITIVE_INFINITY }: Retrier, attempt: number) {
  return Math.min(IntervalSeconds * BackoffRate ** (attempt - 1), MaxDelaySeconds);
}

async function caught(state: Task | MapState, error: StateError, entered: Entered, frame: Frame) {
  const index = state.Catch.findIndex(({ ErrorEquals }) => matchesError(ErrorEquals, error.error));
  const catcher = state.Catch[index];
  if (!catcher) throw error;
  const errorOutput: JsonObject = { Error: error.error, Cause: error.reason };
  const { name } = entered;
  frame.run.events.push({ kind: 'caught', state: name, error: error.error, cause: error.reason, next: catcher.Next });
  return leave(catcher, errorOutput, namesAt(frame, entered, { errorOutput }), catcher.Next, `Catch[${index}]/`);
}
