import { html } from 'hono/html';
import type { LoadDecision, Loads, WaitingLoad } from '../../packages/admin/loads.ts';
import type { Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { changesPart } from './history.ts';
import { changing, confirmation, doneNote, faultPage, instantOf, notFoundPage, scrollTable } from './parts.ts';

/** What lookups are answered from: its date, the last loads, and those that wait until an operator approves them. */
export const registerPages: readonly PageRoute[] = [
  {
    of: 'service',
    method: 'GET',
    path: '/operator/register',
    action: 'operator.view',
    handle: (visit) => withLoads(visit, registerPage),
  },
  {
    of: 'service',
    method: 'GET',
    path: '/operator/register/:load',
    action: 'operator.view',
    handle: (visit) => withWaiting(visit, loadPage),
  },
  {
    of: 'service',
    method: 'GET',
    path: '/operator/register/:load/changes/:file',
    action: 'operator.view',
    handle: (visit) => withLoads(visit, changesFile),
  },
  ...(['approve', 'reject'] as const).flatMap((decision): PageRoute[] => [
    {
      of: 'service',
      method: 'GET',
      path: `/operator/register/:load/${decision}`,
      action: 'load.approve',
      handle: (visit) => withWaiting(visit, (_, load) => decisionQuestion(visit, load, decision)),
    },
    {
      of: 'service',
      method: 'POST',
      path: `/operator/register/:load/${decision}`,
      action: 'load.approve',
      handle: (visit) => withLoads(visit, (_, loads) => decide(visit, loads, decision)),
    },
  ]),
];

const registerPath = '/operator/register';
const pathOf = (load: string) => `${registerPath}/${load}`;

async function withLoads(
  visit: Visit,
  show: (visit: Visit, loads: Loads) => PageAnswer | Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { loads, text } = visit;
  if (loads) return show(visit, await loads());
  return { title: text.noRegister, body: html`<div class="card"><p>${text.noRegisterText}</p></div>` };
}

function withWaiting(
  visit: Visit,
  show: (visit: Visit, load: WaitingLoad, loads: Loads) => PageAnswer | Promise<PageAnswer>,
): Promise<PageAnswer> {
  return withLoads(visit, async (_, loads) => {
    const found = await changing(visit.text, registerPath, 'load', () => loads.show(visit.c.req.param('load') ?? ''));
    return 'fault' in found ? found.fault : show(visit, found.result, loads);
  });
}

async function registerPage(visit: Visit, loads: Loads): Promise<Page> {
  const { text, format } = visit;
  const [{ peildatum: live, loads: last }, waiting, running, decisions] = await Promise.all([
    loads.register(),
    loads.waiting(),
    loads.running(),
    changesPart(visit, registerPath, loads.auditPage),
  ]);
  const rows = last.map(({ load, peildatum, at, addresses, added, changed, removed }): Html[] => [
    html`<code>${load}</code>`,
    format.day(peildatum),
    instantOf(visit, at),
    format.number(addresses),
    [added, changed, removed].map(format.number).join(' / '),
  ]);
  const head = [
    text.load,
    text.snapshotDate,
    text.time,
    { number: text.addresses },
    { number: `${text.added} / ${text.changed} / ${text.removed}` },
  ];
  return {
    title: text.register,
    body: html`${doneNote(visit)}<div class="card"><p>${text.registerText}</p><dl class="facts"><div><dt>${text.snapshotDate}</dt><dd>${live ? format.day(live) : '-'}</dd></div></dl></div>
${running[0] ? runningNote(visit, running[0].since) : ''}
<div class="card"><h2>${text.waiting}</h2>${waiting.length > 0 ? waiting.map((load) => waitingEntry(visit, load)) : html`<p>${text.noneWaiting}</p>`}</div>
<div class="card">${rows.length > 0 ? scrollTable(text.loads, head, rows) : html`<p>${text.noLoads}</p>`}</div>
${decisions}`,
  };
}

function runningNote(visit: Visit, since: string): Html {
  return html`<p class="note">${visit.text.running} ${instantOf(visit, since)}</p>`;
}

function waitingEntry(visit: Visit, load: WaitingLoad): Html {
  const { text, format } = visit;
  return html`<section class="entry"><h3>${text.loadOf(format.day(load.peildatum))}</h3>${objectionList(visit, load)}${approvalNote(visit, load)}
<p><a class="button plain" href="${pathOf(load.load)}" aria-label="${text.look}: ${load.load}">${text.look}</a></p></section>`;
}

/** Each objection with its figures; the loader's own sentence, which also names the limit, where it can be read. */
function objectionList(visit: Visit, load: WaitingLoad): Html {
  const { text, language } = visit;
  const kinds: Readonly<Record<string, string>> = text.objections;
  const items = load.objections.map(({ code, message }) => {
    const figures = language === 'en' ? message : figuresOf(visit, load, code);
    return html`<li><strong>${kinds[code] ?? code}</strong>${figures ? html`<br><span class="muted">${figures}</span>` : ''}</li>`;
  });
  return html`<ul>${items}</ul>`;
}

function figuresOf({ text, format }: Visit, load: WaitingLoad, code: string): string {
  const { addresses, added, changed, removed, problems, peildatum, livePeildatum } = load;
  const live = addresses - added + removed;
  const share = (count: number, of: number) =>
    text.outOf(format.number(count), format.number(of), format.share(of > 0 ? count / of : 1));
  const figures: Readonly<Record<string, string>> = {
    too_few_addresses: format.number(addresses),
    too_many_removed: share(removed, live),
    too_many_changed: share(changed, live),
    too_many_added: share(added, live),
    too_many_problems: share(problems ?? 0, addresses + (problems ?? 0)),
    older_peildatum: livePeildatum ? `${format.day(peildatum)} < ${format.day(livePeildatum)}` : '',
  };
  return figures[code] ?? '';
}

function approvalNote(visit: Visit, { approval, proposal }: WaitingLoad): Html {
  if (!approval) return '';
  const { decision, by, time, state } = approval;
  const { text } = visit;
  const { made, states } = text.decisions[decision];
  const became = approval.proposal === proposal ? states[state] : text.decidedOther;
  return html`<p class="note${state === 'failed' ? ' bad' : ''}">${made(by)} ${instantOf(visit, time)}. ${became}</p>`;
}

async function loadPage(visit: Visit, load: WaitingLoad, loads: Loads): Promise<Page> {
  const { text, format } = visit;
  const { peildatum, livePeildatum, addresses, added, changed, removed, problems, proposal } = load;
  const count = (name: string, value: number | null) =>
    html`<div><dt>${name}</dt><dd>${value === null ? '-' : format.number(value)}</dd></div>`;
  const [other] = await loads.running();
  const isRunning = load.approval?.state === 'running' && load.approval.proposal === proposal;
  const act = html`<p class="actions"><a class="button" href="${pathOf(load.load)}/approve?proposal=${proposal}">${text.decisions.approve.name}</a><a class="button plain" href="${pathOf(load.load)}/reject?proposal=${proposal}">${text.decisions.reject.name}</a></p>`;
  return {
    title: text.loadOf(format.day(peildatum)),
    body: html`<div class="card"><h2>${text.whyItWaits}</h2>${objectionList(visit, load)}<p>${text.waitingText}</p></div>
<div class="card"><h2>${text.whatItChanges}</h2><dl class="facts">
<div><dt>${text.snapshotDate}</dt><dd>${format.day(peildatum)}</dd></div>
<div><dt>${text.liveDate}</dt><dd>${livePeildatum ? format.day(livePeildatum) : '-'}</dd></div>
${count(text.addressesAfter, addresses)}${count(text.added, added)}${count(text.changed, changed)}${count(text.removed, removed)}${count(text.problems, problems)}</dl></div>
${mostChangedTables(visit, load)}<div class="card">${await exampleTable(visit, load)}${changesLinks(visit, load)}</div>
${approvalNote(visit, load)}${other && !isRunning ? runningNote(visit, other.since) : ''}${other || isRunning ? '' : act}
<p><a href="${registerPath}">${text.backToRegister}</a></p>`,
  };
}

/** Every change, in as many files as it takes; of a load without any the command line makes one. */
function changesLinks({ text, format }: Visit, { load, changesFiles }: WaitingLoad): Html {
  if (changesFiles === 0) return html`<p>${text.allChangesText} <code>load plan --csv</code></p>`;
  const links = Array.from({ length: changesFiles }, (_, i) => {
    const number = changesFiles === 1 ? '' : ` ${text.fileOf(format.number(i + 1), format.number(changesFiles))}`;
    return html`<a href="${pathOf(load)}/changes/${i + 1}">${text.allChanges}${number}</a>`;
  });
  return html`<p class="actions">${links}</p>`;
}

async function changesFile(visit: Visit, loads: Loads): Promise<PageAnswer> {
  const { c, text } = visit;
  const [load, file] = [c.req.param('load') ?? '', c.req.param('file') ?? ''];
  if (!/^[1-9]\d{0,3}$/.test(file)) return notFoundPage(text, registerPath);
  const found = await changing(text, registerPath, 'load', () => loads.changes({ load, file: Number(file) }));
  if ('fault' in found) return found.fault;
  return { file: found.result, type: 'text/csv; charset=utf-8', name: `changes-${load}-${file}.csv` };
}

function mostChangedTables({ text, format }: Visit, { streets, woonplaatsen }: WaitingLoad): Html {
  const tableOf = (caption: string, places: WaitingLoad['streets']) => {
    const rows = places.map(({ name, changes }): Html[] => [name, format.number(changes)]);
    const head = [text.place, { number: text.addresses }];
    return rows.length > 0 ? html`<div class="card">${scrollTable(caption, head, rows)}</div>` : '';
  };
  return html`${tableOf(text.mostChangedStreets, streets)}${tableOf(text.mostChangedPlaces, woonplaatsen)}`;
}

async function exampleTable({ text }: Visit, { examples }: WaitingLoad): Promise<Html> {
  // With the clients of AWS that its other exports need, which most visits do without.
  const { addressText } = await import('../../packages/admin/loads.ts');
  const kinds = ['removed', 'changed', 'added'] as const;
  const places = (given: string[] | null) => given?.join('; ') ?? '-';
  const rows = kinds.flatMap((kind) =>
    examples[kind].map(({ key, before, after }): Html[] => [
      text[kind],
      addressText(key),
      places(before),
      places(after),
    ]),
  );
  if (rows.length === 0) return html`<p>${text.noExamples}</p>`;
  return scrollTable(text.examples, [text.change, text.address, text.before, text.after], rows);
}

/** Names the proposal that the reader saw: what changed since is shown again rather than decided. */
function decisionQuestion(visit: Visit, load: WaitingLoad, decision: LoadDecision): Page {
  const { c, text, format } = visit;
  const { peildatum, added, changed, removed, proposal } = load;
  if (c.req.query('proposal') !== proposal) return conflictPage(visit, load.load);
  const { question, explanation, yes } = text.decisions[decision];
  return confirmation(visit, {
    title: question(format.day(peildatum)),
    explanation: explanation(format.number(added), format.number(changed), format.number(removed)),
    action: `${pathOf(load.load)}/${decision}`,
    yes,
    cancel: pathOf(load.load),
    hidden: html`<input type="hidden" name="proposal" value="${proposal}">`,
  });
}

function conflictPage({ text }: Visit, load: string): Page {
  const { conflict: title, conflictText: explanation } = text.errors;
  return faultPage(text, { title, explanation, back: pathOf(load), status: 409 });
}

const notes = {
  approve: ['approved', 'approvedBefore'],
  reject: ['rejected', 'rejectedBefore'],
} as const;

/** Sent twice, or by two people, it is one decision. */
async function decide(visit: Visit, loads: Loads, decision: LoadDecision): Promise<PageAnswer> {
  const { c, form, text } = visit;
  const load = c.req.param('load') ?? '';
  const done = await changing(text, registerPath, 'load', () =>
    loads[decision]({ load, proposal: form.proposal ?? '' }),
  );
  if ('fault' in done) return done.fault;
  const [first, before] = notes[decision];
  return { goTo: `${registerPath}?done=${done.result.started ? first : before}` };
}
