import { Refusal } from '../domain/refusal.ts';
import type { Middleware } from './event.ts';

/** Refuses every other path, and every other method on this one. A trailing slash is another path. */
export function acceptOnly(method: 'GET', path: string): Middleware {
  return {
    before: ({ event }) => {
      if (event.rawPath !== path) throw new Refusal({ code: 'not-found' });
      if (event.requestContext.http.method !== method) throw new Refusal({ code: 'method-not-allowed' });
    },
  };
}
