import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import type { KeyView } from '../../packages/admin/index.ts';
import { type AccountVisit, type Html, may, type Page, type PageAnswer, type PageRoute } from '../visit/visit.ts';
import { copyButton, curlLine } from './account.ts';
import {
  changing,
  confirmation,
  doneNote,
  faultPage,
  instantOf,
  invalidPage,
  notFoundPage,
  postForm,
  scrollTable,
  stateTag,
} from './parts.ts';

/** Creating, listing, replacing and revoking keys. A key is on the page that answers its creation, and nowhere else. */
export const keyPages: readonly PageRoute[] = [
  { of: 'account', method: 'GET', path: '/accounts/:account/keys', action: 'account.view', handle: listPage },
  { of: 'account', method: 'POST', path: '/accounts/:account/keys', action: 'key.change', handle: createPage },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/keys/:key/rotate',
    action: 'key.change',
    handle: (visit) => withKey(visit, (key) => rotatePage(visit, key)),
  },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/keys/:key/revoke',
    action: 'key.change',
    handle: (visit) => withKey(visit, (key) => revokeQuestion(visit, key)),
  },
  { of: 'account', method: 'POST', path: '/accounts/:account/keys/:key/revoke', action: 'key.change', handle: revoke },
];

const pathOf = ({ account }: AccountVisit) => `/accounts/${account}/keys`;
const nameOf = ({ label, keyId }: KeyView) => label ?? keyId;

async function listPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, role, text } = visit;
  const keys = await admin.keys.list(account);
  const canChange = may(role, 'key.change');
  const hasUse = keys.some((key) => 'lastUsed' in key);
  const rows = keys
    .toReversed()
    .map((key): Html[] => [
      key.label ?? '-',
      html`<code>${key.keyId}</code>`,
      stateTag(key.state, text),
      instantOf(visit, key.created),
      key.expires === null ? text.never : instantOf(visit, key.expires),
      ...(hasUse ? [lastUsed(visit, key)] : []),
      ...(canChange ? [actionsOn(visit, key)] : []),
    ]);
  const head = [
    text.label,
    text.keyId,
    text.state,
    text.created,
    text.expires,
    ...(hasUse ? [text.lastUsed] : []),
    ...(canChange ? [text.actions] : []),
  ];
  return {
    title: text.keys,
    body: html`${doneNote(visit)}
<div class="card">${keys.length > 0 ? scrollTable(text.keys, head, rows) : html`<p>${text.noKeys}</p>`}</div>
${canChange ? html`<div class="card"><h2>${text.createKey}</h2><p>${text.createKeyText}</p>${createForm(visit)}</div>` : ''}`,
  };
}

function lastUsed({ format }: AccountVisit, key: KeyView & { lastUsed?: string | null }): Html {
  return key.lastUsed ? format.day(key.lastUsed) : '-';
}

function actionsOn(visit: AccountVisit, key: KeyView): Html {
  const { text } = visit;
  if (key.state === 'revoked') return '';
  const link = (what: 'rotate' | 'revoke') =>
    html`<a href="${pathOf(visit)}/${key.keyId}/${what}" aria-label="${text[what]}: ${nameOf(key)}">${text[what]}</a>`;
  return html`<span class="actions">${key.state === 'active' ? link('rotate') : ''}${link('revoke')}</span>`;
}

/** The token in the form makes sure that sending it twice creates one key. */
function createForm(visit: AccountVisit, label = '', replaces = ''): Html {
  const { text, tools } = visit;
  const tomorrow = new Date(tools.now() + 86_400_000).toISOString().slice(0, 10);
  return postForm(
    visit,
    pathOf(visit),
    html`<input type="hidden" name="once" value="${randomUUID()}"><input type="hidden" name="replaces" value="${replaces}">
<label for="label">${text.label}</label><p class="hint" id="label-hint">${text.labelHint}</p>
<input id="label" name="label" value="${label}" required maxlength="64" autocomplete="off" aria-describedby="label-hint">
<label for="expires">${text.expires}</label><p class="hint" id="expires-hint">${text.expiresHint}</p>
<input id="expires" name="expires" type="date" min="${tomorrow}" aria-describedby="expires-hint">
<div><button class="button">${text.createKey}</button></div>`,
  );
}

async function createPage(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form, text, tools } = visit;
  const back = pathOf(visit);
  const { label = '', once = '', replaces = '', expires = '' } = form;
  const day = expires === '' ? undefined : new Date(expires);
  const isPast = day !== undefined && !(day.getTime() > tools.now());
  if (isPast) return invalidPage(text, back, text.errors.expires);
  const twice = faultPage(text, { title: text.keyExists, explanation: text.keyExistsText, back, status: 409 });
  const input = { account, label, token: once, ...(day && { expires: day }) };
  const made = await changing(text, back, 'label', () => admin.keys.create(input), { already_created: twice });
  return 'fault' in made ? made.fault : newKeyPage(visit, made.result, replaces);
}

function newKeyPage(visit: AccountVisit, { key, keyId }: { key: string; keyId: string }, replaces: string): Page {
  const { text, tools } = visit;
  const isRotation = /^[0-9A-Za-z]{8}$/.test(replaces) && replaces !== keyId;
  const next = isRotation
    ? html`<div class="card"><h2>${text.rotateStep2}</h2><p>${text.rotateStep2Text}</p><p><a class="button" href="${pathOf(visit)}/${replaces}/revoke">${text.rotateStep2}</a></p></div>`
    : '';
  return {
    title: text.keyMade,
    body: html`<div class="card"><p>${text.keyMadeText}</p><pre><code class="key" id="key">${key}</code></pre>${copyButton(text, 'key')}</div>
<div class="card"><h2>${text.tryIt}</h2><pre><code id="curl">${curlLine(tools.settings.apiUrl, key)}</code></pre></div>
${next}<p><a href="${pathOf(visit)}">${text.back}</a></p>`,
  };
}

async function withKey(visit: AccountVisit, show: (key: KeyView) => Page): Promise<Page> {
  const { admin, account, c, text } = visit;
  const key = (await admin.keys.list(account)).find(({ keyId }) => keyId === c.req.param('key'));
  return key ? show(key) : notFoundPage(text, pathOf(visit));
}

function rotatePage(visit: AccountVisit, key: KeyView): Page {
  const { text } = visit;
  return {
    title: text.rotateKey(nameOf(key)),
    body: html`<div class="card"><h2>${text.rotateStep1}</h2><p>${text.rotateStep1Text}</p>${createForm(visit, key.label ?? '', key.keyId)}</div>
<p><a href="${pathOf(visit)}">${text.back}</a></p>`,
  };
}

function revokeQuestion(visit: AccountVisit, key: KeyView): Page {
  const { text } = visit;
  const back = pathOf(visit);
  if (key.state === 'revoked')
    return {
      title: text.keys,
      body: html`<p class="note good">${text.alreadyRevoked}</p><p><a href="${back}">${text.back}</a></p>`,
    };
  return confirmation(visit, {
    title: text.revokeKey(nameOf(key)),
    explanation: text.revokeText,
    action: `${back}/${key.keyId}/revoke`,
    yes: text.revokeYes,
    cancel: back,
  });
}

/** Revoking again is harmless, so a form that is sent twice, or by two people, says the same. */
async function revoke(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, c, text } = visit;
  const keyId = c.req.param('key') ?? '';
  const done = await changing(text, pathOf(visit), 'notFoundText', () => admin.keys.revoke({ account, keyId }));
  return 'fault' in done ? done.fault : { goTo: `${pathOf(visit)}?done=revoked` };
}
