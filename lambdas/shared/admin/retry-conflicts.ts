import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { AdminError } from './admin-error.ts';

const attempts = 30;
const longestPauseMilliseconds = 200;

/**
 * Runs `attempt` until its write meets no other change. Each attempt reads afresh and decides from what it read, so the
 * condition of its write only has to say "nothing changed in between". Gives up with `conflict`.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failed = 1; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (failed === attempts) {
        throw new AdminError('conflict', 'Others keep changing this at the same time; try again.', { cause: error });
      }
      await sleep(Math.random() * Math.min(longestPauseMilliseconds, 5 * 2 ** failed));
    }
  }
}

function isConflict(error: unknown): boolean {
  if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) return true;
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  return reasons.some(({ Code }) => Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict');
}
