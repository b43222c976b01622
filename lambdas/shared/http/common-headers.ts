import type { Middleware, MiddlewareRequest } from './event.ts';

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
