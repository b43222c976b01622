import { Duration } from 'aws-cdk-lib';
import {
  Choice,
  Condition,
  type DistributedMap,
  Fail,
  type IChainable,
  JitterType,
  Pass,
  type RetryProps,
  Succeed,
  TaskInput,
  type TaskStateBase,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions';
import { EventBridgePutEvents, LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { eventSource, eventTypes, eventVersion } from '../../core/event-types.ts';
import { anyStage, failureStates, loaderErrors } from '../../loader/names.ts';
import { type StepName, stepOf } from '../../loader/steps/load-steps.ts';
import { deploymentName } from '../config/deployment.ts';
import type { LambdaFunction } from '../shared/lambda-function.ts';

/** The most that Lambda allows. No step takes longer. */
const longestStep = Duration.minutes(15);

/** The most that an execution may take. */
export const longestLoad = Duration.hours(5);

/**
 * How long a load holds the lock: longer than it may run, for when its execution can't be
 * described.
 */
export const lockTime = Duration.hours(6);

/**
 * How long after the end of an execution its Lambdas may still write: a running Lambda keeps
 * running, and a map may start more for up to five minutes (decision 0116).
 */
export const settlingTime = longestStep.plus(Duration.minutes(5));

/**
 * Retries after these errors: the first after some seconds, each later one after twice as long,
 * with jitter.
 */
export function retryOn(
  errors: string[],
  seconds: number,
  maxAttempts: number,
  more: RetryProps = {},
): RetryProps {
  const interval = Duration.seconds(seconds);
  return {
    errors,
    interval,
    maxAttempts,
    backoffRate: 2,
    jitterStrategy: JitterType.FULL,
    ...more,
  };
}

/** Faults of Lambda itself, not of the work: the same call may succeed a moment later. */
const lambdaFaults = retryOn(
  [
    'Lambda.ServiceException',
    'Lambda.AWSLambdaException',
    'Lambda.SdkClientException',
    'Lambda.ClientExecutionTimeoutException',
    'Lambda.TooManyRequestsException',
  ],
  2,
  8,
  { maxDelay: Duration.minutes(1) },
);

/** The server of the extract is unavailable: keep trying for about two hours. */
const sourceFaults = retryOn([loaderErrors.sourceUnavailable], 5 * 60, 6, {
  maxDelay: Duration.minutes(30),
});

/**
 * A slow source: each attempt continues with the members that the one before did not get in its 15
 * minutes.
 */
const sourceUnfinished = retryOn([loaderErrors.sourceUnfinished], 1, 14, { backoffRate: 1 });

/**
 * The load that held the lock was stopped, and its Lambdas may still write: try every minute until
 * they can't. No jitter, as nothing else competes.
 */
export const lockSettles: RetryProps = {
  errors: [loaderErrors.settling],
  interval: Duration.minutes(1),
  backoffRate: 1,
  maxAttempts: settlingTime.toMinutes() + 5,
};

/** A map could not read its items or write its results. An item that failed is not such a fault. */
export const mapFaults = retryOn(['States.ItemReaderFailed', 'States.ResultWriterFailed'], 10, 3);

/** EventBridge did not accept an event. */
const messageFaults = retryOn(['States.TaskFailed'], 5, 4);

/** A condition in JSONata. */
export function when(expression: string): Condition {
  return Condition.jsonata(`{% ${expression} %}`);
}

/** Variables with the values of the same members of a state's input. */
export function fromInput(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `{% $states.input.${name} %}`]));
}

/** The state, or the map, of a step. */
export function stateName(step: StepName): string {
  return `${step.charAt(0).toUpperCase()}${step.slice(1)}`;
}

type Functions = Readonly<Record<StepName, LambdaFunction>>;

/** A step that runs once. */
export function taskState(
  scope: Construct,
  name: StepName,
  steps: Functions,
  id = stateName(name),
): LambdaInvoke {
  const state = invocation(
    scope,
    id,
    steps[name],
    '$merge([$request, {"load": $load, "owner": $owner}])',
  );
  if (stepOf(name).readsSource) state.addRetry(sourceFaults).addRetry(sourceUnfinished);
  return state;
}

/** Runs a step with a payload, as JSONata. */
export function invocation(
  scope: Construct,
  id: string,
  step: LambdaFunction,
  payload: string,
): LambdaInvoke {
  const state = LambdaInvoke.jsonata(scope, id, {
    // A version, not the function: a running execution keeps its definition, so all of its steps
    // run the code that it began with.
    lambdaFunction: step.function.currentVersion,
    payload: TaskInput.fromText(`{% ${payload} %}`),
    outputs: '{% $states.result.Payload %}',
    // The Lambda ends first; this is for a response that never arrives.
    taskTimeout: Timeout.duration(step.timeout.plus(Duration.minutes(1))),
    retryOnServiceExceptions: false,
  });
  state.addRetry(lambdaFaults);
  return state;
}

/** The prefix of the results of the state machine's maps. */
export const MAP_RUNS = 'map-runs/';

/**
 * The states that notify, each with the state that follows if EventBridge took no event. An alarm
 * counts the entries to the second in the log of the executions.
 */
export const notifications = {
  published: { notify: 'NotifyPublished', unsent: 'NotifyPublishedUnsent' },
  refused: { notify: 'NotifyRefused', unsent: 'NotifyRefusedUnsent' },
  failed: { notify: failureStates.notify, unsent: failureStates.unsent },
} as const;

/**
 * Puts an event on EventBridge. `summary` and `more` are JSONata expressions. `next` follows in any
 * case: an event that can't be sent must not change how a load ends.
 */
function notification(
  scope: Construct,
  { notify: id, unsent }: { notify: string; unsent: string },
  {
    type,
    stage,
    summary,
    more,
    next,
  }: {
    type: string;
    stage: string;
    summary: string;
    more: Record<string, string>;
    next: IChainable;
  },
): EventBridgePutEvents {
  const detail = {
    version: eventVersion,
    deployment: deploymentName(stage),
    summary: `{% ${summary} %}`,
    ...Object.fromEntries(
      Object.entries(more).map(([name, expression]) => [name, `{% ${expression} %}`]),
    ),
  };
  const state = EventBridgePutEvents.jsonata(scope, id, {
    entries: [{ source: eventSource, detailType: type, detail: TaskInput.fromObject(detail) }],
    taskTimeout: Timeout.duration(Duration.minutes(1)),
    outputs: '{% $states.input %}',
  });
  state.addRetry(messageFaults);
  state.addCatch(Pass.jsonata(scope, unsent).next(next), { errors: ['States.ALL'] }).next(next);
  return state;
}

type LoadEndingsProps = { steps: Functions; stage: string };

/**
 * The ways a load can end. Each notifies the operator of anything worth knowing, and releases the
 * lock on the table. If a Lambda may still be writing, the next load takes the lock over once no
 * Lambda can write.
 */
export class LoadEndings {
  /**
   * Ends a load. The variable `outcome` selects the message (`published`, `refused`, otherwise
   * none); `report` is the output.
   */
  readonly release: TaskStateBase;
  /** Ends a load with the error in the variable `failure`. */
  readonly fail: TaskStateBase;
  /**
   * Like `fail`, but keeps the lock, because other Lambdas of a map that writes may still be
   * running.
   */
  readonly failLocked: EventBridgePutEvents;
  /** Ends a load with the variable `report` as its output. */
  readonly done: Succeed;

  constructor(scope: Construct, { steps, stage }: LoadEndingsProps) {
    this.fail = taskState(scope, 'release', steps, failureStates.release);
    this.failLocked = notification(scope, notifications.failed, {
      type: eventTypes.loadFailed,
      stage,
      summary: "'a load failed'",
      more: { failure: '$failure' },
      next: Fail.jsonata(scope, failureStates.failed, {
        error: '{% $failure.Error %}',
        cause: '{% $failure.Cause %}',
      }),
    });
    this.fail.addCatch(this.failLocked).next(this.failLocked);

    this.done = Succeed.jsonata(scope, 'Done', { outputs: '{% $report %}' });
    const notifyPublished = notification(scope, notifications.published, {
      type: eventTypes.loadPublished,
      stage,
      summary: "'the snapshot of ' & $report.peildatum & ' is live'",
      more: { report: '$report' },
      next: this.done,
    });

    const notifyRefused = notification(scope, notifications.refused, {
      type: eventTypes.loadRefused,
      stage,
      summary: `$replace($report.refusal, '${anyStage}', ' --stage ${stage}')`,
      more: { report: '$report' },
      next: Fail.jsonata(scope, 'Refused', {
        error: 'LoadRefused',
        cause: '{% $string($report.objections) %}',
      }),
    });

    this.release = this.guarded(taskState(scope, 'release', steps));
    this.release.next(
      Choice.jsonata(scope, 'ChooseNotification')
        .when(when("$outcome = 'published'"), notifyPublished)
        .when(when("$outcome = 'refused'"), notifyRefused)
        .otherwise(this.done),
    );
  }

  /** Adds a last catch to a state: any error that nothing else caught ends the load. */
  guarded<T extends TaskStateBase | DistributedMap>(state: T, end: IChainable = this.fail): T {
    state.addCatch(end, {
      errors: ['States.ALL'],
      assign: { failure: '{% $states.errorOutput %}' },
    });
    return state;
  }
}
