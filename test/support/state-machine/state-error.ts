/** What a state fails with: the two texts that `Catch` sees as `$states.errorOutput`. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly error: string;
  readonly reason: string;

  constructor(error: string, reason: string) {
    super(`${error}: ${reason}`);
    this.error = error;
    this.reason = reason;
  }
}

/**
 * Thrown by a call, it ends the execution as StopExecution does: no state can retry or catch it.
 */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** `States.ALL` does not stand for these, and nothing retries or catches the second. */
const terminal = ['States.DataLimitExceeded', 'States.Runtime'];

/**
 * Whether a retrier or catcher with these names takes the error; wildcards as the service reads
 * them.
 */
export function matchesError(errorEquals: readonly string[], error: string): boolean {
  return errorEquals.some(
    (name) =>
      (name === error && error !== 'States.Runtime') ||
      (name === 'States.ALL' && !terminal.includes(error)) ||
      (name === 'States.TaskFailed' && !terminal.includes(error) && error !== 'States.Timeout'),
  );
}
