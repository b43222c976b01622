import type { ProblemReport } from '../bag/problem-report.ts';
import { reportOfCounts } from '../bag/problem-report.ts';
import type { ChangeCounts, ChangeKind } from '../dataset/changes.ts';
import type { Objection } from '../dataset/guard.ts';
import { type ChangeExample, type LoadCounts, noChanges, problemCount } from '../dataset/load.ts';
import type { ManifestEntry } from '../dataset/manifest.ts';
import type { Found } from './manifest.ts';

/** What a load would do, and whether it may. Plain JSON; small, whatever the size of the load. */
export type Plan = {
  load: string;
  peildatum: string;
  /** The date of the live dataset. */
  livePeildatum: string | null;
  /** The names of the deliveries of mutations that it applies. */
  days: string[];
  /** The date of the last full extract behind it. */
  extractPeildatum: string | null;
  /** How far what the mutations had led to differs from the extract; `null` where that was not compared. */
  audit: ChangeCounts | null;
  counts: LoadCounts;
  /** What stops the load unless it is approved. */
  objections: Objection[];
  /** What would have stopped it, but for being told to ignore how much changes. */
  waived: Objection[];
  /** Whether an operator has approved this very load despite its objections. */
  approved: boolean;
  go: boolean;
};

/** What came of a load, or would come of it. Plain JSON. */
export type LoadReport = {
  /** `unchanged`: there was nothing to do; `reason` says why. */
  outcome: 'published' | 'planned' | 'refused' | 'unchanged';
  /** The date of the state, `2021-10-15`; `null` when nothing is served and nothing was found. */
  peildatum: string | null;
  load: string | null;
  reason: string | null;
  /** The date of the state that was served before. */
  livePeildatum: string | null;
  /** The names of the deliveries of mutations that were applied. */
  days: string[];
  /** The date of the last full extract behind the dataset. */
  extractPeildatum: string | null;
  /** How far what the mutations had led to differed from the extract, which is right now; `null` where that was not compared. */
  audit: ChangeCounts | null;
  /** Occurrences (`sl:stand`) of nummeraanduidingen read; of mutations, occurrences changed or added. */
  voorkomens: number;
  addresses: number;
  /** Distinct keys: equal addresses share one. */
  keys: number;
  added: number;
  changed: number;
  removed: number;
  /** Lists of toevoegingen that changed where the address did not. */
  listsChanged: number;
  /** Addresses that could not be made; an object without postcode is not one of them. `null`: not counted. */
  problems: number | null;
  withoutPostcode: number | null;
  /** Without examples where nothing was read: they are of the load that made the snapshot. `null`: not counted. */
  problemReport: ProblemReport | null;
  examples: Record<ChangeKind, ChangeExample[]>;
  objections: Objection[];
  /** Objections to how much changes that this load was told to ignore. */
  waived: Objection[];
  approved: boolean;
};

/** How much could not be served and why, for people: `107 without a postcode, 0 with a problem`. */
export function notServedText({ withoutPostcode, problems }: LoadReport): string {
  const count = (number: number | null) => number?.toLocaleString('en') ?? 'an uncounted number';
  return `${count(withoutPostcode)} without a postcode, ${count(problems)} with a problem`;
}

/** The report of a load that got as far as its plan. */
export function reportOf(plan: Plan, outcome: LoadReport['outcome']): LoadReport {
  const { load, peildatum, livePeildatum, days, extractPeildatum, audit, counts, objections, waived, approved } = plan;
  const { voorkomens, addresses, keys, changes, listsChanged, problems, examples } = counts;
  return {
    outcome,
    peildatum,
    load,
    reason: null,
    livePeildatum,
    days,
    extractPeildatum,
    audit,
    voorkomens,
    addresses,
    keys,
    ...changes,
    listsChanged,
    problems: problems && problemCount(problems),
    withoutPostcode: problems?.no_postcode.count ?? null,
    problemReport: problems,
    examples,
    objections,
    waived,
    approved,
  };
}

/** The report of a load for which there was nothing to do: the counts are of what is served. */
export function unchangedReport({ reason, live }: Extract<Found, { action: 'none' }>): LoadReport {
  const { voorkomens = 0, addresses = 0, keys = 0, peildatum = null, load = null, problemCounts } = live ?? {};
  const problems = problemCounts ? reportOfCounts(problemCounts) : null;
  const counts = { voorkomens, addresses, problems, ...noChanges(), keys };
  const plan = {
    load: '',
    peildatum: '',
    livePeildatum: peildatum,
    days: [],
    extractPeildatum: live?.extract?.peildatum ?? null,
    audit: null,
    counts,
    objections: [],
    waived: [],
    approved: false,
    go: false,
  };
  return { ...reportOf(plan, 'unchanged'), load, peildatum, reason, problems: live?.problems ?? null };
}

/** The report of a load that was finished when nothing but its entry was left; it has no examples. */
export function finishedReport(entry: ManifestEntry): LoadReport {
  const { added, changed, removed, listsChanged } = entry;
  const reason = 'a load that had stopped while it was written was finished';
  const report = unchangedReport({ action: 'none', reason, live: entry });
  const days = entry.days.map(({ name }) => name);
  return { ...report, outcome: 'published', days, audit: entry.audit ?? null, added, changed, removed, listsChanged };
}

/** The guard refused the load before its first write. The live dataset is unchanged. */
export class RefusedLoadError extends Error {
  override readonly name = 'RefusedLoadError';
  readonly report: LoadReport;

  constructor(report: LoadReport) {
    const why = report.objections.map(({ message }) => message).join('; ');
    super(
      `The load of ${report.peildatum} was refused before its first write: ${why}. If that is right, approve ${report.load}.`,
    );
    this.report = report;
  }
}
