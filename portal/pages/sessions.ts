import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { SessionScope, SessionView } from '../../packages/admin/index.ts';
import type { Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { type FormOf, faulty, field, saving } from './form.ts';
import { changesPart } from './history.ts';
import { listOf } from './list.ts';
import { confirmation, doneNote, instantOf, postForm } from './parts.ts';

/** Who is signed in: one's own sessions, and for operators those of everybody. */
export const sessionPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/sessions', action: 'home', handle: ownPage },
  { of: 'service', method: 'POST', path: '/sessions', action: 'home', handle: endOwn },
  { of: 'service', method: 'GET', path: '/operator/sessions', action: 'operator.view', handle: everybodysPage },
  { of: 'service', method: 'POST', path: '/operator/sessions', action: 'session.end', handle: endOthers },
  {
    of: 'service',
    method: 'GET',
    path: '/operator/sessions/end',
    action: 'session.end',
    handle: async (visit) => question(visit),
  },
];

const ownPath = '/sessions';
const operatorPath = '/operator/sessions';

async function ownPage(visit: Visit): Promise<Page> {
  const { admin, person, text } = visit;
  const { sessions } = await admin.sessions.list({ person: person.subject });
  const table = sessionList(visit, sessions, text.yourSessions, (session) =>
    session.id === visit.session
      ? '-'
      : postForm(
          visit,
          ownPath,
          html`<input type="hidden" name="one" value="${handleOf(session)}"><button class="button plain" aria-label="${text.endOne}: ${visit.format.instant(session.started)}">${text.endOne}</button>`,
        ),
  );
  return {
    title: text.sessions,
    body: html`${doneNote(visit)}<div class="card"><p>${text.sessionsText}</p>${table}</div>
<div class="card"><h2>${text.endAllSessions}</h2><p>${text.endAllSessionsText}</p>${postForm(visit, ownPath, html`<div><button class="button danger">${text.endAllSessions}</button></div>`)}</div>`,
  };
}

/** Names a session in a page without its id, which is a secret of its browser. */
function handleOf({ id }: SessionView): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

function sessionList(
  visit: Visit,
  sessions: readonly SessionView[],
  caption: string,
  end?: (session: SessionView) => Html,
): Html {
  const { text } = visit;
  return listOf(visit, {
    caption,
    columns: [
      {
        name: 'person',
        label: text.person,
        show: ({ people, name }) => html`${name}<br><span class="muted">${people.at(-1)}</span>`,
        sort: ({ name }) => name,
      },
      {
        name: 'browser',
        label: text.browser,
        show: ({ id, browser }) =>
          html`${browserName(browser)}${id === visit.session ? html` <span class="muted">(${text.thisSession})</span>` : ''}`,
      },
      {
        name: 'started',
        label: text.signedInSince,
        show: ({ started }) => instantOf(visit, started),
        sort: ({ started }) => started,
      },
      { name: 'seen', label: text.lastSeen, show: ({ seen }) => instantOf(visit, seen), sort: ({ seen }) => seen },
      ...(end ? [{ name: 'end', label: text.actions, show: end }] : []),
    ],
    rows: sessions,
    words: ({ name, people, browser }) => `${name} ${people.join(' ')} ${browser}`,
    none: text.noSessions,
  });
}

/** `Firefox, Windows`: what a person recognises of the header `User-Agent`. */
export function browserName(agent: string): string {
  const browsers = [/Edg/, /OPR/, /Firefox/, /Chrome|CriOS/, /Safari/];
  const names = ['Edge', 'Opera', 'Firefox', 'Chrome', 'Safari'];
  const systems = [/Android/, /iPhone|iPad/, /Windows/, /Mac OS/, /Linux/];
  const systemNames = ['Android', 'iOS', 'Windows', 'macOS', 'Linux'];
  const found = (patterns: RegExp[], all: string[]) => all[patterns.findIndex((pattern) => pattern.test(agent))];
  return [found(browsers, names), found(systems, systemNames)].filter(Boolean).join(', ') || agent.slice(0, 40) || '-';
}

/** One of one's own sessions, or all. One that has ended meanwhile is as it should be. */
async function endOwn({ admin, form, person }: Visit): Promise<PageAnswer> {
  if (form.one !== undefined) {
    const { sessions } = await admin.sessions.list({ person: person.subject });
    const session = sessions.find((one) => handleOf(one) === form.one);
    if (session) await admin.sessions.end(person.subject, session.id);
    return { goTo: `${ownPath}?done=sessionEnded` };
  }
  await admin.sessions.endAll({ person: person.subject });
  return { goTo: '/' };
}

/** Of a person or an account if the page is asked for one, else everybody's by page. */
async function everybodysPage(visit: Visit): Promise<PageAnswer> {
  const { admin, c, text } = visit;
  const who = (c.req.query('who') ?? '').trim();
  const after = c.req.query('after');
  const of = {
    show: () => searchPage(visit, { sessions: [], cursor: null }),
    field: 'who',
    about: 'personOrAccount',
    back: operatorPath,
  } as const;
  const found = await saving(
    { ...visit, form: { who } },
    of,
    () => admin.sessions.list(scopeOf(who), after ? { cursor: after } : {}),
    { not_found: text.errors.account },
  );
  return 'fault' in found ? found.fault : searchPage({ ...visit, form: { who } }, found.result);
}

/** An account id has no colon and no at sign; a person has one of them. */
function scopeOf(who: string): SessionScope {
  if (who === '') return 'all';
  return /[:@]/.test(who) ? { person: who } : { account: who };
}

async function searchPage(
  visit: Visit,
  { sessions, cursor }: { sessions: SessionView[]; cursor: string | null },
): Promise<Page> {
  const { admin, form, text } = visit;
  const who = form.who ?? '';
  const next = cursor ? html`<p><a href="${operatorPath}?after=${cursor}">${text.next}</a></p>` : '';
  const end =
    sessions.length > 0
      ? html`<p><a class="button plain" href="${operatorPath}/end?who=${encodeURIComponent(who)}">${who === '' ? text.endEverybodys : text.endThese}</a></p>`
      : '';
  const signIns = await changesPart(visit, operatorPath, admin.sessions.auditPage);
  return {
    title: text.sessions,
    body: html`${doneNote(visit)}<div class="card"><form method="get" action="${operatorPath}" role="search">${field(visit, { name: 'who', label: text.whoseSessions, hint: text.whoseSessionsHint })}<div><button class="button">${text.search}</button></div></form></div>
<div class="card">${sessionList(visit, sessions, text.sessions)}${next}${end}</div>
${signIns}`,
  };
}

function question(visit: Visit): Page {
  const { c, text } = visit;
  const who = c.req.query('who') ?? '';
  return confirmation(visit, {
    title: who === '' ? text.endEverybodys : `${text.endThese}: ${who}`,
    explanation: text.endThemText,
    action: operatorPath,
    yes: text.endThemYes,
    cancel: operatorPath,
    hidden: html`<input type="hidden" name="who" value="${who}">`,
  });
}

async function endOthers(visit: Visit): Promise<PageAnswer> {
  const { admin, form, text } = visit;
  const of: FormOf<Visit> = {
    show: (again) => searchPage(again, { sessions: [], cursor: null }),
    field: 'who',
    about: 'personOrAccount',
    back: operatorPath,
  };
  // Without the field it would be everybody.
  if (form.who === undefined) return faulty(visit, { field: 'who', message: text.errors.personOrAccount }, of.show);
  const scope = scopeOf(form.who);
  const done = await saving(visit, of, () => admin.sessions.endAll(scope), { not_found: text.errors.account });
  return 'fault' in done ? done.fault : { goTo: `${operatorPath}?done=sessionsEnded` };
}
