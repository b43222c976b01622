import { StoreUnavailable } from '../domain/ports.ts';
import { Refusal, type RefusalReason } from '../domain/refusal.ts';
import type { Middleware } from './event.ts';
import { problemAnswer } from './problem.ts';

/** The store's throttles and outages are short: a second is the least that `Retry-After` can say. */
const unavailable: RefusalReason = { code: 'temporarily-unavailable', retryAfterSeconds: 1 };

/** Turns whatever was thrown into problem details; what nobody expected becomes a 500 that tells nothing of the inside. */
export function renderProblems(): Middleware {
  return {
    onError: (request) => {
      request.response = problemAnswer(reasonOf(request.error), request.event.requestContext.requestId);
    },
  };
}

export function reasonOf(error: unknown): RefusalReason | { code: 'internal-error' } {
  if (error instanceof Refusal) return error.reason;
  return error instanceof StoreUnavailable ? unavailable : { code: 'internal-error' };
}
