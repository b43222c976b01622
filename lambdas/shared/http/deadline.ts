import type { Middleware, MiddlewareRequest } from './event.ts';

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
