import type { Objection } from '../../loader/dataset/guard.ts';
import type { LoadStatus } from '../../loader/load-history.ts';
import type { RunningLoad } from '../connect/loads.ts';
import { count } from './render-load-report.ts';

/** What is served, and what is under way or waits for the operator. */
export type ShownStatus = LoadStatus & {
  running: RunningLoad[];
  blocked: { load: string; state: string; objections: Objection[] }[];
};

/** The register comes every month; a state this old has been followed by another. */
const oldDays = 45;

/** The status for people, with what to do about it. @param where how the place is named in another command */
export function renderStatus({ published, pending, ageDays, running, blocked }: ShownStatus, where: string): string {
  const lines: string[] = [];
  if (published) {
    const { state, addresses, keys, problems, load, at, source } = published;
    const withProblems = problems === null ? 'problems not counted' : `${count(problems)} problems`;
    lines.push(
      `state      ${state}, ${ageDays === 1 ? '1 day' : `${ageDays} days`} old`,
      `addresses  ${count(addresses)} under ${count(keys)} keys; ${withProblems}`,
      `load       ${load}, published ${at}`,
      `source     ${source?.location ?? '-'}`,
    );
  } else {
    lines.push(`Nothing is served yet. Load an extract: "load run ${where}".`);
  }
  for (const { name, since } of running) {
    lines.push('', `A load is under way since ${since}: "load follow ${name} ${where}" watches it.`);
  }
  if (pending && running.length === 0) {
    lines.push(
      '',
      `The load of ${pending.state} (${pending.load}) was begun to be written at ${pending.at} and did not end: some addresses ` +
        `are of that state already. Unless it is at work right now, finish it with "load run ${where}".`,
    );
  }
  for (const { load, state, objections } of blocked) {
    const why = objections.map(({ message }) => message).join('; ');
    lines.push('', `The load of ${state} is blocked: ${why}. If that is right: "load approve ${load} ${where}".`);
  }
  if (ageDays !== null && ageDays > oldDays) {
    lines.push('', `That is old: a new state comes every month. "load run ${where}" looks for one.`);
  }
  return lines.join('\n');
}
