import { html } from 'hono/html';
import type {
  LoadDecision,
  LoadObjection,
  Loads,
  WaitingLoad,
} from '../../packages/admin/loads.ts';
import { csvFile } from '../../packages/ui/csv.ts';
import { hidden } from '../../packages/ui/form-fields.ts';
import { definitionList, type Html, numbers, scrollTable } from '../../packages/ui/table.ts';
import { OtherPage, type Page, type PageAnswer, serviceRoutes } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import { changesPart } from './history-page.ts';
import { attempt, confirmation } from './page-form.ts';
import { conflictPage, doneNote, instantOf, notFoundPage } from './page-parts.ts';

/**
 * The register behind the lookups: its date, the latest loads, and the loads that wait for an
 * operator's approval.
 */
export const registerPages = serviceRoutes({
  'GET /operator/register': ['operator.view', registerPage],
  'GET /operator/register/:load': ['operator.view', loadPage],
  'GET /operator/register/:load/changes/:file': ['operator.view', changesFile],
  'GET /operator/register/:load/approve': [
    'load.approve',
    (request) => decisionQuestion(request, 'approve'),
  ],
  'POST /operator/register/:load/approve': [
    'load.approve',
    (request) => decide(request, 'approve'),
  ],
  'GET /operator/register/:load/reject': [
    'load.approve',
    (request) => decisionQuestion(request, 'reject'),
  ],
  'POST /operator/register/:load/reject': ['load.approve', (request) => decide(request, 'reject')],
});

export const registerPath = '/operator/register';
const pathOf = (load: string) => `${registerPath}/${load}`;

/** The loads of the register. @throws OtherPage if the loader is not connected */
async function loadsOf({ loads, text }: PortalRequest): Promise<Loads> {
  if (loads) return loads();
  throw new OtherPage({
    title: text.noRegister,
    body: html`<div class="card"><p>${text.noRegisterText}</p></div>`,
  });
}

async function waitingLoad(request: PortalRequest): Promise<{ load: WaitingLoad; loads: Loads }> {
  const loads = await loadsOf(request);
  return { load: await onRegister(request, () => loads.show(request.params.load ?? '')), loads };
}

function onRegister<T>(request: PortalRequest, work: () => Promise<T>): Promise<T> {
  return attempt(request, { back: registerPath, about: 'load' }, work);
}

async function registerPage(request: PortalRequest): Promise<Page> {
  const { text, format } = request;
  const loads = await loadsOf(request);
  const [{ peildatum: live, setAside, loads: last }, waiting, running, decisions] =
    await Promise.all([
      loads.register(),
      request.shared.waiting({ again: true }),
      loads.running(),
      changesPart(request, loads.audit),
    ]);
  const rows = last.map(({ load, peildatum, at, addresses, added, changed, removed }): Html[] => [
    html`<code>${load}</code>`,
    format.day(peildatum),
    instantOf(request, at),
    format.number(addresses),
    [added, changed, removed].map(format.number).join(' / '),
  ]);
  const changes = numbers(
    `${text.changeKinds.added} / ${text.changeKinds.changed} / ${text.changeKinds.removed}`,
  );
  const head = [
    text.dataset.load,
    text.peildatum,
    text.history.time,
    numbers(text.dataset.addresses),
    changes,
  ];
  return {
    title: text.operatorTabs.register,
    body: html`${doneNote(request)}<div class="card"><p>${text.registerText}</p>${definitionList([[text.peildatum, live ? format.day(live) : '-']])}</div>
${running[0] ? runningNote(request, running[0].since) : ''}
${setAside.count > 0 ? html`<div class="card"><h2>${text.setAside}</h2><p>${text.setAsideText(format.count(setAside.addresses, 'address'))}</p><ul>${setAside.examples.map((example) => html`<li>${example}</li>`)}</ul></div>` : ''}
<div class="card"><h2>${text.waiting}</h2>${waiting.length > 0 ? waiting.map((load) => waitingEntry(request, load)) : html`<p>${text.noneWaiting}</p>`}</div>
<div class="card">${rows.length > 0 ? scrollTable(text.dataset.loads, head, rows) : html`<p>${text.noLoads}</p>`}</div>
${decisions}`,
  };
}

function runningNote(request: PortalRequest, since: string): Html {
  return html`<p class="note">${request.text.running} ${instantOf(request, since)}</p>`;
}

/** A load that waits, and why, with the link to all of it. */
export function waitingEntry(request: PortalRequest, load: WaitingLoad): Html {
  const { text, format } = request;
  return html`<section class="entry"><h3>${text.loadOf(format.day(load.peildatum))}</h3>${objectionList(request, load)}${approvalNote(request, load)}
<p><a class="button" href="${pathOf(load.load)}" aria-label="${text.dataset.look}: ${load.load}">${text.dataset.look}</a></p></section>`;
}

/**
 * Each objection with its figures, or with the loader's own sentence if the reader knows its
 * language.
 */
function objectionList(request: PortalRequest, load: WaitingLoad): Html {
  const { text } = request;
  const kinds: Readonly<Record<string, string>> = text.objections;
  const items = load.objections.map((objection) => {
    const { code, message } = objection;
    const figures = text.objectionText(message, figuresOf(request, load, objection));
    return html`<li><strong>${kinds[code] ?? code}</strong>${figures ? html`<br><span class="muted">${figures}</span>` : ''}</li>`;
  });
  return html`<ul>${items}</ul>`;
}

/** Where, how many of how many, and the first few. */
function figuresOf(
  { text, format }: PortalRequest,
  load: WaitingLoad,
  objection: LoadObjection,
): string {
  const { code, place = '', count, of, since, examples = [] } = objection;
  const { addresses, peildatum, livePeildatum } = load;
  if (code === 'too_few_addresses') return format.number(addresses);
  if (code === 'older_peildatum') {
    return livePeildatum ? `${format.day(peildatum)} < ${format.day(livePeildatum)}` : '';
  }
  const number = count === undefined ? '' : format.number(count);
  // Of 44 addresses that become 11,920, a share says nothing.
  const part = (count ?? 0) > (of ?? 0) ? '' : format.share((count ?? 0) / (of ?? 1));
  const share = of ? text.outOf(number, format.number(of), part) : number;
  return [place, share, since ? text.daysSince(format.day(since)) : '', examples.join('; ')]
    .filter(Boolean)
    .join(' · ');
}

function approvalNote(request: PortalRequest, { approval, proposal }: WaitingLoad): Html {
  if (!approval) return '';
  const { decision, by, time, state } = approval;
  const { text } = request;
  const { made, states } = text.decisions[decision];
  const became = approval.proposal === proposal ? states[state] : text.decidedOther;
  return html`<p class="note${state === 'failed' ? ' bad' : ''}">${made(by)} ${instantOf(request, time)}. ${became}</p>`;
}

async function loadPage(request: PortalRequest): Promise<Page> {
  const { text, format } = request;
  const { load, loads } = await waitingLoad(request);
  const {
    peildatum,
    livePeildatum,
    addresses,
    added,
    changed,
    removed,
    objecten,
    problems,
    proposal,
  } = load;
  const [other] = await loads.running();
  const isRunning = load.approval?.state === 'running' && load.approval.proposal === proposal;
  const act = html`<p class="actions"><a class="button" href="${pathOf(load.load)}/approve?proposal=${proposal}">${text.decisions.approve.name}</a><a class="button plain" href="${pathOf(load.load)}/reject?proposal=${proposal}">${text.decisions.reject.name}</a></p>`;
  return {
    title: text.loadOf(format.day(peildatum)),
    body: html`<div class="card"><h2>${text.whyItWaits}</h2>${objectionList(request, load)}<p>${text.waitingText}</p></div>
<div class="card"><h2>${text.whatItChanges}</h2>${definitionList([
      [text.peildatum, format.day(peildatum)],
      [text.example.liveDate, livePeildatum ? format.day(livePeildatum) : '-'],
      [text.addressesAfter, format.number(addresses)],
      [text.changeKinds.added, format.number(added)],
      [text.changeKinds.changed, format.number(changed)],
      [text.changeKinds.removed, format.number(removed)],
      ...(objecten ? [[text.changedObjecten, format.number(objecten.changed)] as const] : []),
      [text.problems, problems === null ? '-' : format.number(problems)],
    ])}</div>
${mostChangedTables(request, load)}<div class="card">${await exampleTable(request, load)}${changesLinks(request, load)}</div>
${approvalNote(request, load)}${other && !isRunning ? runningNote(request, other.since) : ''}${other || isRunning ? '' : act}
<p><a href="${registerPath}">${text.backTo.register}</a></p>`,
  };
}

/** Every change, in as many files as it takes; of a load without any the command line makes one. */
function changesLinks({ text, format }: PortalRequest, { load, changesFiles }: WaitingLoad): Html {
  if (changesFiles === 0) return html`<p>${text.allChangesText} <code>load plan --csv</code></p>`;
  const links = Array.from({ length: changesFiles }, (_, i) => {
    const number =
      changesFiles === 1
        ? ''
        : ` ${text.fileOf(format.number(i + 1), format.number(changesFiles))}`;
    return html`<a href="${pathOf(load)}/changes/${i + 1}">${text.allChanges}${number}</a>`;
  });
  return html`<p class="actions">${links}</p>`;
}

async function changesFile(request: PortalRequest): Promise<PageAnswer> {
  const { load = '', file = '' } = request.params;
  const loads = await loadsOf(request);
  if (!/^[1-9]\d{0,3}$/.test(file)) return notFoundPage(request.text, registerPath);
  const changes = await onRegister(request, () => loads.changes({ load, file: Number(file) }));
  return csvFile(`changes-${load}-${file}.csv`, changes);
}

function mostChangedTables(
  { text, format }: PortalRequest,
  { streets, woonplaatsen }: WaitingLoad,
): Html {
  const tableOf = (caption: string, places: WaitingLoad['streets']) => {
    const rows = places.map(({ name, changes }): Html[] => [name, format.number(changes)]);
    const head = [text.example.place, numbers(text.dataset.addresses)];
    return rows.length > 0 ? html`<div class="card">${scrollTable(caption, head, rows)}</div>` : '';
  };
  return html`<div class="columns">${tableOf(text.mostChanged.streets, streets)}${tableOf(text.mostChanged.places, woonplaatsen)}</div>`;
}

async function exampleTable({ text }: PortalRequest, { examples }: WaitingLoad): Promise<Html> {
  // Loaded here: it brings AWS clients that most visits do without.
  const { addressText } = await import('../../packages/admin/loads.ts');
  const kinds = ['removed', 'changed', 'added'] as const;
  const places = (given: string[] | null) => given?.join('; ') ?? '-';
  const rows = kinds.flatMap((kind) =>
    examples[kind].map(({ key, before, after }): Html[] => [
      text.changeKinds[kind],
      addressText(key),
      places(before),
      places(after),
    ]),
  );
  if (rows.length === 0) return html`<p>${text.noExamples}</p>`;
  const { address, before, after } = text.example;
  return scrollTable(text.examples, [text.history.change, address, before, after], rows);
}

/**
 * Names the proposal that the reader saw: what changed since is shown again rather than decided.
 */
async function decisionQuestion(request: PortalRequest, decision: LoadDecision): Promise<Page> {
  const { query, text, format } = request;
  const { load } = await waitingLoad(request);
  const { peildatum, added, changed, removed, objecten, proposal } = load;
  const cancel = pathOf(load.load);
  if (query.proposal !== proposal) return conflictPage(text, cancel);
  const counts = [added, changed, removed].map((count) => format.count(count, 'address'));
  const { question, explanation, yes } = text.decisions[decision];
  return confirmation(request, {
    title: question(format.day(peildatum)),
    explanation: explanation(
      text.changesOf(counts, objecten?.changed ? format.count(objecten.changed, 'address') : ''),
    ),
    action: request.path,
    yes,
    cancel,
    fields: hidden('proposal', proposal),
    isDanger: decision === 'reject',
  });
}

/** Sent twice, or by two people, it is one decision. */
async function decide(request: PortalRequest, decision: LoadDecision): Promise<PageAnswer> {
  const { form, params } = request;
  const loads = await loadsOf(request);
  const input = { load: params.load ?? '', proposal: form.proposal ?? '' };
  const { started } = await onRegister(request, () => loads[decision](input));
  const done = decision === 'approve' ? 'approved' : 'rejected';
  return { goTo: `${registerPath}?done=${done}${started ? '' : 'Before'}` };
}
