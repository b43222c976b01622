/** What a worker is asked: one event at a time, as Lambda does. */
export interface Invocation {
  readonly requestId: string;
  /** JSON text. */
  readonly event: string;
  /** Epoch milliseconds at which the function's time is over. */
  readonly deadline: number;
}

/** What it answers: what the handler returned, as JSON text, or what it threw. */
export type Outcome = { readonly payload: string } | { readonly failure: string };
