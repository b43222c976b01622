import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  DistributedMap,
  ItemBatcher,
  ResultWriterV2,
  S3JsonItemReader,
  StateMachineType,
  TaskInput,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke, SnsPublish } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { lambdaFaults, mapFaults, messageFaults } from './load-retries.ts';
import type { LoaderStep } from './loader-step.ts';
import { MAP_RUNS } from './snapshot-bucket.ts';

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
