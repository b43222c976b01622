/** The finding of one check and its remedy. `warning`: it works now, but may not for everyone or much longer. */
export type CheckOutcome = {
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  found: string;
  /** One sentence or command a line. */
  advice: string | null;
};

/** Nothing to do. */
export const okay = (found: string): CheckOutcome => ({ state: 'ok', found, advice: null });

/** It works, but needs attention. */
export const warning = (found: string, advice: string): CheckOutcome => ({ state: 'warning', found, advice });

/** It does not work. */
export const failed = (found: string, advice: string): CheckOutcome => ({ state: 'failed', found, advice });

/** It was not checked. */
export const skipped = (found: string, advice: string | null = null): CheckOutcome => {
  return { state: 'skipped', found, advice };
};
