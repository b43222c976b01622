import type { MiddlewareObj, Request } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Caller } from '../accounts/account.ts';
import { Refusal } from '../accounts/refusal.ts';
import type { AddressInput } from '../addresses/address-input.ts';

/** The gateway's event, and what the middlewares before have found out about it. */
export type RequestEvent = APIGatewayProxyEventV2 & {
  /** Aborts when the time for an answer is over. */
  signal: AbortSignal;
  deadline?: NodeJS.Timeout;
  /** By the clock of `performance.now()`. */
  startedAt: number;
  input?: AddressInput;
  caller?: Caller;
  /** What came of an answered request, for its metrics. */
  outcome?: string;
};

export type Answer = Omit<APIGatewayProxyStructuredResultV2, 'headers'> & { headers: Record<string, string> };

export type Middleware = MiddlewareObj<RequestEvent, Answer>;
export type MiddlewareRequest = Request<RequestEvent, Answer>;

/** A JSON answer with status 200. */
export function ok<Body>(body: Body): Answer {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Refuses every other path, and every other method on this one. A trailing slash is another path. */
export function acceptOnly(method: 'GET', path: string): Middleware {
  return {
    before: ({ event }) => {
      if (event.rawPath !== path) throw new Refusal({ code: 'not-found' });
      if (event.requestContext.http.method !== method) throw new Refusal({ code: 'method-not-allowed' });
    },
  };
}

/** The semantic version of the HTTP contract, not of the software. */
export const apiVersion = '1.0.0';

/** Puts the headers on an answer that every one carries. No CORS headers: a browser is the wrong place for a key. */
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

/** Every request is answered within 5 seconds; the rest is for a cold start and the way there and back. */
const answerWithinMs = 4000;

/** Gives the request a signal that aborts when its time is over. */
export function deadline(ms = answerWithinMs): Middleware {
  // Cleared with the answer: thousands of timers that still run cost an instance more than the lookups do.
  function finish({ event }: MiddlewareRequest): void {
    clearTimeout(event.deadline);
  }
  return {
    before: ({ event }) => {
      const controller = new AbortController();
      event.deadline = setTimeout(() => controller.abort(), ms);
      event.signal = controller.signal;
    },
    after: finish,
    onError: finish,
  };
}
