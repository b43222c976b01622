import { StoreUnavailable } from '../domain/ports.ts';

/** Errors that are ours: a command the store will never accept. They stay what they are and become a 500. */
const ourFaults = new Set(['ValidationException', 'SerializationException']);

/**
 * Waits for `work`, but never past `signal`: the SDK does not look at it while it sleeps between two tries. Whatever
 * keeps the store from answering becomes a `StoreUnavailable` with its cause; `expected` errors pass untouched.
 */
export async function orUnavailable<Output>(
  work: Promise<Output>,
  signal: AbortSignal,
  expected: (error: unknown) => boolean = () => false,
): Promise<Output> {
  try {
    return await Promise.race([work, aborted(signal)]);
  } catch (error) {
    if (expected(error) || (error instanceof Error && ourFaults.has(error.name))) throw error;
    throw new StoreUnavailable('the store did not answer', { cause: error });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new Error('the time for this request is over'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
