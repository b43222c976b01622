import type { Middleware } from './event.ts';

/** Every request is answered within 5 seconds; the rest is for a cold start and the way there and back. */
const answerWithinMs = 4000;

/** Gives the request a signal that aborts when its time is over. */
export function deadline(ms = answerWithinMs): Middleware {
  return {
    before: ({ event }) => {
      event.signal = AbortSignal.timeout(ms);
    },
  };
}
