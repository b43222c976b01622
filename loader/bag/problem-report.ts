import { compareTexts } from '../../core/place-fields.ts';
import type { NotCurrentReason } from './voorkomen.ts';

/**
 * Why an object that counts is not loaded; `several_current`: why an occurrence of a street, a
 * place or a relation is not; `gemeente_missing`, `gemeente_unknown`: why addresses have no
 * gemeente, or a gemeente without a name; `address_missing`: the nummeraanduiding that an
 * adresseerbaar object names is missing.
 */
export const problemKinds = [
  'no_postcode',
  'street_missing',
  'place_missing',
  'invalid_value',
  'location_unknown',
  'several_current',
  'gemeente_missing',
  'gemeente_unknown',
  'address_missing',
] as const;
export type ProblemKind = (typeof problemKinds)[number];

/** One object that counts but is not loaded; `detail` adds to its kind. */
export type Problem = { kind: ProblemKind; file: string; identificatie: string; detail?: string };

/** Whether reading an occurrence gave a problem instead of its values. */
export function isProblem(read: object): read is Problem {
  return 'file' in read;
}

/**
 * How many of each kind, and the first few of each by identificatie. Plain JSON, passed between
 * Lambdas.
 */
export type ProblemReport = Record<ProblemKind, { count: number; examples: Problem[] }>;

export type ProblemCounts = Record<ProblemKind, number>;

const examplesPerKind = 5;

export function emptyReport(): ProblemReport {
  return reportOfCounts({});
}

export function addProblem(report: ProblemReport, problem: Problem): void {
  const ofKind = report[problem.kind];
  ofKind.count++;
  const last = ofKind.examples[examplesPerKind - 1];
  if (!last || compare(problem, last) < 0) {
    ofKind.examples = firstExamples([...ofKind.examples, problem]);
  }
}

/** Merges the reports of workers, independent of their order. */
export function mergeReports(reports: Iterable<ProblemReport>): ProblemReport {
  const merged = emptyReport();
  for (const report of reports) {
    for (const kind of problemKinds) {
      merged[kind].count += report[kind].count;
      merged[kind].examples = firstExamples([...merged[kind].examples, ...report[kind].examples]);
    }
  }
  return merged;
}

/** Sorts by identificatie, so that the order of finished workers makes no difference. */
function firstExamples(examples: Problem[]): Problem[] {
  return examples.sort(compare).slice(0, examplesPerKind);
}

const compare = (a: Problem, b: Problem) => compareTexts(keyOf(a), keyOf(b));

function keyOf({ identificatie, file, detail = '' }: Problem): string {
  return `${identificatie} ${file} ${detail}`;
}

/**
 * The counts of one file: `voorkomens` = `current` + the sum of `notCurrent` + the number of
 * `problems`.
 */
export type ReadCounts = {
  /** Every `sl:stand` in the file. */
  voorkomens: number;
  current: number;
  notCurrent: Record<NotCurrentReason, number>;
  /** Occurrences that would count, but have a value that the register's rules forbid. */
  problems: Problem[];
};

export function emptyCounts(): ReadCounts {
  return {
    voorkomens: 0,
    current: 0,
    notCurrent: { withdrawn: 0, future: 0, ended: 0, inactive: 0, not_bag: 0 },
    problems: [],
  };
}

/** The counts of a report: the part of it that a manifest keeps. */
export function problemCounts(report: ProblemReport): ProblemCounts {
  return Object.fromEntries(
    problemKinds.map((kind) => [kind, report[kind].count]),
  ) as ProblemCounts;
}

/** A report with these counts, without examples. */
export function reportOfCounts(counts: Partial<ProblemCounts>): ProblemReport {
  return Object.fromEntries(
    problemKinds.map((kind) => [kind, { count: counts[kind] ?? 0, examples: [] }]),
  ) as unknown as ProblemReport;
}
