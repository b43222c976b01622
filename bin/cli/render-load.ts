import type { ChangeKind } from '../../loader/dataset/changes.ts';
import type { Objection } from '../../loader/dataset/guard.ts';
import type { ChangeExample } from '../../loader/dataset/load.ts';
import { loadDefaults } from '../../loader/names.ts';
import type { RepairReport } from '../../loader/run/repair.ts';
import { type LoadReport, notServedText } from '../../loader/steps/load-report.ts';
import type { LoadStatus, loadHistory } from '../../loader/steps/manifest.ts';
import type { RunningLoad } from '../connect/loads.ts';
import { table } from './output.ts';

/** What came of a load, or would come of it, for people. */
export function renderReport(report: LoadReport): string {
  const { outcome, reason, peildatum, livePeildatum } = report;
  if (outcome === 'unchanged') {
    return [`Nothing to do: ${reason}.`, ...(peildatum === null ? [] : [`The state of ${peildatum} is served.`])].join(
      '\n',
    );
  }
  const title =
    outcome === 'planned'
      ? `Loading the state of ${peildatum} ${livePeildatum === null ? 'for the first time' : `after that of ${livePeildatum}`}`
      : `The state of ${peildatum} is served${reason === null ? '' : `: ${reason}`}`;
  const tense = outcome === 'planned' ? 'would' : 'did';
  return [`${title}.`, '', renderChanges(report), '', ...renderCounts(report, tense)].join('\n');
}

const signs = { added: '+', changed: '~', removed: '-' } as const;
const kinds = ['added', 'changed', 'removed'] as const;

/** Examples of each kind of change, and how many of it there are more. */
export function renderChanges(report: Pick<LoadReport, ChangeKind | 'examples'>): string {
  const lines = kinds.flatMap((kind) => {
    const examples = report.examples[kind];
    const more = report[kind] - examples.length;
    const shown = examples.map((example) => `  ${signs[kind]} ${addressOf(example.key)}  ${placesOf(example)}`);
    return more > 0
      ? [...shown, `  ${signs[kind]} ${examples.length > 0 ? 'and ' : ''}${count(more)} more ${kind}`]
      : shown;
  });
  return lines.length > 0 ? lines.join('\n') : '  No address differs.';
}

function renderCounts(report: LoadReport, tense: 'would' | 'did'): string[] {
  const { added, changed, removed, addresses, keys, voorkomens } = report;
  const changes = [`${count(added)} added`, `${count(changed)} changed`, `${count(removed)} removed`].join(', ');
  return [
    `${tense === 'would' ? 'Would change' : 'Changed'}: ${changes}.`,
    `Addresses: ${count(addresses)} under ${count(keys)} keys, from ${count(voorkomens)} occurrences.`,
    `Not served: ${notServedText(report)}.`,
    ...Object.entries(report.problemReport ?? {}).flatMap(([kind, { count: found, examples }]) => {
      const [example] = examples;
      if (found === 0 || kind === 'no_postcode') return [];
      return [`  ${kind}: ${count(found)}${example ? `, such as ${example.identificatie} in ${example.file}` : ''}`];
    }),
  ];
}

/** `1381AA#9#A` as `1381AA 9 A`, in a column. */
function addressOf(key: string): string {
  return key.replaceAll('#', ' ').trimEnd().padEnd(16);
}

function placesOf({ before, after }: ChangeExample): string {
  return [before, after].flatMap((places) => (places ? [places.join(' | ')] : [])).join('  ->  ');
}

/** `12,345`. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** Loads as a table, from new to old. @param where how the place is named in another command */
export function renderHistory(entries: Awaited<ReturnType<typeof loadHistory>>, where: string): string {
  if (entries.length === 0) return `Nothing was loaded yet; "load run ${where}" does.`;
  return table(
    ['published', 'state', 'kind', 'keys', 'added', 'changed', 'removed', 'load', 'can be gone back to'],
    entries.map(({ at, peildatum, kind, keys, added, changed, removed, load, kept }, index) => [
      at,
      peildatum,
      kind,
      ...[keys, added, changed, removed].map(count),
      load,
      index === 0 ? 'is served' : kept ? 'yes' : 'no',
    ]),
  );
}

/** What is served, and what is under way or waits for the operator. */
export type ShownStatus = LoadStatus & {
  running: RunningLoad[];
  blocked: { load: string; peildatum: string; objections: Objection[] }[];
};

/** The register comes every month; a state this old has been followed by another. */
const oldDays = loadDefaults.oldAfterDays;

/** The status for people, with what to do about it. @param where how the place is named in another command */
export function renderStatus({ published, pending, ageDays, running, blocked }: ShownStatus, where: string): string {
  const lines: string[] = [];
  if (published) {
    const { peildatum, addresses, keys, problems, load, at, source } = published;
    const withProblems = problems === null ? 'problems not counted' : `${count(problems)} problems`;
    lines.push(
      `state      ${peildatum}, ${ageDays === 1 ? '1 day' : `${ageDays} days`} old`,
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
      `The load of ${pending.peildatum} (${pending.load}) was begun to be written at ${pending.at} and did not end: some addresses ` +
        `are of that state already. Unless it is at work right now, finish it with "load run ${where}".`,
    );
  }
  for (const { load, peildatum, objections } of blocked) {
    const why = objections.map(({ message }) => message).join('; ');
    lines.push('', `The load of ${peildatum} is blocked: ${why}. If that is right: "load approve ${load} ${where}".`);
  }
  if (ageDays !== null && ageDays > oldDays) {
    lines.push('', `That is old: a new state comes every month. "load run ${where}" looks for one.`);
  }
  return lines.join('\n');
}

/** What a repair found, and did, for people. */
export function renderRepair(report: RepairReport): string {
  const { outcome, peildatum, keys, added, changed, removed } = report;
  const title = `The table was compared with the state of ${peildatum}, ${count(keys)} keys`;
  if (added + changed + removed === 0) return `${title}: none differs.`;
  const tense = outcome === 'planned' ? 'Would be put' : 'Was put';
  const what = [`${count(added)} missing`, `${count(changed)} with other places`, `${count(removed)} too many`];
  return [`${title}.`, '', renderChanges(report), '', `${tense} right: ${what.join(', ')}.`].join('\n');
}
