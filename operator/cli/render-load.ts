import { keyParts } from '../../core/addresses/address-key.ts';
import type { ChangeKind } from '../../loader/addresses/lines.ts';
import { type ManifestEntry, nameOfLoad, waysToEnd } from '../../loader/dataset/load.ts';
import { type SetAside, setAsideOf } from '../../loader/guard/load-counts.ts';
import {
  type InterruptedLoad,
  type LoadReport,
  notServedText,
  refusalText,
} from '../../loader/guard/load-report.ts';
import { loadDefaults } from '../../loader/names.ts';
import type { LoadStatus, loadHistory } from '../../loader/storage/stored-loads.ts';
import { demoExtractName } from '../../local/data-folder.ts';
import type { RepairReport } from '../../local/load/repair.ts';
import type { RunningLoad, WaitingLoad } from '../../packages/admin/load-approvals.ts';
import type { MutationStatus } from '../deployment/open-loads.ts';
import type { EndedLoad } from '../deployment/state-machine-load.ts';
import { ago, counted, type Lines, lines, table, thousands } from './terminal-text.ts';

export function renderReport(report: LoadReport): string {
  const { outcome, reason, peildatum, livePeildatum, days, stopped } = report;
  const live = peildatum !== null && `The snapshot of ${peildatum} is live.`;
  if (outcome === 'rejected') return lines(`${reason}.`, live);
  const interrupted = report.interrupted && interruptedText(report.interrupted);
  if (outcome === 'unchanged') {
    return lines(
      interrupted,
      `${interrupted ? 'Once it is finished' : 'Nothing to do'}: ${reason}.`,
      live,
    );
  }
  const replaced =
    livePeildatum === null ? 'the first load' : `replacing the snapshot of ${livePeildatum}`;
  return lines(
    interrupted,
    outcome === 'planned'
      ? `Snapshot of ${peildatum}, ${replaced}.`
      : `The snapshot of ${peildatum} is live${reason === null ? '' : `: ${reason}`}.`,
    days.length > 0 &&
      `By ${counted(days.length, 'day')} of mutations on top of the extract of ${report.extractPeildatum}.`,
    stopped !== null && `The mutations that follow can't be applied. ${stopped}`,
    report.more && 'Further days follow, which are judged by themselves.',
    setAsideText(report.setAside),
    report.notes.map((note) => `Note: ${note}.`),
    ['', renderChanges(report), ''],
    renderCounts(report),
    auditText(report),
  );
}

/** @param before the load that was published before it, which a rollback puts back */
function interruptedText(
  pending: InterruptedLoad,
  before: Pick<ManifestEntry, 'load' | 'peildatum'> | null = null,
): string {
  return (
    `${nameOfLoad(pending)} started writing at ${pending.at} and has not finished: some addresses are already from that ` +
    `snapshot. Unless it is still running, ${waysToEnd(pending, before)}`
  );
}

const signs: Record<ChangeKind, string> = { added: '+', changed: '~', removed: '-' };

/** Examples of each kind of change, and the number of further ones. */
export function renderChanges(report: Pick<LoadReport, ChangeKind | 'examples'>): string {
  const shown = Object.entries(signs).map(([name, sign]): Lines => {
    const kind = name as ChangeKind;
    const examples = report.examples[kind];
    const more = report[kind] - examples.length;
    return [
      examples.map(({ key, before, after }) => {
        const places = [before, after].flatMap((names) => (names ? [names.join(' | ')] : []));
        return `  ${sign} ${addressOf(key)}  ${places.join('  ->  ')}`;
      }),
      more > 0 && `  ${sign} ${examples.length > 0 ? 'and ' : ''}${thousands(more)} more ${kind}`,
    ];
  });
  return lines(shown) || '  No differences.';
}

function renderCounts(report: LoadReport): Lines {
  const { added, changed, gemeenteChanged, removed, listsChanged, objecten } = report;
  const changes = [
    `${thousands(added)} added`,
    `${thousands(changed)} changed${gemeenteChanged > 0 ? ` (${thousands(gemeenteChanged)} only their gemeente)` : ''}`,
    `${thousands(removed)} removed`,
    ...listText(listsChanged),
    ...(objecten?.changed ? [`the objects of ${counted(objecten.changed, 'address')}`] : []),
  ].join(', ');
  const problems = Object.entries(report.problemReport ?? {}).filter(
    ([kind, { count }]) => count > 0 && kind !== 'no_postcode',
  );
  return [
    `${report.outcome === 'planned' ? 'Would change' : 'Changed'}: ${changes}.`,
    `Addresses: ${thousands(report.addresses)}, of ${thousands(report.nummeraanduidingen)} nummeraanduidingen, from ${counted(report.voorkomens, 'BAG record')}.`,
    objecten && `Objects: ${thousands(objecten.live)}.`,
    `Skipped: ${notServedText(report)}.`,
    problems.map(([kind, { count, examples }]) => {
      const [example] = examples;
      return `  ${kind}: ${thousands(count)}${example ? `, such as ${example.identificatie} in ${example.file}` : ''}`;
    }),
  ];
}

/** How the result of the daily mutations compares with an extract of the same date. */
function auditText({ audit }: LoadReport): Lines {
  if (!audit) return null;
  const { added, changed, removed } = audit;
  if (added + changed + removed === 0) {
    return 'Audit: the daily mutations gave exactly the addresses of this extract.';
  }
  return (
    `Audit: after the daily mutations ${thousands(added + changed + removed)} addresses differ from the extract: ` +
    `${thousands(added)} missing, ${thousands(changed)} different, ${thousands(removed)} too many. This load corrects them.`
  );
}

/** Objects that the mutations did not match. */
function setAsideText({ count, addresses, examples }: SetAside): Lines {
  if (count === 0) return null;
  const title = `Set aside, because they don't match the mutations, until a corrected delivery or the next extract: ${counted(count, 'object')}, ${counted(addresses, 'address')}.`;
  return [title, examples.map((example) => `  ${example}`)];
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

/** Loads as a table, the newest first. */
export function renderHistory(entries: Awaited<ReturnType<typeof loadHistory>>): string {
  if (entries.length === 0) return `No loads yet. Start one: "load run".`;
  const head = [
    'published',
    'peildatum',
    'kind',
    'addresses',
    'added',
    'changed',
    'removed',
    'load',
    'rollback',
  ];
  return table(
    head,
    entries,
    ({ at, peildatum, kind, addresses, added, changed, removed, load, kept }, index) => {
      const rollback = index === 0 ? 'live' : kept ? 'yes' : 'no';
      return [at, peildatum, kind, addresses, added, changed, removed, load, rollback];
    },
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

export function renderStatus(shown: ShownStatus): string {
  const { published, pending, ageDays, running, refused, runs = [], mutations = null } = shown;
  const isFailing = runs[0]?.error != null && running.length === 0;
  const setAside = setAsideText(setAsideOf(published?.setAside ?? []));
  // The demo of npm start is old on purpose.
  const isDemo = published?.source?.location.endsWith(`/${demoExtractName}`) ?? false;
  // The extract is published monthly: a newer one than this must exist.
  const isOld = ageDays !== null && ageDays > loadDefaults.oldAfterDays && !isDemo;
  return lines(
    published
      ? publishedText(published, ageDays ?? 0, mutations)
      : `No addresses are loaded yet.${isFailing ? '' : ' Load an extract: "load run".'}`,
    runsText(runs),
    running.map(({ name, since }) => [
      '',
      `A load is running, begun ${ago(since)}, at ${since}. Follow it: "load follow ${name}".`,
    ]),
    pending && running.length === 0 && ['', interruptedText(pending, published)],
    setAside && ['', setAside],
    refused.map((load) => ['', refusalText(load)]),
    mutations?.problem && ['', mutations.problem],
    isOld && [
      '',
      `The snapshot is old; the extract is published monthly. Load a newer one: "load run${published?.extract?.isNational === false ? ' --extract FILE' : ''}".`,
    ],
  );
}

function publishedText(
  published: ManifestEntry,
  ageDays: number,
  mutations: MutationStatus | null,
): Lines {
  const { peildatum, nummeraanduidingen, addresses, problems, load, at, source, extract } =
    published;
  const problemText = problems === null ? 'problems not counted' : counted(problems, 'problem');
  const after = extract
    ? Math.round((Date.parse(peildatum) - Date.parse(extract.peildatum)) / 86_400_000)
    : 0;
  return [
    `peildatum  ${peildatum}, ${ageText(ageDays)}`,
    extract &&
      after !== 0 &&
      `extract    ${extract.peildatum}, and ${counted(after, 'day')} of mutations`,
    mutations && `next       ${nextText(mutations)}`,
    `addresses  ${thousands(addresses)}, of ${thousands(nummeraanduidingen)} nummeraanduidingen; ${problemText}`,
    `load       ${load}, published ${ago(at)}, at ${at}`,
    `source     ${source?.location ?? '-'}`,
  ];
}

const outcomes = {
  succeeded: 'succeeded',
  refused: 'was refused',
  failed: 'failed',
  timed_out: 'took too long',
  aborted: 'was stopped',
} as const satisfies Record<EndedLoad['outcome'], string>;

/** How the last loads ended, and why the newest failed. */
function runsText(runs: readonly EndedLoad[]): Lines {
  const [last] = runs;
  if (!last) return null;
  const { error } = last;
  return [
    error && [
      '',
      'The last load failed; the register that was live goes on:',
      `  ${error.message}`,
      `Its log: the saved query ${error.log} in CloudWatch Logs Insights. When the cause is gone, go on: "load run".`,
    ],
    '',
    'The last loads:',
    runs.map(
      ({ name, started, outcome }) =>
        `  ${started}  ${ago(started)}  ${outcomes[outcome]}  ${name}`,
    ),
  ];
}

/** A dataset of a later date than tomorrow would make every extract and every day older. */
function ageText(days: number): string {
  if (days >= -1) return `${counted(Math.max(0, days), 'day')} old`;
  return `${counted(-days, 'day')} in the future: check the clock, then load an extract with "load run", or roll back`;
}

function nextText({ from, waiting, problem }: MutationStatus): string {
  if (waiting && waiting.length > 0) return `the next check applies ${waiting.join(', ')}`;
  const expected = `mutations from ${from} on`;
  return problem || !waiting ? expected : `${expected}, which are not listed yet`;
}

export function renderRepair(report: RepairReport): string {
  const {
    outcome,
    peildatum,
    addresses,
    added,
    changed,
    removed,
    listsChanged,
    rebuilt,
    unexplained,
  } = report;
  const would = (verb: string, done: string) => (outcome === 'planned' ? `Would ${verb}` : done);
  const title = `Compared the table with the snapshot of ${peildatum} (${thousands(addresses)} addresses)`;
  const what = [
    `${thousands(added)} missing`,
    `${thousands(changed)} changed`,
    `${thousands(removed)} unexpected`,
    ...listText(listsChanged),
  ];
  const [first, ...more] = report.unusable;
  const unusable = more.length > 0 ? `${first} and ${counted(more.length, 'other object')}` : first;
  return lines(
    added + changed + removed + listsChanged === 0
      ? `${title}: no differences.`
      : [
          `${title}.`,
          '',
          renderChanges(report),
          '',
          `${would('repair', 'Repaired')}: ${what.join(', ')}.`,
        ],
    rebuilt.length > 0 && [
      `${would('rebuild', 'Rebuilt')} from the table, as the snapshot's own were damaged or missing: segments ${rebuilt.join(', ')}.`,
      unexplained !== 0 &&
        `The table had changed there: the snapshot has ${counted(Math.abs(unexplained), 'address')} too ${unexplained > 0 ? 'many' : 'few'}. Load the full extract with "load run --again".`,
    ],
    unusable && `Not repaired, as the table does not hold them: ${unusable}, which mutations need.`,
  );
}
