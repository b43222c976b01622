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
import { type AdresObjectLine, isMissingKey, isOfHoofdadres } from './adres-objects.ts';
import type { BlockedLines } from './block-file.ts';
import { ObjectsOfAddresses } from './derive-objects.ts';
import { type DerivedBy, deriveRows } from './derive-rows.ts';
import { joinTexts, textOf } from './join-rows.ts';
import { keyOf, type Line, objectTextsIn, type RowTexts, rowsIn } from './lines.ts';
import type { AdresObjectResult, PartEdits, PartResult } from './object-segment.ts';
import { fieldsAt, identificatieOf, longestSingleLine, type ObjectLine } from './objects.ts';
import { bytesOf } from './stored-form.ts';

/** A part of a snapshot: its object lines and its address lines, and what was derived. */
export type HeldPart = {
  objects: BlockedLines;
  lines: BlockedLines;
  result: PartResult;
  /** Its adresseerbare objecten, with what to change in them when it is edited. */
  objecten?: HeldObjecten | undefined;
};

type HeldObjecten = { objects: BlockedLines; result: AdresObjectResult; edit?: PartEdits };

/** What became of a part, and the lines of each postcode and huisnummer that was edited, before and after. */
export type EditedPart = Omit<HeldPart, 'objecten'> & {
  problems: ProblemReport;
  groups: { before: Line[]; after: Line[] }[];
  objecten?: HeldObjecten & { problems: ProblemReport };
};

/**
 * A part after an edit, of which only the edited objects are derived (decision 0145): as they were `then`, and as they
 * are `now`. `add` and `remove` have all lines of each of them in this part. Dates, streets and places must give every
 * other object what they gave before.
 */
export function editPart(
  { objects, lines, result, objecten }: HeldPart,
  { remove, add, next = result.next }: PartEdits,
  then: DerivedBy,
  now: DerivedBy,
): EditedPart {
  const [old, made] = [derived(remove, then), derived(add, now)];
  const problems = changedProblems(result.problems, old.problems, made.problems);
  const ids = new Set([...remove, ...add].map(identificatieOf));
  const madeBy = Map.groupBy(made.rows, ([key]) => bareKey(key));
  const edited = objecten && editObjecten(objecten, then, now);
  const changed = new Set([...old.rows.map(([key]) => bareKey(key)), ...madeBy.keys(), ...(edited?.groups ?? [])]);
  const groups = [...changed].sort().map((group) => {
    const before = lines.linesOf(group);
    const others = rowsIn(before).filter(([, , id]) => !ids.has(id));
    return { before, after: joinTexts([...others, ...(madeBy.get(group) ?? [])], edited?.of(group)) };
  });
  if (edited) edited.result.objecten += objectsIn(groups, 'after') - objectsIn(groups, 'before');
  return {
    problems,
    groups,
    ...(edited && { objecten: edited }),
    objects: objects.edited({ remove: without(remove, add), add: without(add, remove) }),
    lines: lines.edited({
      remove: groups.flatMap(({ before, after }) => without(before, after)),
      add: groups.flatMap(({ before, after }) => without(after, before)),
    }),
    result: {
      nummeraanduidingen: result.nummeraanduidingen - old.rows.length + made.rows.length,
      problems: problemCounts(problems),
      next: earliest(next, made.next),
    },
  };
}

/** The adresseerbare objecten of a part after an edit, which may change the addresses of these groups. */
function editObjecten({ objects, result, edit }: HeldObjecten, then: DerivedBy, now: DerivedBy) {
  const { remove, add, next = result.next } = edit ?? { remove: [], add: [] };
  const problemsOf = (lines: readonly AdresObjectLine[], by: DerivedBy) => {
    const problems = emptyReport();
    const derived = new ObjectsOfAddresses(bytesOf(lines.toSorted()), by, (problem) => addProblem(problems, problem));
    return { problems, next: derived.next };
  };
  const [old, made] = [problemsOf(remove, then), problemsOf(add, now)];
  const problems = changedProblems(result.problems, old.problems, made.problems);
  const after = objects.edited({ remove: without(remove, add), add: without(add, remove) });
  return {
    groups: [...remove, ...add].flatMap((line) => (isMissingKey(line) ? [] : bareKey(keyOf(line)))),
    of: (group: string) => new ObjectsOfAddresses(bytesOf(after.linesOf(group)), now, () => undefined),
    objects: after,
    problems,
    result: {
      objecten: result.objecten,
      problems: problemCounts(problems),
      next: earliest(next, made.next),
    },
  };
}

/** How many objects have their hoofdadres among lines. */
export function countObjecten(lines: readonly Line[]): number {
  return lines.flatMap(objectTextsIn).flat().filter(isOfHoofdadres).length;
}

function objectsIn(groups: readonly Record<'before' | 'after', Line[]>[], side: 'before' | 'after'): number {
  return countObjecten(groups.flatMap((group) => group[side]));
}

function earliest(...dates: (string | null)[]): string | null {
  return dates.filter((date) => date !== null).sort()[0] ?? null;
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
