import type { ChangeKind } from '../../loader/dataset/diff.ts';
import type { ChangeExample } from '../../loader/dataset/load.ts';
import { type LoadReport, notServedText } from '../../loader/load-report.ts';

/** What came of a load, or would come of it, for people. */
export function renderReport(report: LoadReport): string {
  const { outcome, reason, state, served } = report;
  if (outcome === 'unchanged') {
    return [`Nothing to do: ${reason}.`, ...(state === null ? [] : [`The state of ${state} is served.`])].join('\n');
  }
  const title =
    outcome === 'planned'
      ? `Loading the state of ${state} ${served === null ? 'for the first time' : `after that of ${served}`}`
      : `The state of ${state} is served${reason === null ? '' : `: ${reason}`}`;
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
