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
import { deriveRows, type Reference } from './derive-rows.ts';
import { joinRows, type Line, type Rows, rowsIn } from './lines.ts';
import type { PartEdits, PartResult } from './object-shard.ts';
import { identificatieOf, type ObjectLine } from './objects.ts';

/** A part of a snapshot: its object lines and its address lines, and what was derived. */
export type HeldPart = { objects: BlockedLines; lines: BlockedLines; result: PartResult };

/** What became of a part, and the lines of each postcode and huisnummer that was edited, before and after. */
export type EditedPart = HeldPart & { problems: ProblemReport; groups: { before: Line[]; after: Line[] }[] };

/** What the addresses of a part follow from, beside its objects; `file` is for problems. */
export type DerivedBy = { reference: Reference; peildatum: string; file: string };

/**
 * A part after an edit, of which only the edited objects are derived (decision 0177): as they were `then`, and as they
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
  const madeBy = Map.groupBy(made.keys.keys(), (at) => bareKey(made.keys[at] as string));
  const groups = [...new Set([...old.keys.map(bareKey), ...madeBy.keys()])].sort().map((group) => {
    const before = lines.linesOf(group);
    const held = rowsIn(before);
    const rows = [
      ...rowsAt(held, held.keys.keys()).filter(([, , id]) => !ids.has(id)),
      ...rowsAt(made, madeBy.get(group) ?? []),
    ].sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
    const column = (at: 0 | 1 | 2) => rows.map((row) => row[at]);
    return { before, after: joinRows({ keys: column(0), places: column(1), ids: column(2) }) };
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
      addresses: result.addresses - old.keys.length + made.keys.length,
      problems: problemCounts(problems),
      next: [next, made.next].filter((date) => date !== null).sort()[0] ?? null,
    },
  };
}

function rowsAt({ keys, places, ids }: Rows, at: Iterable<number>): [key: string, place: string, id: string][] {
  return Array.from(at, (i) => [keys[i] as string, places[i] as string, ids[i] as string]);
}

function without(lines: readonly Line[], others: readonly Line[]): Line[] {
  const excluded = new Set(others);
  return lines.filter((line) => !excluded.has(line));
}

function derived(lines: readonly ObjectLine[], { reference, peildatum, file }: DerivedBy) {
  const problems = emptyReport();
  const rows = deriveRows(lines.toSorted(), reference, peildatum, file, (problem) => addProblem(problems, problem));
  return { ...rows, problems };
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
