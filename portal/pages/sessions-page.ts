import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { SessionPage, SessionScope, SessionView } from '../../packages/admin/index.ts';
import { field, hidden } from '../../packages/ui/form-fields.ts';
import { pager, searchForm } from '../../packages/ui/list.ts';
import { type Html, scrollTable } from '../../packages/ui/table.ts';
import { type Page, type PageAnswer, serviceRoutes } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import { changesPart } from './history-page.ts';
import { leaveLink } from './members-page.ts';
import { attempt, confirmation, faulty, postForm } from './page-form.ts';
import { doneNote, homeOf, instantOf } from './page-parts.ts';

/** Signed-in people: one's own sessions and, for operators, everybody's sessions. */
export const sessionPages = serviceRoutes({
  'GET /sessions': ['home', ownPage],
  'POST /sessions': ['home', endOwn],
  'GET /operator/sessions': ['operator.view', everybodysPage],
  'POST /operator/sessions': ['session.end', endOthers],
  'GET /operator/sessions/end': ['session.end', question],
});

const ownPath = '/sessions';
const operatorPath = '/operator/sessions';

async function ownPage(request: PortalRequest): Promise<Page> {
  const { admin, format, people, person, text } = request;
  const accounts = await admin.members.accountsOf(people);
  const rows = accounts.map(({ account, role }): Html[] => [
    html`<a href="/accounts/${account}${homeOf(role)}">${account}</a>`,
    text.roles[role],
    leaveLink(request, account),
  ]);
  const memberships = scrollTable(
    text.yourAccounts,
    [text.about.account, text.membership.role, text.actions],
    rows,
  );
  const { sessions } = await admin.sessions.list({ person: person.subject });
  const table = sessionTable(request, text.yourSessions, sessions, (session) => {
    if (session.id === request.session) return '-';
    const label = `${text.signOutAt.one}: ${format.instant(session.started)}`;
    return html`<form method="post" action="${ownPath}">${request.formField}${hidden('one', handleOf(session))}<button class="button plain" aria-label="${label}">${text.signOutAt.one}</button></form>`;
  });
  const endAll = postForm(request, ownPath, '', { label: text.signOutAt.all, isDanger: true });
  return {
    title: text.yourSessions,
    body: html`${doneNote(request)}<div class="card">${table}</div>
${rows.length > 0 ? html`<div class="card">${memberships}</div>` : ''}
<div class="card"><h2>${text.signOutAt.all}</h2><p>${text.signOutAt.allText}</p>${endAll}</div>`,
  };
}

/** Names a session in a page without its id, which is a secret of its browser. */
function handleOf({ id }: SessionView): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

function sessionTable(
  request: PortalRequest,
  caption: string,
  sessions: readonly SessionView[],
  end?: (session: SessionView) => Html,
): Html {
  const { text } = request;
  if (sessions.length === 0) return html`<p>${text.noSessions}</p>`;
  const rows = sessions.map((session): Html[] => {
    const { id, name, people, browser, started, seen } = session;
    const isThis = id === request.session;
    return [
      html`${name}<br><span class="muted">${people.at(-1)}</span>`,
      html`${browserName(browser)}${isThis ? html` <span class="muted">(${text.session.thisSession})</span>` : ''}`,
      instantOf(request, started),
      instantOf(request, seen),
      ...(end ? [end(session)] : []),
    ];
  });
  const head = [
    text.session.person,
    text.session.browser,
    text.session.signedInSince,
    text.key.lastUsed,
  ];
  return scrollTable(caption, end ? [...head, text.actions] : head, rows);
}

/** The part of the header `User-Agent` that people recognise: `Firefox, Windows`. */
export function browserName(agent: string): string {
  const browsers = {
    Edge: /Edg/,
    Opera: /OPR/,
    Firefox: /Firefox/,
    Chrome: /Chrome|CriOS/,
    Safari: /Safari/,
  };
  const systems = {
    Android: /Android/,
    iOS: /iPhone|iPad/,
    Windows: /Windows/,
    macOS: /Mac OS/,
    Linux: /Linux/,
  };
  const found = [browsers, systems].map(
    (all) => Object.entries(all).find(([, form]) => form.test(agent))?.[0],
  );
  return found.filter(Boolean).join(', ') || agent.slice(0, 40) || '-';
}

/** One of one's own sessions, or all. One that has ended meanwhile is as it should be. */
async function endOwn({ admin, form, person }: PortalRequest): Promise<PageAnswer> {
  if (form.one !== undefined) {
    const { sessions } = await admin.sessions.list({ person: person.subject });
    const session = sessions.find((candidate) => handleOf(candidate) === form.one);
    if (session) await admin.sessions.end(person.subject, session.id);
    return { goTo: `${ownPath}?done=sessionEnded` };
  }
  await admin.sessions.endAll({ person: person.subject });
  return { goTo: '/' };
}

/**
 * The sessions of the person or the account that the page is asked for, else everybody's by page.
 */
async function everybodysPage(request: PortalRequest): Promise<PageAnswer> {
  const { admin, query } = request;
  const who = (query.who ?? '').trim();
  const asked = { ...request, form: { who } };
  const page = query.after ? { cursor: query.after } : {};
  return searchPage(asked, await ofScope(asked, () => admin.sessions.list(scopeOf(who), page)));
}

/** An account id has neither a colon nor an at sign; a person's name has one or the other. */
function scopeOf(who: string): SessionScope {
  if (who === '') return 'all';
  return /[:@]/.test(who) ? { person: who } : { account: who };
}

const searchAgain = (request: PortalRequest) => searchPage(request, { sessions: [], cursor: null });

function ofScope<T>(request: PortalRequest, work: () => Promise<T>): Promise<T> {
  const form = { show: searchAgain, field: 'who' };
  const own = { not_found: request.text.errors.account };
  return attempt(request, { back: operatorPath, about: 'personOrAccount', form, own }, work);
}

async function searchPage(
  request: PortalRequest,
  { sessions, cursor }: SessionPage,
): Promise<Page> {
  const { admin, form, text } = request;
  const who = form.who ?? '';
  const next = pager(request, { name: 'after', cursor });
  const end =
    sessions.length > 0
      ? html`<p><a class="button plain" href="${operatorPath}/end?who=${encodeURIComponent(who)}">${who === '' ? text.endSessions.everybodys : text.endSessions.these}</a></p>`
      : '';
  const signIns = await changesPart(request, admin.sessions.audit);
  const whose = field(request, {
    name: 'who',
    label: text.whoseSessions,
    hint: text.whoseSessionsHint,
  });
  return {
    title: text.operatorTabs.sessions,
    body: html`${doneNote(request)}<div class="card">${searchForm(operatorPath, whose, text.search)}</div>
<div class="card">${sessionTable(request, text.operatorTabs.sessions, sessions)}${next}${end}</div>
${signIns}`,
  };
}

function question(request: PortalRequest): Page {
  const { query, text } = request;
  const who = query.who ?? '';
  return confirmation(request, {
    title: who === '' ? text.endSessions.everybodys : `${text.endSessions.these}: ${who}`,
    explanation: text.endThemText,
    action: operatorPath,
    yes: text.endSessions.yes,
    cancel: operatorPath,
    fields: hidden('who', who),
  });
}

async function endOthers(request: PortalRequest): Promise<PageAnswer> {
  const { admin, form, text } = request;
  const { who } = form;
  // Without the field it would be everybody.
  if (who === undefined) {
    return faulty(request, { field: 'who', message: text.errors.personOrAccount }, searchAgain);
  }
  await ofScope(request, () => admin.sessions.endAll(scopeOf(who)));
  return { goTo: `${operatorPath}?done=sessionsEnded` };
}
