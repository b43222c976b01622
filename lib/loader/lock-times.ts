import { Duration } from 'aws-cdk-lib';

/** The most that Lambda allows. No step takes longer. */
const longestStep = Duration.minutes(15);

/** The most that an execution may take. */
export const longestLoad = Duration.hours(5);

/** For how long a load takes the lock: over its own time, for where nobody can be asked how it is. */
export const lockTime = Duration.hours(6);

/**
 * For how long after the end of an execution something that it began may still write: a Lambda goes on without it, and
 * five minutes are for a map to stop beginning more (decision 0087).
 */
export const settlingTime = longestStep.plus(Duration.minutes(5));
