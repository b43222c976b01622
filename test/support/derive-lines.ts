import type { Problem } from '../../loader/bag/problem-report.ts';
import { type DerivedBy, deriveRows } from '../../loader/dataset/derive-rows.ts';
import { RowJoiner } from '../../loader/dataset/join-rows.ts';
import { bytesOf, linesOf } from '../../loader/dataset/stored-form.ts';

/** The lines of a snapshot that follow from sorted object lines of one part, and what else does. */
export function deriveLines(objects: readonly string[], by: DerivedBy, onProblem: (problem: Problem) => void) {
  const text = bytesOf(objects);
  const joiner = new RowJoiner(text);
  const { next, count } = deriveRows(text, by, joiner, onProblem);
  return { lines: linesOf(joiner.end()), addresses: joiner.rows, counts: joiner.counts, next, count };
}
