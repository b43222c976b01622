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
import { joinRows, keyOf, type Line } from './lines.ts';
import type { PartEdits, PartResult } from './object-shard.ts';
import { elsewhere, identificatieOf, isOfSeveral, type ObjectLine } from './objects.ts';

/** A part of a snapshot: its object lines and its address lines, and what was derived. */
export type HeldPart = { objects: BlockedLines; lines: BlockedLines; result: PartResult };

/** What became of a part, and the lines of each postcode and huisnummer that was derived, before and after. */
export type EditedPart = HeldPart & { problems: ProblemReport; groups: { before: Line[]; after: Line[] }[] };

/**
 * A part after an edit, of which only the addresses with the postcodes and huisnummers of its objects are derived
 * (decision 0175). The streets, places and date must give every other object what they gave before. `null`
 * where another object with several occurrences is among them: then the whole part has to be derived.
 */
export function editPart(
  { objects, lines, result }: HeldPart,
  { remove, add }: PartEdits,
  reference: Reference,
  peildatum: string,
  file: string,
): EditedPart | null {
  const here = [...remove, ...add].filter((line) => !line.startsWith(elsewhere));
  const groups = [...new Set(here.map((line) => bareKey(keyOf(line))))].sort();
  const held = groups.flatMap((group) => objects.linesOf(group));
  const ids = new Set([...remove, ...add].map(identificatieOf));
  if (held.some((line) => isOfSeveral(line) && !ids.has(identificatieOf(line)))) return null;

  const gone = new Set(remove);
  const old = derived([...held, ...[...gone].filter((line) => line.startsWith(elsewhere))], reference, peildatum, file);
  const now = derived([...held.filter((line) => !gone.has(line)), ...add], reference, peildatum, file);
  const problems = changedProblems(result.problems, old.problems, now.problems);
  const after = joinRows(now);
  const edited = groups.map((group) => ({
    before: lines.linesOf(group),
    after: after.filter((line) => line.startsWith(group)),
  }));
  return {
    problems,
    objects: objects.edited({ remove, add }),
    lines: lines.edited({
      remove: edited.flatMap((group) => group.before.filter((line) => !group.after.includes(line))),
      add: edited.flatMap((group) => group.after.filter((line) => !group.before.includes(line))),
    }),
    groups: edited,
    result: {
      addresses: result.addresses - old.keys.length + now.keys.length,
      problems: problemCounts(problems),
      next: [result.next, now.next].filter((date) => date !== null).sort()[0] ?? null,
    },
  };
}

function derived(lines: ObjectLine[], reference: Reference, peildatum: string, file: string) {
  const problems = emptyReport();
  const rows = deriveRows(lines.sort(), reference, peildatum, file, (problem) => addProblem(problems, problem));
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
