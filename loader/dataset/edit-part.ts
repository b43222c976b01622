import { bareKey } from '../../core/addresses/address-key.ts';
import {
  addProblem,
  emptyReport,
  type ProblemCounts,
  type ProblemReport,
  problemCounts,
  problemKinds,
  reportOfCounts,
} from '../bag/problem-report.ts';
import type { BlockedLines } from './block-file.ts';
import { type DerivedBy, deriveRows } from './derive-rows.ts';
import { joinTexts, textOf } from './join-rows.ts';
import { type Line, type RowTexts, rowsIn } from './lines.ts';
import type { PartEdits, PartResult } from './object-segment.ts';
import { fieldsAt, identificatieOf, longestSingleLine, type ObjectLine } from './objects.ts';
import { bytesOf } from './stored-form.ts';

/** A part of a snapshot: its object lines and its address lines, and what was derived. */
export type HeldPart = { objects: BlockedLines; lines: BlockedLines; result: PartResult };

/** What became of a part, and the lines of each postcode and huisnummer that was edited, before and after. */
export type EditedPart = HeldPart & { problems: ProblemReport; groups: { before: Line[]; after: Line[] }[] };

/**
 * A part after an edit, of which only the edited objects are derived (decision 0145): as they were `then`, and as they
 * are `now`. `add` and `remove` have all lines of each of them in this part. Dates, streets and places must give every
 * other object what they gave before.
 */
export function editPart(
  { objects, lines, result }: HeldPart,
  { remove, add, next = result.next }: PartEdits,
  then: DerivedBy,
  now: DerivedBy,
): EditedPart {
  const [old, made] = [derived(remove, then), derived(add, now)];
  const problems = changedProblems(result.problems, old.problems, made.problems);
  const ids = new Set([...remove, ...add].map(identificatieOf));
  const madeBy = Map.groupBy(made.rows, ([key]) => bareKey(key));
  const groups = [...new Set([...old.rows.map(([key]) => bareKey(key)), ...madeBy.keys()])].sort().map((group) => {
    const before = lines.linesOf(group);
    const others = rowsIn(before).filter(([, , id]) => !ids.has(id));
    return { before, after: joinTexts([...others, ...(madeBy.get(group) ?? [])]) };
  });
  return {
    problems,
    groups,
    objects: objects.edited({ remove: without(remove, add), add: without(add, remove) }),
    lines: lines.edited({
      remove: groups.flatMap(({ before, after }) => without(before, after)),
      add: groups.flatMap(({ before, after }) => without(after, before)),
    }),
    result: {
      nummeraanduidingen: result.nummeraanduidingen - old.rows.length + made.rows.length,
      problems: problemCounts(problems),
      next: [next, made.next].filter((date) => date !== null).sort()[0] ?? null,
    },
  };
}

function without(lines: readonly Line[], others: readonly Line[]): Line[] {
  const excluded = new Set(others);
  return lines.filter((line) => !excluded.has(line));
}

function derived(lines: readonly ObjectLine[], by: DerivedBy) {
  const [rows, problems, text] = [[] as RowTexts[], emptyReport(), bytesOf(lines.toSorted())];
  const add = (start: number, place: DataView) => {
    const [key = '', fields = ''] = text.toString('latin1', start, start + longestSingleLine).split('\t');
    rows.push([key, textOf(place), fields.slice(0, fieldsAt.begin - 1)]);
  };
  const { next } = deriveRows(text, by, { add }, (problem) => addProblem(problems, problem));
  return { rows, next, problems };
}

/** The problems of a part: their numbers, with the examples that are known. */
function changedProblems(counts: ProblemCounts, old: ProblemReport, now: ProblemReport): ProblemReport {
  const changed = reportOfCounts(counts);
  for (const kind of problemKinds) {
    changed[kind].count += now[kind].count - old[kind].count;
    changed[kind].examples = now[kind].examples;
  }
  return changed;
}
