import { Refusal } from '../../core/accounts/account.ts';
import { closestToExhaustion, currentQuota, type QuotaState, reportWindows } from '../../core/accounts/quota.ts';
import type { Clock, WindowName } from '../../core/calendar.ts';
import type { Middleware, MiddlewareRequest } from './middleware.ts';

/**
 * Adds the quota to each response of a known caller and to each 429 (IETF draft "RateLimit header fields for HTTP"). An
 * account without a finite window gets neither header: a structured-field list can't be empty. A 429 reports a window
 * that has too little left.
 */
export function rateLimitHeaders(clock: Clock): Middleware {
  function addHeaders(request: MiddlewareRequest, quota: QuotaState, violated?: readonly WindowName[]): void {
    const now = clock();
    const windows = reportWindows(currentQuota(quota, now), now);
    const closest = closestToExhaustion(windows.filter(({ name }) => violated?.includes(name) ?? true));
    if (!closest) return;
    Object.assign(request.response?.headers ?? {}, {
      'ratelimit-policy': windows.map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`).join(', '),
      ratelimit: `"${closest.name}";r=${closest.remaining};t=${closest.reset}`,
    });
  }
  return {
    after: (request) => {
      if (request.event.caller) addHeaders(request, request.event.caller.access.quota);
    },
    onError: (request) => {
      const { error } = request;
      if (!(error instanceof Refusal) || error.reason.code !== 'quota-exceeded') return;
      addHeaders(request, error.reason.quota, error.reason.violated);
    },
  };
}
