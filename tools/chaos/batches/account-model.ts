import { type WindowName, windowEnd, windowStart } from '../../../core/calendar.ts';

export type Limits = Partial<Record<WindowName, number | null>>;

/** How a batch of `units` ended. `unknown`: its instance was killed, or answered 503. */
export type Outcome = {
  units: number;
  ended: 'served' | 'refused' | 'invalid' | 'unknown';
  violated?: string[];
  retryAfter?: number;
};

type Used = Partial<Record<WindowName, { limit: number | null; used: number }>>;

/** What an account has used, from what its batches were answered. */
export class AccountModel {
  readonly #limits: Limits;
  readonly #starts = new Map<WindowName, number>();
  readonly #used = new Map<WindowName, number>();
  /** All units that were ever consumed. */
  total = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Whether a window has passed since the last batches, so that the next ones begin another. */
  hasPassed(seconds: number): boolean {
    return [...this.#starts].some(([name, start]) => start !== windowStart(name, seconds));
  }

  /**
   * What is wrong with batches that were sent at once, when the account then shows `shown`. Those that were served have
   * been counted, in every window; those of which nobody knows may have been, once and whole; no other has.
   */
  judge(outcomes: readonly Outcome[], shown: Used, seconds: number): string[] {
    const faults: string[] = [];
    const names = Object.keys(this.#limits) as WindowName[];
    const counted = new Set<number>();
    for (const name of names) {
      const start = windowStart(name, seconds);
      if (this.#starts.get(name) !== start) this.#used.set(name, 0);
      this.#starts.set(name, start);
      const { limit = null, used = 0 } = shown[name] ?? {};
      if (limit !== this.#limits[name]) faults.push(`the limit of the ${name} is ${limit}, not ${this.#limits[name]}`);
      if (limit !== null && used > limit) faults.push(`${used} of ${limit} are used in the ${name}`);
      counted.add(used - (this.#used.get(name) ?? 0));
      this.#used.set(name, used);
    }
    const [units = 0] = counted;
    if (counted.size !== 1) faults.push(`the windows counted ${[...counted].join(', ')} units`);
    const possible = possibleUnits(outcomes);
    if (!possible.has(units)) faults.push(`${units} units were counted, where ${[...possible].join(' or ')} were used`);
    this.total += units;
    return [
      ...faults,
      ...outcomes.flatMap((one) => (one.ended === 'refused' ? this.#refusalFaults(one, seconds) : [])),
    ];
  }

  /** What is used only grows, so a refused batch must not fit into what is left at the end. */
  #refusalFaults({ units, violated = [], retryAfter }: Outcome, seconds: number): string[] {
    const faults = violated.length > 0 ? [] : ['a refusal names no window'];
    let wait = 0;
    for (const name of violated as WindowName[]) {
      const left = Number(this.#limits[name] ?? Infinity) - (this.#used.get(name) ?? 0);
      if (left >= units) faults.push(`${units} units were refused for the ${name}, which has ${left} left`);
      wait = Math.max(wait, windowEnd(name, windowStart(name, seconds)) - seconds);
    }
    if (retryAfter !== wait) faults.push(`Retry-After is ${retryAfter}, where the window ends in ${wait} seconds`);
    return faults;
  }
}

/** Every sum that the served batches can have been counted as, with any of those whose outcome is not known. */
function possibleUnits(outcomes: readonly Outcome[]): Set<number> {
  let sums = new Set([0]);
  for (const { units, ended } of outcomes) {
    const grown = [...sums].map((sum) => sum + units);
    if (ended === 'served') sums = new Set(grown);
    else if (ended === 'unknown') sums = new Set([...sums, ...grown]);
  }
  return sums;
}
