import { type LoadCounts, problemCount } from './load.ts';

/** What a load may do without anyone looking at it. Shares are of 1: 0.02 is 2 %. */
export type Thresholds = {
  /** The least addresses that a state may have. */
  minimumAddresses: number;
  /** Of the keys that are served. */
  maximumRemovedShare: number;
  /** Of the keys that are served. */
  maximumChangedShare: number;
  /** Of the keys that are served. */
  maximumAddedShare: number;
  /** Of the addresses and problems together. */
  maximumProblemShare: number;
  /** A share is not looked at where it is of this many or fewer: in a hamlet one new street is a large share. */
  alwaysAllowed: number;
};

type ObjectionCode =
  | 'too_few_addresses'
  | 'too_many_removed'
  | 'too_many_changed'
  | 'too_many_added'
  | 'too_many_problems'
  | 'older_peildatum';

/** Why a load stops before its first write; the message says by how much. */
export type Objection = { code: ObjectionCode; message: string };

/** What is served now: the date of its state and how many keys it has. */
export type Served = { peildatum: string; keys: number };

/**
 * Everything that speaks against a load, of `state`, onto what is served; shares count only where something is served.
 * Going back in time is an objection unless that is what was asked for (`mayGoBack`).
 */
export function objections(
  counts: LoadCounts,
  load: { peildatum: string; mayGoBack: boolean },
  served: Served | null,
  thresholds: Thresholds,
): Objection[] {
  const found: Objection[] = [];
  const { addresses, changes } = counts;
  if (addresses < thresholds.minimumAddresses) {
    const message = `${addresses} addresses are fewer than the ${thresholds.minimumAddresses} that a state must have`;
    found.push({ code: 'too_few_addresses', message });
  }
  const check = (code: ObjectionCode, what: string, count: number, of: number, limit: number) => {
    if (count <= Math.max(of * limit, thresholds.alwaysAllowed)) return;
    found.push({
      code,
      message: `${count} of ${of} ${what}, ${percent(count / of)}; at most ${percent(limit)} may be`,
    });
  };
  if (served && served.keys > 0) {
    check(
      'too_many_removed',
      'served keys would be removed',
      changes.removed,
      served.keys,
      thresholds.maximumRemovedShare,
    );
    check(
      'too_many_changed',
      'served keys would be changed',
      changes.changed,
      served.keys,
      thresholds.maximumChangedShare,
    );
    check(
      'too_many_added',
      'keys would be added to those served',
      changes.added,
      served.keys,
      thresholds.maximumAddedShare,
    );
  }
  // Those of a state to go back to were judged when it was loaded.
  if (counts.problems && !load.mayGoBack) {
    const problems = problemCount(counts.problems);
    const of = addresses + problems;
    check('too_many_problems', 'addresses are problems', problems, of, thresholds.maximumProblemShare);
  }
  if (served && load.peildatum < served.peildatum && !load.mayGoBack) {
    const message = `the state of ${load.peildatum} is older than that of ${served.peildatum}, which is served`;
    found.push({ code: 'older_peildatum', message });
  }
  return found;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(share < 0.01 ? 3 : 1))} %`;
}
