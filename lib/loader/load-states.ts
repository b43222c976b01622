import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  DistributedMap,
  ItemBatcher,
  JitterType,
  ResultWriterV2,
  type RetryProps,
  S3JsonItemReader,
  StateMachineType,
  TaskInput,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke, SnsPublish } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { loaderErrors } from '../../loader/names.ts';
import type { LoaderStep } from './loader-step.ts';
import { MAP_RUNS } from './snapshot-bucket.ts';

/** The most that Lambda allows. No step takes longer. */
const longestStep = Duration.minutes(15);

/** The most that an execution may take. */
export const longestLoad = Duration.hours(5);

/** For how long a load takes the lock: over its own time, for where nobody can be asked how it is. */
export const lockTime = Duration.hours(6);

/**
 * For how long after the end of an execution something that it began may still write: a Lambda goes on without it, and
 * five minutes are for a map to stop beginning more (decision 0116).
 */
export const settlingTime = longestStep.plus(Duration.minutes(5));

/** Faults of Lambda itself, which say nothing about the work: the same call may well succeed in a moment. */
export const lambdaFaults: RetryProps = {
  errors: [
    'Lambda.ServiceException',
    'Lambda.AWSLambdaException',
    'Lambda.SdkClientException',
    'Lambda.ClientExecutionTimeoutException',
    'Lambda.TooManyRequestsException',
  ],
  interval: Duration.seconds(2),
  backoffRate: 2,
  maxDelay: Duration.minutes(1),
  maxAttempts: 8,
  jitterStrategy: JitterType.FULL,
};

/** The server of the extract is unwell: give it up to some two hours. */
export const sourceFaults: RetryProps = {
  errors: [loaderErrors.sourceUnavailable],
  interval: Duration.minutes(5),
  backoffRate: 2,
  maxDelay: Duration.minutes(30),
  maxAttempts: 6,
  jitterStrategy: JitterType.FULL,
};

/**
 * The load that had the lock was stopped, and what it began may still write: look again every minute until it can't. There
 * is nobody to take turns with, so there is no jitter.
 */
export const lockSettles: RetryProps = {
  errors: [loaderErrors.settling],
  interval: Duration.minutes(1),
  backoffRate: 1,
  maxAttempts: settlingTime.toMinutes() + 5,
};

/** A map that could not read its items or write down its results; an item that failed is no such fault. */
export const mapFaults: RetryProps = {
  errors: ['States.ItemReaderFailed', 'States.ResultWriterFailed'],
  interval: Duration.seconds(10),
  backoffRate: 2,
  maxAttempts: 3,
  jitterStrategy: JitterType.FULL,
};

/** SNS did not take a message. */
export const messageFaults: RetryProps = {
  errors: ['States.TaskFailed'],
  interval: Duration.seconds(5),
  backoffRate: 2,
  maxAttempts: 4,
  jitterStrategy: JitterType.FULL,
};

/** A step of the load. @param payload a JSONata expression of what the Lambda gets */
export function stepState(scope: Construct, id: string, step: LoaderStep, payload: string): LambdaInvoke {
  const state = LambdaInvoke.jsonata(scope, id, {
    lambdaFunction: step.function,
    payload: TaskInput.fromText(`{% ${payload} %}`),
    outputs: '{% $states.result.Payload %}',
    // Lambda ends first; this is for an answer that never comes.
    taskTimeout: Timeout.duration(step.timeout.plus(Duration.minutes(1))),
    retryOnServiceExceptions: false,
  });
  state.addRetry(lambdaFaults);
  return state;
}

export type MapStateProps = {
  bucket: IBucket;
  /** What each batch is handed to. */
  step: LoaderStep;
  /** What every batch is told, by JSONata. */
  batchInput: Record<string, string>;
  itemsPerBatch: number;
  concurrency: number;
};

/**
 * Runs a step over the items that the variable `items` points at in S3, many at a time. No failure is tolerated (which is
 * what no threshold means): a part that is missing would be addresses that are missing. What each gave is written to S3 for
 * whoever looks into a load, so that no output grows with the country.
 */
export function mapState(scope: Construct, id: string, props: MapStateProps): DistributedMap {
  const { bucket, step, batchInput, itemsPerBatch, concurrency } = props;
  const state = DistributedMap.jsonata(scope, id, {
    label: id,
    mapExecutionType: StateMachineType.STANDARD,
    itemReader: new S3JsonItemReader({ bucket, key: '{% $items.key %}' }),
    itemBatcher: new ItemBatcher({ maxItemsPerBatch: itemsPerBatch, batchInput }),
    resultWriterV2: new ResultWriterV2({ bucket, prefix: `${MAP_RUNS}${id.toLowerCase()}` }),
    maxConcurrency: concurrency,
  });
  state.itemProcessor(stepState(scope, `${id}Batch`, step, '$states.input'));
  state.addRetry(mapFaults);
  return state;
}

/** Tells the operator; `subject` and `message` are JSONata expressions. The output is the input. */
export function tellState(
  scope: Construct,
  id: string,
  topic: ITopic,
  { subject, message }: { subject: string; message: string },
): SnsPublish {
  const state = SnsPublish.jsonata(scope, id, {
    topic,
    subject: `{% ${subject} %}`,
    message: TaskInput.fromText(`{% ${message} %}`),
    taskTimeout: Timeout.duration(Duration.minutes(1)),
    outputs: '{% $states.input %}',
  });
  state.addRetry(messageFaults);
  return state;
}
