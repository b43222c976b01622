import type { Clock } from '../domain/ports.ts';
import { closestToExhaustion, type QuotaState, reportWindows } from '../domain/quota.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Middleware, MiddlewareRequest } from './event.ts';

/**
 * Tells the caller its quota on each answer to a charged or exhausted lookup (IETF draft "RateLimit header fields for
 * HTTP"). An account without a finite window gets neither header: a structured-field list can't be empty.
 */
export function rateLimitHeaders(clock: Clock): Middleware {
  function tell(request: MiddlewareRequest, quota: QuotaState): void {
    const windows = reportWindows(quota, clock());
    const closest = closestToExhaustion(windows);
    if (!closest) return;
    Object.assign(request.response?.headers ?? {}, {
      'ratelimit-policy': windows.map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`).join(', '),
      ratelimit: `"${closest.name}";r=${closest.remaining};t=${closest.reset}`,
    });
  }
  return {
    after: (request) => {
      if (request.event.caller) tell(request, request.event.caller.access.quota);
    },
    onError: (request) => {
      const { error } = request;
      if (error instanceof Refusal && error.reason.code === 'quota-exceeded') tell(request, error.reason.quota);
    },
  };
}
