import { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod';

/**
 * A Lambda of the state machine: checks its input, does its work, and writes one line with both. An error is thrown as
 * it is: the state machine knows it by its name.
 */
export function lambdaStep<T, R>(
  name: string,
  input: z.ZodType<T>,
  work: (input: T) => Promise<R>,
): (event: unknown) => Promise<R> {
  const logger = new Logger({ serviceName: name });
  return async (event) => {
    const parsed = input.parse(event);
    const startedAt = performance.now();
    try {
      const result = await work(parsed);
      logger.info('done', { input: parsed, result, seconds: secondsSince(startedAt) });
      return result;
    } catch (error) {
      logger.error('failed', { input: parsed, error: error as Error, seconds: secondsSince(startedAt) });
      throw error;
    }
  };
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
