import { Duration } from 'aws-cdk-lib';
import { JitterType, type RetryProps } from 'aws-cdk-lib/aws-stepfunctions';
import { loaderErrors } from '../../loader/names.ts';
import { settlingTime } from './lock-times.ts';

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
