import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { type KeyView, labelAfter } from '../../packages/admin/index.ts';
import {
  type AccountVisit,
  type Html,
  may,
  ofAccount,
  type Page,
  type PageAnswer,
  type PageRoute,
} from '../visit/visit.ts';
import { curlLine } from './account.ts';
import { attempt, choice, faulty, field, hidden, postForm } from './form.ts';
import { actorName } from './history.ts';
import { type Column, listOf } from './list.ts';
import { codeBlock, doneNote, facts, faultPage, instantOf, notFoundPage, stateTag } from './parts.ts';

/** Creating, listing, replacing and revoking keys. A key is on the page that answers its creation, and nowhere else. */
export const keyPages: readonly PageRoute[] = [
  ofAccount('GET', '/keys', 'account.view', listPage),
  ofAccount('POST', '/keys', 'key.change', create),
  ofAccount('GET', '/keys/:key/rotate', 'key.change', withKey(rotatePage)),
  ofAccount('POST', '/keys/:key/rotate', 'key.change', withKey(rotate)),
  ofAccount('GET', '/keys/:key/revoke', 'key.change', withKey(revokePage)),
  ofAccount('POST', '/keys/:key/revoke', 'key.change', withKey(revoke)),
];

const pathOf = ({ account }: AccountVisit) => `/accounts/${account}/keys`;
const nameOf = ({ label, keyId }: KeyView) => label ?? keyId;

async function listPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, role, text } = visit;
  const keys = await admin.keys.list(account);
  const canChange = may(role, 'key.change');
  const columns: Column<KeyView>[] = [
    { name: 'label', label: text.label, show: ({ label }) => label ?? '-', sort: nameOf },
    { name: 'id', label: text.keyId, show: ({ keyId }) => html`<code>${keyId}</code>` },
    { name: 'state', label: text.state, show: (key) => stateOf(visit, key), sort: ({ state }) => state },
    {
      name: 'created',
      label: text.created,
      show: (key) => instantOf(visit, key.created),
      sort: (key) => key.created ?? '',
    },
    { name: 'used', label: text.lastUsed, show: (key) => lastUsed(visit, key), sort: (key) => key.lastUsed ?? '' },
    ...(canChange ? [{ name: 'actions', label: text.actions, show: (key: KeyView) => actionsOn(visit, key) }] : []),
  ];
  const list = listOf(visit, {
    caption: text.keys,
    columns,
    rows: keys.toReversed(),
    words: ({ label, keyId }) => `${label} ${keyId}`,
    hidden: { label: text.revokedKeys, isHidden: ({ state }) => state === 'revoked' },
    none: text.noKeys,
  });
  return {
    title: text.keys,
    body: html`${doneNote(visit)}<div class="card">${list}</div>
${canChange ? html`<div class="card"><h2>${text.createKey}</h2><p>${text.createKeyText}</p>${createForm(visit)}</div>` : ''}`,
  };
}

/** The state, and until when a key works that expires or is being replaced. */
function stateOf(visit: AccountVisit, { state, expires, replacedBy }: KeyView): Html {
  const { text } = visit;
  const until =
    state === 'active' && expires !== null
      ? html`<br><span class="muted">${text.worksUntil} ${instantOf(visit, expires)}</span>`
      : '';
  const successor =
    state !== 'revoked' && replacedBy !== null
      ? html`<br><span class="muted">${text.replacedBy} <code>${replacedBy}</code></span>`
      : '';
  return html`${stateTag(state, text)}${until}${successor}`;
}

function lastUsed({ format, text }: AccountVisit, key: KeyView): Html {
  return key.lastUsed ? format.day(key.lastUsed) : text.notUsed;
}

function actionsOn(visit: AccountVisit, key: KeyView): Html {
  const { text } = visit;
  if (key.state === 'revoked') return '';
  const link = (what: 'rotate' | 'revoke') =>
    html`<a href="${pathOf(visit)}/${key.keyId}/${what}" aria-label="${text[what]}: ${nameOf(key)}">${text[what]}</a>`;
  const canReplace = key.state === 'active' && key.replacedBy === null;
  return html`<span class="actions">${canReplace ? link('rotate') : ''}${link('revoke')}</span>`;
}

/** The token in a form makes sure that sending it twice creates one key. */
const onceField = () => hidden('once', randomUUID());

const labelLength = 64;

function createForm(visit: AccountVisit): Html {
  const { text, tools } = visit;
  const min = new Date(tools.now() + 86_400_000).toISOString().slice(0, 10);
  const fields = html`${onceField()}${field(visit, { name: 'label', label: text.label, hint: text.labelHint, maxLength: labelLength, required: true })}
${field(visit, { name: 'expires', label: text.expires, hint: text.expiresHint, type: 'date', min })}`;
  return postForm(visit, pathOf(visit), fields, { label: text.createKey });
}

async function create(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form, text, tools } = visit;
  const { label = '', once = '', expires = '' } = form;
  const day = expires === '' ? undefined : new Date(expires);
  const isPast = day !== undefined && !(day.getTime() > tools.now());
  if (isPast) return faulty(visit, { field: 'expires', message: text.errors.expires }, listPage);
  const input = { account, label, token: once, ...(day && { expires: day }) };
  const { key } = await attempt(
    visit,
    {
      back: pathOf(visit),
      about: 'label',
      form: { show: listPage, field: 'label' },
      own: { already_created: createdBefore(visit) },
    },
    () => admin.keys.create(input),
  );
  return newKeyPage(visit, key, '');
}

function createdBefore(visit: AccountVisit): Page {
  const { keyExists: title, keyExistsText: explanation } = visit.text;
  return faultPage(visit.text, { title, explanation, back: pathOf(visit), status: 409 });
}

function newKeyPage(visit: AccountVisit, key: string, replaced: Html): Page {
  const { text, tools } = visit;
  return {
    title: text.keyMade,
    body: html`<div class="card"><p>${text.keyMadeText}</p>${codeBlock(text.keyMade, key, 'key')}</div>
<div class="card"><h2>${text.tryIt}</h2>${codeBlock('curl', curlLine(tools.settings.apiUrl, key), 'curl')}</div>
${replaced}<p><a href="${pathOf(visit)}">${text.back}</a></p>`,
  };
}

/** A page about the key that its path names. */
function withKey(show: (visit: AccountVisit, key: KeyView) => Promise<PageAnswer>) {
  return async (visit: AccountVisit): Promise<PageAnswer> => {
    const { admin, account, params, text } = visit;
    const key = (await admin.keys.list(account)).find(({ keyId }) => keyId === params.key);
    return key ? show(visit, key) : notFoundPage(text, pathOf(visit));
  };
}

/** How many days of use the pages say before a key is replaced or revoked. */
const recentDays = 7;

/** The lookups of a key in the last days, today included. */
async function recentUse({ admin, account, tools }: AccountVisit, { keyId }: KeyView): Promise<number> {
  const from = new Date(tools.now() - (recentDays - 1) * 86_400_000).toISOString().slice(0, 10);
  const { keys } = await admin.accounts.usageByKey(account, { from });
  return keys.find((key) => key.keyId === keyId)?.lookups ?? 0;
}

/** Everything by which somebody can tell this key from another one. */
function factsOf(visit: AccountVisit, key: KeyView, recent: number): Html {
  const { text, format } = visit;
  return facts([
    [text.label, key.label ?? '-'],
    [text.keyId, html`<code>${key.keyId}</code>`],
    [text.state, stateOf(visit, key)],
    [text.created, instantOf(visit, key.created)],
    [text.createdBy, key.createdBy === null ? '-' : actorName(visit, key.createdBy)],
    [text.lastUsed, recent > 0 && key.lastUsed === null ? text.today : lastUsed(visit, key)],
    [text.recentLookups(recentDays), format.number(recent)],
  ]);
}

/** How long the old key goes on working, in hours. */
const graceHours = [1, 24, 168, 720] as const;

async function rotatePage(visit: AccountVisit, key: KeyView): Promise<Page> {
  const { text } = visit;
  const value = labelAfter(key.label ?? key.keyId);
  const options = graceHours.map((hours) => [String(hours), text.graces[hours]] as const);
  const fields = html`${onceField()}${field(visit, { name: 'label', label: text.newLabel, hint: text.labelHint, value, maxLength: labelLength, required: true })}
${choice(visit, { name: 'grace', label: text.grace, options, value: '24' })}`;
  const form = postForm(visit, visit.path, fields, { label: text.rotateYes, cancel: pathOf(visit) });
  return {
    title: text.rotateKey(nameOf(key)),
    body: html`<div class="card">${factsOf(visit, key, await recentUse(visit, key))}</div><div class="card"><p>${text.rotateText}</p>${form}</div>`,
  };
}

async function rotate(visit: AccountVisit, key: KeyView): Promise<PageAnswer> {
  const { admin, account, form, text, tools } = visit;
  const { label = '', once = '' } = form;
  const hours = graceHours.find((one) => String(one) === form.grace) ?? 24;
  const ends = new Date((Math.floor(tools.now() / 1000) + hours * 3600) * 1000);
  const made = await attempt(
    visit,
    {
      back: pathOf(visit),
      about: 'label',
      form: { show: (again) => rotatePage(again, key), field: 'label' },
      own: { already_created: createdBefore(visit), too_many_keys: text.errors.tooManyReplaced },
    },
    () => admin.keys.rotate({ account, keyId: key.keyId, label, ends, token: once }),
  );
  const { replaced } = made;
  const old = html`<div class="card"><h2>${text.oldKey}</h2><p>${text.oldKeyText(nameOf(key), replaced.keyId)} ${instantOf(visit, replaced.ends)}.</p></div>`;
  return newKeyPage(visit, made.key, old);
}

const isInUse = ({ state, lastUsed }: KeyView, recent: number) =>
  state === 'active' && (lastUsed !== null || recent > 0);

async function revokePage(visit: AccountVisit, key: KeyView): Promise<Page> {
  const { text } = visit;
  const recent = await recentUse(visit, key);
  const back = pathOf(visit);
  if (key.state === 'revoked')
    return {
      title: text.keys,
      body: html`<p class="note good">${text.alreadyRevoked}</p><p><a href="${back}">${text.back}</a></p>`,
    };
  const confirm = isInUse(key, recent)
    ? field(visit, { name: 'confirm', label: text.keyId, hint: text.confirmIdHint, maxLength: 8, required: true })
    : '';
  const form = postForm(visit, visit.path, confirm, { label: text.revokeYes, isDanger: true, cancel: back });
  return {
    title: text.revokeKey(nameOf(key)),
    body: html`<div class="card">${factsOf(visit, key, recent)}</div><div class="card"><p>${text.revokeText}</p>${form}</div>`,
  };
}

/** Revoking again is harmless, so a form that is sent twice, or by two people, says the same. */
async function revoke(visit: AccountVisit, key: KeyView): Promise<PageAnswer> {
  const { admin, account, form, text } = visit;
  const { keyId } = key;
  if (form.confirm !== keyId && isInUse(key, await recentUse(visit, key)))
    return faulty(visit, { field: 'confirm', message: text.errors.confirmId }, (again) => revokePage(again, key));
  const back = pathOf(visit);
  await attempt(visit, { back, about: 'notFoundText' }, () => admin.keys.revoke({ account, keyId }));
  return { goTo: `${back}?done=revoked` };
}
