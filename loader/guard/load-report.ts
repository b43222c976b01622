import type { ChangeCounts } from '../addresses/lines.ts';
import { type ProblemReport, reportOfCounts } from '../bag/problem-report.ts';
import { digestOf, type ManifestEntry } from '../dataset/load.ts';
import {
  type ChangesCsv,
  type LoadCounts,
  noChanges,
  problemCount,
  type SetAside,
  setAsideOf,
} from './load-counts.ts';
import { isFinal, type Objection } from './objections.ts';

/** The common part of a load's proposal and report. Plain JSON. */
type LoadOutline = {
  /** The peildatum of the dataset that is live before it. */
  livePeildatum: string | null;
  /** The names of the mutation deliveries that it applies. */
  days: string[];
  stopped: string | null;
  /** The date of the last full extract behind it. */
  extractPeildatum: string | null;
  /**
   * How much the result of the mutations differs from the extract; `null` if they were not
   * compared.
   */
  audit: ChangeCounts | null;
  /**
   * All objects that mutations did not match: they stay as they were until a later day or an
   * extract settles them.
   */
  setAside: SetAside;
  notes: string[];
  /** Why the load stops unless it is approved. */
  objections: Objection[];
  /** Objections that don't stop this load: to the amount of change, or to a rollback. */
  overruled: Objection[];
  /** Whether an operator has approved this load despite its objections. */
  approved: boolean;
  /** For a refused load: the text for people. */
  refusal?: string;
  /**
   * The load that began to write and has not finished: a plan takes it as finished, and the next
   * load finishes it.
   */
  interrupted?: InterruptedLoad;
};

/** A load that began to write `at` an instant (ISO 8601) and has not finished. */
export type InterruptedLoad = Pick<ManifestEntry, 'load' | 'peildatum' | 'at' | 'undoes'>;

export const interruptedLoad = ({
  load,
  peildatum,
  at,
  undoes,
}: ManifestEntry): InterruptedLoad => ({
  load,
  peildatum,
  at,
  ...(undoes !== undefined && { undoes }),
});

/**
 * The proposed changes of a load, and whether it may apply them. Plain JSON, small for any size of
 * load.
 */
export type LoadProposal = LoadOutline & {
  load: string;
  kind: ManifestEntry['kind'];
  peildatum: string;
  counts: LoadCounts;
  /** The ten streets and places with the most changes; none of a first load. */
  byPlace: Record<'streets' | 'woonplaatsen', Record<string, number>>;
  /** The files of all changes as CSV, by name; none of a first load. */
  csv: ChangesCsv[];
  go: boolean;
  more?: true;
  /** It changes too much for one of its days, so fewer days are tried: nothing to approve. */
  divided?: true;
};

/** The numbers of a load that its report has by themselves. */
type ReportedCounts = ChangeCounts & Omit<LoadCounts, 'problems' | 'changes' | 'lists'>;

/** The actual or expected outcome of a load. Plain JSON. */
export type LoadReport = LoadOutline &
  ReportedCounts & {
    /**
     * `unchanged`: nothing to do, for the given `reason`. `rejected`: a refused load that an
     * operator rejected.
     */
    outcome: 'published' | 'planned' | 'refused' | 'rejected' | 'unchanged';
    /** The peildatum, `2021-10-15`; `null` when nothing is live and nothing was found. */
    peildatum: string | null;
    load: string | null;
    /** The kind of load; `null` if nothing was loaded. */
    kind: ManifestEntry['kind'] | null;
    reason: string | null;
    /**
     * Whether an extract was named that is not the live one, and was not loaded for the `reason`.
     */
    isSkipped: boolean;
    /** Whether deliveries that follow are at hand, which are judged by themselves. */
    more: boolean;
    /**
     * Addresses that could not be derived, not counting objects without a postcode. `null`: not
     * counted.
     */
    problems: number | null;
    withoutPostcode: number | null;
    /** Without examples where no extract was read. `null`: not counted. */
    problemReport: ProblemReport | null;
  };

/**
 * How many objects are not in the dataset and why, as text:
 * `107 without a postcode, 0 with a problem`.
 */
export function notServedText({ withoutPostcode, problems }: LoadReport): string {
  const count = (number: number | null) => number?.toLocaleString('en') ?? 'an uncounted number';
  return `${count(withoutPostcode)} without a postcode, ${count(problems)} with a problem`;
}

export function reportOf(proposal: LoadProposal, outcome: LoadReport['outcome']): LoadReport {
  const {
    counts,
    more = false,
    go: _go,
    divided: _divided,
    byPlace: _byPlace,
    csv: _csv,
    ...outline
  } = proposal;
  return { ...outline, ...reported(counts), outcome, reason: null, isSkipped: false, more };
}

function reported({ problems, changes, examples, lists: _, ...counts }: LoadCounts) {
  return {
    ...counts,
    ...changes,
    problems: problems && problemCount(problems),
    withoutPostcode: problems?.no_postcode.count ?? null,
    problemReport: problems,
    examples,
  };
}

/** The reason why there is nothing to load, and the live load. */
export type Unchanged = {
  action: 'none';
  reason: string;
  live: ManifestEntry | null;
  /** The named extract is not loaded for this reason. */
  isSkipped?: boolean;
  /** The load that an operator rejected. */
  rejected?: string;
  /** The reason holds once this load is finished. */
  interrupted?: InterruptedLoad;
};

/** The report of a load without changes: its counts describe the live dataset. */
export function unchangedReport({
  reason,
  live,
  isSkipped = false,
  rejected,
  interrupted,
}: Unchanged): LoadReport {
  const {
    voorkomens = 0,
    nummeraanduidingen = 0,
    addresses = 0,
    problemCounts,
    problems = null,
  } = live ?? {};
  const problemReport = problemCounts ? reportOfCounts(problemCounts) : null;
  return {
    ...reported({
      ...noChanges(),
      voorkomens,
      nummeraanduidingen,
      addresses,
      problems: problemReport,
    }),
    outcome: rejected === undefined ? 'unchanged' : 'rejected',
    peildatum: live?.peildatum ?? null,
    load: rejected ?? live?.load ?? null,
    kind: null,
    reason,
    isSkipped,
    livePeildatum: live?.peildatum ?? null,
    days: [],
    stopped: null,
    extractPeildatum: live?.extract?.peildatum ?? null,
    audit: null,
    setAside: setAsideOf(live?.setAside ?? []),
    notes: [],
    more: false,
    problems,
    objections: [],
    overruled: [],
    approved: false,
    ...(interrupted && { interrupted }),
  };
}

/**
 * The report of an interrupted load that was finished from its manifest entry; it has no examples.
 */
export function finishedReport(entry: ManifestEntry): LoadReport {
  const { kind, added, changed, removed, listsChanged, gemeenteChanged } = entry;
  const { audit = null, stopped = null, notes = [], more = false } = entry;
  const reason = 'finished a load that was interrupted while applying';
  return {
    ...unchangedReport({ action: 'none', reason, live: entry }),
    kind,
    added,
    changed,
    removed,
    listsChanged,
    gemeenteChanged,
    audit,
    stopped,
    notes,
    more,
    outcome: 'published',
    days: entry.days.map(({ name }) => name),
  };
}

/** A refused load, and the proposal that a decision names. */
type RefusedLoad = {
  load: string | null;
  peildatum: string | null;
  objections: readonly (Pick<Objection, 'message'> & { code: string })[];
  /** Stands for exactly the state of the load that was seen. */
  proposal?: string | undefined;
};

/**
 * The text for people about a refused load, everywhere: each reason on a line, the deciding reason
 * first, and both decisions. `where` ends the commands: ` --stage prod`.
 */
export function refusalText(
  { load, peildatum, objections, proposal }: RefusedLoad,
  where = '',
  what = `The load of ${peildatum} is refused; nothing was written`,
): string {
  const seen = proposal === undefined ? '' : ` --proposal ${proposal}`;
  const command = (decision: string) => `"npx bag-adres load ${decision} ${load}${seen}${where}"`;
  const reasons = objections.map(({ message }) => `  - ${message}`);
  return [
    `${what}:`,
    ...reasons,
    ...(objections.some(isFinal) ? [] : [`If this is right: ${command('approve')}`]),
    `If it is wrong:   ${command('reject')}`,
  ].join('\n');
}

/**
 * Names the proposal that an operator saw. The load's id only names the data to load and the live
 * data.
 */
export function proposalName({
  load,
  livePeildatum,
  counts,
  days,
  objections,
  overruled,
}: LoadProposal): string {
  return digestOf([load, livePeildatum, counts, days, objections, overruled]);
}

/** The guard refused the load before its first write. The live dataset is unchanged. */
export class RefusedLoadError extends Error {
  override readonly name = 'RefusedLoadError';
  readonly report: LoadReport;

  constructor(report: LoadReport) {
    super(refusalText(report));
    this.report = report;
  }
}
