import type { Api } from './api.ts';

/** An address as a person writes it: `1381AA 9 a`. */
export type SmokeAddress = { postcode: string; huisnummer: number; toevoeging: string };

/** What a run is told. */
export type SmokeOptions = {
  key: string;
  /** One that is found. `isGuess`: nobody said so, it is in the register of the country. */
  address: SmokeAddress;
  isGuess: boolean;
  /** One with several places, and one with a letter; left out where nobody names one. */
  ambiguous?: SmokeAddress;
  lettered?: SmokeAddress;
};

/** The limits that the key was told, by window; `null` is unlimited. */
export type Limits = Record<string, number | null>;

/** What the checks of one run share. */
export type Visit = {
  api: Api;
  options: SmokeOptions;
  limits: Limits | null;
  /** Units that the account has left in its scarcest window, as the last lookup said. */
  left: number | null;
};

/** One guarantee of the interface, and how to see whether it is kept. */
export type Check = {
  section: string;
  title: string;
  /** @throws Disagreement, Skip */
  run(visit: Visit): Promise<void>;
};

/** How a check ended. */
export type CheckResult = {
  section: string;
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  reason: string | null;
};

/** The interface does not keep a guarantee; the message says what it did. */
export class Disagreement extends Error {
  override name = 'Disagreement';
}

/** A check can't be made here; the message says why. */
export class Skip extends Error {
  override name = 'Skip';
}

/** @throws Disagreement */
export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Disagreement(otherwise);
}
