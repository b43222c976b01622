import { isProblem, type Problem } from './problem-report.ts';
import type { NotCurrentReason } from './validity.ts';

/** What reading a file came to: `voorkomens` is `current`, the sum of `notCurrent` and the number of `problems`. */
export type ReadCounts = {
  /** Every `sl:stand` in the file. */
  voorkomens: number;
  current: number;
  notCurrent: Record<NotCurrentReason, number>;
  /** Those that count, but hold a value that the register's own rules forbid. */
  problems: Problem[];
};

/** Counts of nothing. */
export function emptyCounts(): ReadCounts {
  return {
    voorkomens: 0,
    current: 0,
    notCurrent: { withdrawn: 0, future: 0, ended: 0, inactive: 0, not_bag: 0 },
    problems: [],
  };
}

/** Visits what was read of a current occurrence, or counts its problem. */
export function keep<T extends object>(read: T | Problem, counts: ReadCounts, visit: (kept: T) => void): void {
  if (isProblem(read)) {
    counts.problems.push(read);
  } else {
    counts.current++;
    visit(read);
  }
}
