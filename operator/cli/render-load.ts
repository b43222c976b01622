import { keyParts } from '../../core/addresses/address-key.ts';
import type { ChangeKind } from '../../loader/addresses/lines.ts';
import { loadDefaults } from '../../loader/names.ts';
import type { LoadStatus, loadHistory } from '../../loader/storage/stored-loads.ts';
import { type ChangeExample, type SetAside, setAsideOf } from '../../loader/verdict/load-counts.ts';
import { type InterruptedLoad, type LoadReport, notServedText, refusalText } from '../../loader/verdict/load-report.ts';
import { demoExtractName } from '../../local/data-folder.ts';
import type { RepairReport } from '../../local/load/repair.ts';
import type { RunningLoad, WaitingLoad } from '../../packages/admin/load-approvals.ts';
import type { MutationStatus } from '../connect/open-loads.ts';
import type { EndedLoad } from '../connect/state-machine-load.ts';
import { counted, thousands } from './command.ts';
import { table } from './text-table.ts';
import { ago } from './time.ts';

/** The actual or expected result of a load. */
export function renderReport(report: LoadReport): string {
  const { outcome, reason, peildatum, livePeildatum, notes } = report;
  if (outcome === 'rejected') return `${reason}.\nThe snapshot of ${peildatum} is live.`;
  const isInterrupted = report.interrupted ? [interruptedText(report.interrupted)] : [];
  if (outcome === 'unchanged') {
    const nothing = report.interrupted ? `Once it is finished: ${reason}.` : `Nothing to do: ${reason}.`;
    return [...isInterrupted, nothing, ...(peildatum === null ? [] : [`The snapshot of ${peildatum} is live.`])].join(
      '\n',
    );
  }
  const title =
    outcome === 'planned'
      ? `Snapshot of ${peildatum}, ${livePeildatum === null ? 'the first load' : `replacing the snapshot of ${livePeildatum}`}`
      : `The snapshot of ${peildatum} is live${reason === null ? '' : `: ${reason}`}`;
  const days =
    report.days.length > 0
      ? [`By ${counted(report.days.length, 'day')} of mutations on top of the extract of ${report.extractPeildatum}.`]
      : [];
  const stopped = report.stopped === null ? [] : [`The mutations that follow can't be applied. ${report.stopped}`];
  const tense = outcome === 'planned' ? 'would' : 'did';
  return [
    ...isInterrupted,
    `${title}.`,
    ...days,
    ...stopped,
    ...(report.more ? ['Further days follow, which are judged by themselves.'] : []),
    ...setAsideText(report.setAside),
    ...notes.map((note) => `Note: ${note}.`),
    '',
    renderChanges(report),
    '',
    ...renderCounts(report, tense),
    ...auditText(report),
  ].join('\n');
}

/** @param before the load that was published before it, which a rollback puts back */
function interruptedText({ load, peildatum, at }: InterruptedLoad, before?: string): string {
  return (
    `The load of ${peildatum} (${load}) started writing at ${at} and has not finished: some addresses are already from that ` +
    `snapshot. Unless it is still running, finish it: "load run --finish"${before === undefined ? '' : `, or undo it: "load rollback ${before}"`}.`
  );
}

const signs = { added: '+', changed: '~', removed: '-' } as const;
const kinds = ['added', 'changed', 'removed'] as const;

/** Examples of each kind of change, and the number of further ones. */
export function renderChanges(report: Pick<LoadReport, ChangeKind | 'examples'>): string {
  const lines = kinds.flatMap((kind) => {
    const examples = report.examples[kind];
    const more = report[kind] - examples.length;
    const shown = examples.map((example) => `  ${signs[kind]} ${addressOf(example.key)}  ${placesOf(example)}`);
    return more > 0
      ? [...shown, `  ${signs[kind]} ${examples.length > 0 ? 'and ' : ''}${thousands(more)} more ${kind}`]
      : shown;
  });
  return lines.length > 0 ? lines.join('\n') : '  No differences.';
}

function renderCounts(report: LoadReport, tense: 'would' | 'did'): string[] {
  const { added, changed, gemeenteChanged, removed, listsChanged, objecten } = report;
  const { nummeraanduidingen, addresses, voorkomens } = report;
  const changes = [
    `${thousands(added)} added`,
    `${thousands(changed)} changed${gemeenteChanged > 0 ? ` (${thousands(gemeenteChanged)} only their gemeente)` : ''}`,
    `${thousands(removed)} removed`,
    ...listText(listsChanged),
    ...(objecten?.changed ? [`the objects of ${counted(objecten.changed, 'address')}`] : []),
  ].join(', ');
  return [
    `${tense === 'would' ? 'Would change' : 'Changed'}: ${changes}.`,
    `Addresses: ${thousands(addresses)}, of ${thousands(nummeraanduidingen)} nummeraanduidingen, from ${counted(voorkomens, 'BAG record')}.`,
    ...(objecten ? [`Objects: ${thousands(objecten.live)}.`] : []),
    `Skipped: ${notServedText(report)}.`,
    ...Object.entries(report.problemReport ?? {}).flatMap(([kind, { count: found, examples }]) => {
      const [example] = examples;
      if (found === 0 || kind === 'no_postcode') return [];
      return [
        `  ${kind}: ${thousands(found)}${example ? `, such as ${example.identificatie} in ${example.file}` : ''}`,
      ];
    }),
  ];
}

/** How the result of the daily mutations compares with an extract of the same date. */
function auditText({ audit }: LoadReport): string[] {
  if (!audit) return [];
  const { added, changed, removed } = audit;
  if (added + changed + removed === 0)
    return ['Audit: the daily mutations gave exactly the addresses of this extract.'];
  return [
    `Audit: after the daily mutations ${thousands(added + changed + removed)} addresses differ from the extract: ` +
      `${thousands(added)} missing, ${thousands(changed)} different, ${thousands(removed)} too many. This load corrects them.`,
  ];
}

/** Objects that the mutations did not match. */
function setAsideText({ count, addresses, examples }: SetAside): string[] {
  if (count === 0) return [];
  const title = `Set aside, because they don't match the mutations, until a corrected delivery or the next extract: ${counted(count, 'object')}, ${counted(addresses, 'address')}.`;
  return [title, ...examples.map((example) => `  ${example}`)];
}

/** Changed lists of toevoegingen, which are no addresses. */
function listText(listsChanged: number): string[] {
  return listsChanged > 0 ? [counted(listsChanged, 'toevoegingen list')] : [];
}

/** `1381AA#9#A` as `1381AA 9 A`, in a column. */
function addressOf(key: string): string {
  const { postcode, huisnummer, toevoeging } = keyParts(key);
  return `${postcode} ${huisnummer} ${toevoeging}`.trimEnd().padEnd(16);
}

function placesOf({ before, after }: ChangeExample): string {
  return [before, after].flatMap((places) => (places ? [places.join(' | ')] : [])).join('  ->  ');
}

/** Loads as a table, the newest first. */
export function renderHistory(entries: Awaited<ReturnType<typeof loadHistory>>): string {
  if (entries.length === 0) return `No loads yet. Start one: "load run".`;
  return table(
    ['published', 'peildatum', 'kind', 'addresses', 'added', 'changed', 'removed', 'load', 'rollback'],
    entries.map(({ at, peildatum, kind, addresses, added, changed, removed, load, kept }, index) => [
      at,
      peildatum,
      kind,
      ...[addresses, added, changed, removed].map(thousands),
      load,
      index === 0 ? 'live' : kept ? 'yes' : 'no',
    ]),
  );
}

/** The live snapshot, the running loads, and the loads that need a decision. */
export type ShownStatus = LoadStatus & {
  running: RunningLoad[];
  refused: WaitingLoad[];
  /** The last loads that ended, the newest first. */
  runs?: EndedLoad[];
  /** Only of a dataset that follows days of mutations. */
  mutations?: MutationStatus | null;
};

/** The extract is published monthly: a newer one than this must exist. */
const oldDays = loadDefaults.oldAfterDays;

/** The status, with what to do about it. */
export function renderStatus(shown: ShownStatus): string {
  const { published, pending, ageDays, running, refused, runs = [], mutations = null } = shown;
  const isFailing = runs[0]?.error != null && running.length === 0;
  const lines: string[] = [];
  if (published) {
    const { peildatum, nummeraanduidingen, addresses, problems, load, at, source, extract } = published;
    const problemText = problems === null ? 'problems not counted' : `${counted(problems, 'problem')}`;
    lines.push(
      `peildatum  ${peildatum}, ${ageText(ageDays ?? 0)}`,
      ...(extract && extract.peildatum !== peildatum
        ? [
            `extract    ${extract.peildatum}, and ${counted(daysBetween(extract.peildatum, peildatum), 'day')} of mutations`,
          ]
        : []),
      ...(mutations ? [`next       ${nextText(mutations)}`] : []),
      `addresses  ${thousands(addresses)}, of ${thousands(nummeraanduidingen)} nummeraanduidingen; ${problemText}`,
      `load       ${load}, published ${ago(at)}, at ${at}`,
      `source     ${source?.location ?? '-'}`,
    );
  } else {
    lines.push(`No addresses are loaded yet.${isFailing ? '' : ' Load an extract: "load run".'}`);
  }
  lines.push(...runsText(runs));
  for (const { name, since } of running) {
    lines.push('', `A load is running, begun ${ago(since)}, at ${since}. Follow it: "load follow ${name}".`);
  }
  if (pending && running.length === 0) {
    lines.push('', interruptedText(pending, published?.load));
  }
  const setAside = setAsideText(setAsideOf(published?.setAside ?? []));
  if (setAside.length > 0) lines.push('', ...setAside);
  for (const load of refused) lines.push('', refusalText(load));
  if (mutations?.problem) lines.push('', mutations.problem);
  // The demo of npm start is old on purpose.
  const isDemo = published?.source?.location.endsWith(`/${demoExtractName}`) ?? false;
  if (ageDays !== null && ageDays > oldDays && !isDemo) {
    lines.push('', `The snapshot is old; the extract is published monthly. Load a newer one: "load run".`);
  }
  return lines.join('\n');
}

const outcomes = {
  succeeded: 'succeeded',
  refused: 'was refused',
  failed: 'failed',
  timed_out: 'took too long',
  aborted: 'was stopped',
} as const satisfies Record<EndedLoad['outcome'], string>;

/** How the last loads ended, and why the newest failed. */
function runsText(runs: readonly EndedLoad[]): string[] {
  const [last] = runs;
  if (!last) return [];
  const ends = runs.map(({ name, started, outcome }) => `  ${started}  ${ago(started)}  ${outcomes[outcome]}  ${name}`);
  const { error } = last;
  if (!error) return ['', 'The last loads:', ...ends];
  return [
    ...['', 'The last load failed; the register that was live goes on:', `  ${error.message}`],
    `Its log: the saved query ${error.log} in CloudWatch Logs Insights. When the cause is gone, go on: "load run".`,
    ...['', 'The last loads:', ...ends],
  ];
}

/** A dataset of a later date than tomorrow would make every extract and every day older. */
function ageText(days: number): string {
  if (days >= -1) return `${counted(Math.max(0, days), 'day')} old`;
  return `${counted(-days, 'day')} in the future: check the clock, then load an extract with "load run", or roll back`;
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
}

function nextText({ from, waiting, problem }: MutationStatus): string {
  if (waiting && waiting.length > 0) return `the next check applies ${waiting.join(', ')}`;
  const expected = `mutations from ${from} on`;
  return problem || !waiting ? expected : `${expected}, which are not listed yet`;
}

/** The result of a repair. */
export function renderRepair(report: RepairReport): string {
  const { outcome, peildatum, addresses, added, changed, removed, listsChanged } = report;
  const rebuilt = [...rebuiltText(report), ...unusableText(report)];
  const title = `Compared the table with the snapshot of ${peildatum} (${thousands(addresses)} addresses)`;
  if (added + changed + removed + listsChanged === 0) return [`${title}: no differences.`, ...rebuilt].join('\n');
  const verb = outcome === 'planned' ? 'Would repair' : 'Repaired';
  const what = [
    `${thousands(added)} missing`,
    `${thousands(changed)} changed`,
    `${thousands(removed)} unexpected`,
    ...listText(listsChanged),
  ];
  return [`${title}.`, '', renderChanges(report), '', `${verb}: ${what.join(', ')}.`, ...rebuilt].join('\n');
}

function unusableText({ unusable }: RepairReport): string[] {
  const [first, ...more] = unusable;
  if (first === undefined) return [];
  const all = more.length > 0 ? `${first} and ${counted(more.length, 'other object')}` : first;
  return [`Not repaired, as the table does not hold them: ${all}, which mutations need.`];
}

function rebuiltText({ outcome, rebuilt, unexplained }: RepairReport): string[] {
  if (rebuilt.length === 0) return [];
  const verb = outcome === 'planned' ? 'Would rebuild' : 'Rebuilt';
  const lines = [
    `${verb} from the table, as the snapshot's own were damaged or missing: segments ${rebuilt.join(', ')}.`,
  ];
  if (unexplained !== 0) {
    lines.push(
      `The table had changed there: the snapshot has ${counted(Math.abs(unexplained), 'address')} too ` +
        `${unexplained > 0 ? 'many' : 'few'}. Load the full extract with "load run --again".`,
    );
  }
  return lines;
}
