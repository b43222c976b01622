import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  DistributedMap,
  type IChainable,
  ItemBatcher,
  JitterType,
  ResultWriterV2,
  type RetryProps,
  S3JsonItemReader,
  StateMachineType,
  TaskInput,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService, LambdaInvoke, SnsPublish } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { loaderErrors } from '../../loader/names.ts';
import type { LambdaFunction } from '../shared/lambda-function.ts';
import { MAP_RUNS } from './snapshot-bucket.ts';

/** The most that Lambda allows. No step takes longer. */
const longestStep = Duration.minutes(15);

/** The most that an execution may take. */
export const longestLoad = Duration.hours(5);

/** How long a load holds the lock: longer than it may run, for when its execution can't be described. */
export const lockTime = Duration.hours(6);

/**
 * How long after the end of an execution its Lambdas may still write: one that runs keeps running, and a map may take up to
 * five minutes to stop starting more (decision 0116).
 */
export const settlingTime = longestStep.plus(Duration.minutes(5));

/** Faults of Lambda itself, not of the work: the same call may succeed a moment later. */
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

/** The server of the extract is unavailable: keep trying for about two hours. */
export const sourceFaults: RetryProps = {
  errors: [loaderErrors.sourceUnavailable],
  interval: Duration.minutes(5),
  backoffRate: 2,
  maxDelay: Duration.minutes(30),
  maxAttempts: 6,
  jitterStrategy: JitterType.FULL,
};

/** The extract comes slowly: each attempt continues where the one before ran out of its 15 minutes, for three and a half hours. */
export const sourceUnfinished: RetryProps = {
  errors: [loaderErrors.sourceUnfinished],
  interval: Duration.seconds(1),
  backoffRate: 1,
  maxAttempts: 14,
  jitterStrategy: JitterType.FULL,
};

/**
 * The load that held the lock was stopped, and its Lambdas may still write: try every minute until they can't. No jitter, as
 * nothing else competes.
 */
export const lockSettles: RetryProps = {
  errors: [loaderErrors.settling],
  interval: Duration.minutes(1),
  backoffRate: 1,
  maxAttempts: settlingTime.toMinutes() + 5,
};

/** A map could not read its items or write its results. An item that failed is not such a fault. */
export const mapFaults: RetryProps = {
  errors: ['States.ItemReaderFailed', 'States.ResultWriterFailed'],
  interval: Duration.seconds(10),
  backoffRate: 2,
  maxAttempts: 3,
  jitterStrategy: JitterType.FULL,
};

/** SNS did not accept a message. */
export const messageFaults: RetryProps = {
  errors: ['States.TaskFailed'],
  interval: Duration.seconds(5),
  backoffRate: 2,
  maxAttempts: 4,
  jitterStrategy: JitterType.FULL,
};

/** The quota of Lambda could not be read. */
const quotaFaults: RetryProps = {
  errors: ['States.TaskFailed'],
  interval: Duration.seconds(2),
  backoffRate: 2,
  maxAttempts: 2,
  jitterStrategy: JitterType.FULL,
};

/**
 * Lowers the variable `concurrency` to a quarter of the functions that the account can run beside its reserved ones, as a new
 * account runs ten in total and lookups need most of them. If that can't be read, the variable stays and `next` follows anyway.
 */
export function quotaState(scope: Construct, next: IChainable): CallAwsService {
  const state = CallAwsService.jsonata(scope, 'ReadQuota', {
    service: 'lambda',
    action: 'getAccountSettings',
    // `machineRole` grants it.
    iamResources: ['*'],
    taskTimeout: Timeout.duration(Duration.minutes(1)),
    assign: {
      concurrency:
        '{% $min([$concurrency, $max([1, $floor($states.result.AccountLimit.UnreservedConcurrentExecutions / 4)])]) %}',
    },
    outputs: '{% $states.input %}',
  });
  state.addRetry(quotaFaults);
  state.addCatch(next, { errors: ['States.ALL'], outputs: '{% $states.input %}' });
  state.next(next);
  return state;
}

/** A step of the load. @param payload a JSONata expression for the Lambda's input */
export function stepState(scope: Construct, id: string, step: LambdaFunction, payload: string): LambdaInvoke {
  const state = LambdaInvoke.jsonata(scope, id, {
    // A version, not the function: a running execution keeps its definition, so all of its steps run the code that it began with.
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

export type MapStateProps = {
  bucket: IBucket;
  /** Runs for each batch. */
  step: LambdaFunction;
  /** The same input for every batch, as JSONata. */
  batchInput: Record<string, string>;
  itemsPerBatch: number;
  /** Batches at once, at most, as JSONata. */
  concurrency: string;
};

/**
 * Runs a step over the items in the S3 object that the variable `items` names, several batches at a time. With no tolerated
 * failure threshold one failed item fails the map: a missing part would mean missing addresses. Results go to S3, for
 * investigation, so that no state's output grows with the number of addresses.
 */
export function mapState(scope: Construct, id: string, props: MapStateProps): DistributedMap {
  const { bucket, step, batchInput, itemsPerBatch, concurrency } = props;
  const state = DistributedMap.jsonata(scope, id, {
    label: id,
    mapExecutionType: StateMachineType.STANDARD,
    itemReader: new S3JsonItemReader({ bucket, key: '{% $items.key %}' }),
    itemBatcher: new ItemBatcher({ maxItemsPerBatch: itemsPerBatch, batchInput }),
    resultWriterV2: new ResultWriterV2({ bucket, prefix: `${MAP_RUNS}${id.toLowerCase()}` }),
    jsonataMaxConcurrency: `{% ${concurrency} %}`,
  });
  state.itemProcessor(stepState(scope, `${id}Batch`, step, '$states.input'));
  state.addRetry(mapFaults);
  return state;
}

/** Notifies the operator; `subject` and `message` are JSONata expressions. The output is the input. */
export function notifyState(
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
