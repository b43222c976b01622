/** The definition holds something that this interpreter does not know or that the service would refuse. */
export class NotInterpretedError extends Error {
  override readonly name = 'NotInterpretedError';

  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(`The state machine can't be interpreted:\n${issues.map((issue) => `- ${issue}`).join('\n')}`);
    this.issues = issues;
  }
}

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

/** Thrown by a call, it ends the execution as StopExecution does: no state can retry or catch it. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** The error names that the service itself gives. */
export const stateErrors = [
  'States.ALL',
  'States.BranchFailed',
  'States.DataLimitExceeded',
  'States.ExceedToleratedFailureThreshold',
  'States.ItemReaderFailed',
  'States.Permissions',
  'States.QueryEvaluationError',
  'States.ResultWriterFailed',
  'States.Runtime',
  'States.TaskFailed',
  'States.Timeout',
] as const;

/** The error names that the Lambda integration gives beside the functions' own. */
export const lambdaErrors = [
  'Lambda.AWSLambdaException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.SdkClientException',
  'Lambda.ServiceException',
  'Lambda.TooManyRequestsException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
] as const;

/** No `States.ALL` stands for these: the first only its own name, the second nothing at all. */
const terminal = ['States.DataLimitExceeded', 'States.Runtime'];

/** Whether a retrier or catcher with these names takes the error; wildcards as the service reads them. */
export function matchesError(errorEquals: readonly string[], error: string): boolean {
  if (error === 'States.Runtime') return false;
  return errorEquals.some(
    (name) =>
      name === error ||
      (name === 'States.ALL' && !terminal.includes(error)) ||
      (name === 'States.TaskFailed' && !terminal.includes(error) && error !== 'States.Timeout'),
  );
}
