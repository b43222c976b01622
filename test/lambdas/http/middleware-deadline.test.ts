import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import middy from '@middy/core';
import { type Answer, deadline, type RequestEvent } from '../../../lambdas/http/middleware.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/**
 * A route with a handler that takes so long, and the signal that the handler got. The gateway
 * received the request so long ago.
 */
function slowRoute(milliseconds: number, waited = 0) {
  const seen: { signal?: AbortSignal } = {};
  const route = middy<RequestEvent, Answer>()
    .use(deadline())
    .handler(async ({ signal }) => {
      if (signal) seen.signal = signal;
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      return { statusCode: 200, headers: {}, body: '' };
    });
  return {
    answer: route(gatewayEvent('/v1/address', { waited }) as RequestEvent, lambdaContext),
    seen,
  };
}

describe('the deadline of a request', () => {
  it.each([
    ['aborts early enough to respond within the guaranteed 5 seconds', 0, 3_600],
    ['is shorter by what the request has waited', 2_500, 1_100],
    ['is a second at least', 3_900, 1_000],
    ['ignores a time of the gateway that is ahead', -60_000, 3_600],
    ['ignores a time of the gateway that no request can have waited', 3_600_000, 3_600],
  ])('%s', async (_, waited, expected) => {
    const { answer, seen } = slowRoute(10_000, waited);
    await jest.advanceTimersByTimeAsync(expected - 10);
    expect(seen.signal?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(20);
    expect(seen.signal?.aborted).toBe(true);
    await jest.advanceTimersByTimeAsync(10_000);
    await answer;
  });

  it.each([3_599, 0])(
    'does not abort after a response that took %i ms, and leaves no timer',
    async (milliseconds) => {
      const { answer, seen } = slowRoute(milliseconds);
      await jest.advanceTimersByTimeAsync(milliseconds);
      await answer;
      expect(jest.getTimerCount()).toBe(0);
      await jest.advanceTimersByTimeAsync(10_000);
      expect(seen.signal?.aborted).toBe(false);
    },
  );
});
