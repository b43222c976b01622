import { type LoadCounts, problemCount } from './load.ts';

/** What a load may change before an operator has to approve it. Shares are of 1: 0.02 is 2 %. */
export type Thresholds = {
  /** The fewest addresses that an extract may have. */
  minimumAddresses: number;
  /** Of the live addresses. */
  maximumRemovedShare: number;
  /** Of the live addresses. */
  maximumChangedShare: number;
  /** Of the live addresses. */
  maximumAddedShare: number;
  /** Of the addresses and problems together. */
  maximumProblemShare: number;
  /** A share is ignored where it is of this many addresses or fewer: in a hamlet one new street is a large share. */
  alwaysAllowed: number;
};

/** Objections to the size of a difference, which is expected where one extract replaces another of another area. */
const sizeCodes = ['too_many_removed', 'too_many_changed', 'too_many_added'] as const;

/**
 * The limits of a load of mutations. A day changes a fiftieth of what a month does, but on some days a municipality
 * renames its streets. So one day may change a fifth of what a load may, and several days at most as much as a load.
 */
export function thresholdsOfDays(thresholds: Thresholds, days: number): Thresholds {
  const share = Math.min(1, days / 5);
  return {
    ...thresholds,
    maximumRemovedShare: thresholds.maximumRemovedShare * share,
    maximumChangedShare: thresholds.maximumChangedShare * share,
    maximumAddedShare: thresholds.maximumAddedShare * share,
  };
}

type ObjectionCode = (typeof sizeCodes)[number] | 'too_few_addresses' | 'too_many_problems' | 'older_peildatum';

/** Why a load stops before its first write; the message says by how much. */
export type Objection = { code: ObjectionCode; message: string };

/** Whether an objection is only to the amount of change, not to the contents or the date of the extract. */
export function isAboutSize({ code }: Objection): boolean {
  return (sizeCodes as readonly string[]).includes(code);
}

/** What a load is compared with: the live dataset. */
export type Live = { peildatum: string; keys: number };

/**
 * Every objection to a load, compared with the live dataset; without a live dataset the shares don't apply. An older
 * date is an objection unless `allowOlder`.
 */
export function objections(
  counts: LoadCounts,
  load: { peildatum: string; allowOlder: boolean; wasJudged?: boolean },
  live: Live | null,
  thresholds: Thresholds,
): Objection[] {
  const found: Objection[] = [];
  const { addresses, changes } = counts;
  if (addresses < thresholds.minimumAddresses) {
    const message = `the extract has ${grouped(addresses)} addresses, fewer than the ${grouped(thresholds.minimumAddresses)} required`;
    found.push({ code: 'too_few_addresses', message });
  }
  const check = (code: ObjectionCode, what: string, count: number, of: number, limit: number) => {
    if (count <= Math.max(of * limit, thresholds.alwaysAllowed)) return;
    found.push({ code, message: `${what}: ${percent(count / of)}, over the limit of ${percent(limit)}` });
  };
  if (live && live.keys > 0) {
    const of = live.keys;
    const change = (code: ObjectionCode, verb: string, count: number, limit: number) =>
      check(code, `it would ${verb} ${grouped(count)} addresses where ${grouped(of)} are live`, count, of, limit);
    change('too_many_removed', 'remove', changes.removed, thresholds.maximumRemovedShare);
    change('too_many_changed', 'change', changes.changed, thresholds.maximumChangedShare);
    change('too_many_added', 'add', changes.added, thresholds.maximumAddedShare);
  }
  if (counts.problems && !load.wasJudged) {
    const problems = problemCount(counts.problems);
    const of = addresses + problems;
    const what = `${grouped(problems)} of ${grouped(of)} addresses have a problem`;
    check('too_many_problems', what, problems, of, thresholds.maximumProblemShare);
  }
  if (live && load.peildatum < live.peildatum && !load.allowOlder) {
    const message = `the extract of ${load.peildatum} is older than the live dataset of ${live.peildatum}`;
    found.push({ code: 'older_peildatum', message });
  }
  return found;
}

function grouped(count: number): string {
  return count.toLocaleString('en');
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(share < 0.01 ? 3 : 1))} %`;
}
