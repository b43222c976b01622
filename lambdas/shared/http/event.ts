import type { MiddlewareObj, Request } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Caller } from '../domain/access.ts';
import type { AddressInput } from '../domain/address-input.ts';

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
