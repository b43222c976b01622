/** What a worker is asked. */
export interface Invocation {
  /** Tells its answer from others. */
  readonly number: number;
  readonly requestId: string;
  /** JSON text. */
  readonly event: string;
  /** Epoch milliseconds at which the function's time is over. */
  readonly deadline: number;
}

/** What it answers. */
export interface Answer {
  readonly number: number;
  readonly outcome: Outcome;
}

/** What the handler returned, as JSON text, or what it threw. */
export type Outcome = { readonly payload: string } | { readonly failure: string };
