import type { MiddlewareObj, Request } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type Caller, Refusal } from '../../core/accounts/account.ts';
import { isApiKey, type KeyClaim, readApiKey } from '../../core/accounts/api-key.ts';
import type { ChecksumSecrets } from '../../core/accounts/checksum-secret.ts';
import { closestToExhaustion, type QuotaState, reportWindows } from '../../core/accounts/quota.ts';
import type { Clock, QuotaName } from '../../core/calendar.ts';
import type { AddressRequest } from '../../core/contract.ts';
import type { IncludeName } from '../../core/place-fields.ts';
import { HttpRefusal, type Method } from './http-refusal.ts';

/**
 * Valid lookups, one or many, or the refusal of invalid ones: only a caller whose key is valid
 * learns of it.
 */
export type LookupInput =
  | { requests: AddressRequest[]; include: IncludeName[] }
  | { requests: null; refusal: () => Error | Promise<Error> };

export type { Context } from 'aws-lambda';

/** The event of API Gateway, with what `observe` and the middlewares below add to it. */
export type RequestEvent = APIGatewayProxyEventV2 & {
  /** From `observe`, by the clock of `performance.now()`. */
  startedAt: number;
  /** From `deadline`: aborts when the time for a response is up. */
  signal: AbortSignal;
  deadline?: NodeJS.Timeout;
  input?: LookupInput;
  caller?: Caller;
  /**
   * From `authenticate`: the account of a key with a checksum of this deployment, even if the key
   * is refused.
   */
  account?: string;
  outcome?: string;
};

/** A response. */
export type Answer = Omit<APIGatewayProxyStructuredResultV2, 'headers'> & {
  headers: Record<string, string>;
};

export type Middleware = MiddlewareObj<RequestEvent, Answer>;
export type MiddlewareRequest = Request<RequestEvent, Answer>;

/** A JSON response with status 200. */
export function ok<Body>(body: Body): Answer {
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** The semantic version of the HTTP API, not of the software. */
export const apiVersion = '1.1.0';

/**
 * Adds the headers that every response has. No CORS headers: a key does not belong in a browser.
 */
export function commonHeaders(): Middleware {
  function complete(request: MiddlewareRequest): void {
    Object.assign(request.response?.headers ?? {}, {
      'api-version': apiVersion,
      'cache-control': 'no-store',
      'strict-transport-security': 'max-age=31536000',
      'x-content-type-options': 'nosniff',
      'x-request-id': request.event.requestContext.requestId,
    });
  }
  return { after: complete, onError: complete };
}

/** Every request is answered within 5 seconds; the rest is for a cold start and the network. */
const answerWithinMilliseconds = 3600;

/**
 * Gives the request a signal that aborts when the time for a response is up.
 * @param milliseconds for a request that did not wait
 */
export function deadline(milliseconds = answerWithinMilliseconds): Middleware {
  // Cleared with the response: thousands of pending timers cost an instance more than the lookups
  // do.
  function clear({ event }: MiddlewareRequest): void {
    clearTimeout(event.deadline);
  }
  return {
    before: ({ event }) => {
      const controller = new AbortController();
      event.deadline = setTimeout(
        () => controller.abort(),
        timeLeft(event.requestContext.timeEpoch, milliseconds),
      );
      event.signal = controller.signal;
    },
    after: clear,
    onError: clear,
  };
}

/**
 * The least time for a request, however long it waited: enough for a call of the store and its
 * repetition.
 */
const leastMilliseconds = 1000;
/** The gateway waits no longer for any function; more than that is a difference of clocks. */
const longestWaitMilliseconds = 29_000;

/**
 * A request may have waited for its function: for a cold start, or in the local run for its turn.
 */
function timeLeft(receivedAt: number, milliseconds: number): number {
  const waited = Date.now() - receivedAt;
  if (waited <= 0 || waited >= longestWaitMilliseconds) return milliseconds;
  return Math.max(leastMilliseconds, milliseconds - waited);
}

/** Refuses other paths, and other methods on this path. A trailing slash makes another path. */
export function acceptOnly(method: Method, path: string): Middleware {
  return {
    before: ({ event }) => {
      if (event.rawPath !== path) throw new HttpRefusal({ code: 'not-found' });
      if (event.requestContext.http.method === method) return;
      throw new HttpRefusal({ code: 'method-not-allowed', allow: method });
    },
  };
}

export type AuthenticateOptions = {
  checksumSecrets: ChecksumSecrets;
  /**
   * Admits the holder of an active key of an active account on an active plan. @throws Refusal,
   * StoreUnavailable
   */
  admit: (claim: KeyClaim, event: RequestEvent) => Promise<Caller>;
};

/**
 * Finds whose key a request carries and notes it on the event. A key that was never issued here
 * reaches no account.
 */
export function authenticate({ checksumSecrets, admit }: AuthenticateOptions): Middleware {
  return {
    before: async ({ event }) => {
      const { 'x-api-key': key = '' } = event.headers;
      let claim = readApiKey(key, checksumSecrets.known);
      if (!claim && isApiKey(key)) {
        claim = readApiKey(key, await checksumSecrets.reread(event.signal));
      }
      if (!claim) throw new Refusal({ code: 'unauthorized' });
      // Before it is admitted, so that the line of a refusal names it too.
      event.account = claim.account;
      event.caller = await admit(claim, event);
    },
  };
}

/**
 * The quota in responses to known callers and in a 429, which reports a window that has too little
 * left.
 */
export function rateLimitHeaders(clock: Clock): Middleware {
  function addHeaders(
    request: MiddlewareRequest,
    quota: QuotaState,
    violated?: readonly QuotaName[],
  ): void {
    const now = clock();
    const windows = reportWindows(quota, now);
    const closest = closestToExhaustion(
      violated ? windows.filter(({ name }) => violated.includes(name)) : windows,
    );
    if (!closest) return;
    Object.assign(request.response?.headers ?? {}, {
      'ratelimit-policy': windows
        .map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`)
        .join(', '),
      ratelimit: `"${closest.name}";r=${closest.remaining};t=${closest.reset}`,
    });
  }
  return {
    after: (request) => {
      if (request.event.caller) addHeaders(request, request.event.caller.quota);
    },
    onError: (request) => {
      const { error } = request;
      if (!(error instanceof Refusal) || error.reason.code !== 'quota-exceeded') return;
      addHeaders(request, error.reason.quota, error.reason.violated);
    },
  };
}
