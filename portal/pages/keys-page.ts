import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import * as z from 'zod/mini';
import { AdminError, dutchTime, type KeyView, labelAfter } from '../../packages/admin/index.ts';
import { choice, field, hidden } from '../../packages/ui/form-fields.ts';
import { type Column, chosenFields, chosenIn, listOf } from '../../packages/ui/list.ts';
import { aside, definitionList, type Html, scrollTable } from '../../packages/ui/table.ts';
import {
  accountRoutes,
  may,
  OtherPage,
  type Page,
  type PageAnswer,
} from '../request/page-routes.ts';
import type { AccountRequest } from '../request/portal-request.ts';
import { curlLine } from './account-page.ts';
import { findKeyForm } from './find-key-page.ts';
import { actorName } from './history-page.ts';
import { attempt, faulty, postForm, readLimit, readSeen, seenField } from './page-form.ts';
import {
  codeBlock,
  doneNote,
  faultPage,
  instantOf,
  invalidPage,
  notFoundPage,
  stateTag,
  untilOf,
} from './page-parts.ts';

/**
 * Creating, listing, limiting, replacing and revoking keys. A key is on the page that answers its
 * creation, and nowhere else.
 */
export const keyPages = accountRoutes({
  'GET /keys': ['account.view', listPage],
  'POST /keys': ['key.change', create],
  'GET /keys/:key': ['account.view', withKey(keyPage)],
  'GET /keys/:key/limit': ['key.change', withKey(keyPage)],
  'POST /keys/:key/limit': ['key.change', withKey(setLimit)],
  'GET /keys/:key/rotate': ['key.change', withKey(keyPage)],
  'POST /keys/:key/rotate': ['key.change', withKey(rotate)],
  'GET /keys/:key/revoke': ['key.change', withKey(revokePage)],
  'POST /keys/:key/revoke': ['key.change', withKey(revoke)],
  'GET /rotate-keys': ['key.change', severalPage],
  'POST /rotate-keys': ['key.change', rotateSeveral],
});

const pathOf = ({ account }: AccountRequest) => `/accounts/${account}/keys`;
const nameOf = ({ label, keyId }: KeyView) => label ?? keyId;
const hasLimit = ({ state, limitPerDay }: KeyView) => state !== 'revoked' && limitPerDay !== null;
const canRotate = ({ state, replacedBy }: KeyView) => state === 'active' && replacedBy === null;

async function listPage(request: AccountRequest): Promise<Page> {
  const { admin, account, role, text } = request;
  const keys = await admin.keys.list(account);
  const canChange = may(role, 'key.change');
  const columns: Column<KeyView>[] = [
    { name: 'label', label: text.key.label, show: (key) => keyLink(request, key), sort: nameOf },
    {
      name: 'state',
      label: text.about.state,
      place: 'aside',
      show: (key) => stateOf(request, key),
    },
    {
      name: 'created',
      label: text.about.created,
      place: 'minor',
      show: (key) => instantOf(request, key.created),
    },
    {
      name: 'used',
      label: text.key.lastUsed,
      show: (key) => lastUsed(request, key),
      sort: (key) => key.lastUsed ?? '',
    },
    // Few accounts have one.
    ...(keys.some(hasLimit)
      ? [
          {
            name: 'limit',
            label: text.key.limit,
            show: (key: KeyView) => (hasLimit(key) ? limitOf(request, key) : ''),
          },
        ]
      : []),
    ...(canChange
      ? [
          {
            name: 'actions',
            label: text.actions,
            place: 'plain' as const,
            show: (key: KeyView) => actionsOn(request, key),
          },
        ]
      : []),
  ];
  const choice = {
    action: `/accounts/${account}/rotate-keys`,
    label: text.rotateChosen,
    nameOf: ({ keyId }: KeyView) => keyId,
    canChoose: canRotate,
  };
  const list = listOf(request, {
    caption: text.keys,
    columns,
    rows: keys.toReversed(),
    words: ({ label, keyId }) => `${label} ${keyId}`,
    hidden: { label: text.revokedKeys, isHidden: ({ state }) => state === 'revoked' },
    ...(canChange && { choice }),
    none: text.noKeys,
  });
  return {
    title: text.keys,
    body: html`${doneNote(request)}${canChange ? createKeyCard(request, text.createKey) : ''}
<div class="card keys">${list}<p class="muted">${text.keyIdPlace} ${idInKey(request, keys.at(-1)?.keyId)}</p></div>
${await oldKeys(request, keys)}${findKeyForm(request)}`,
  };
}

export const keyLink = (
  request: AccountRequest,
  { keyId, label }: Pick<KeyView, 'keyId' | 'label'>,
): Html =>
  html`<span class="key"><a href="${pathOf(request)}/${keyId}" title="${label ?? '-'}">${label ?? '-'}</a> <code>${keyId}</code></span>`;

/**
 * The keys that are being replaced, with what still uses them: that has to change before they end.
 */
async function oldKeys(request: AccountRequest, keys: readonly KeyView[]): Promise<Html> {
  const { admin, account, text, format } = request;
  const old = keys.filter(({ state, replacedBy }) => state === 'active' && replacedBy !== null);
  if (old.length === 0) return '';
  const { keys: used } = await admin.accounts.usageByKey(account);
  const rows = old.map((key): Html[] => {
    const since = keys.find(({ keyId }) => keyId === key.replacedBy)?.created?.slice(0, 10) ?? '';
    const days =
      used.find(({ keyId }) => keyId === key.keyId)?.days.filter(({ date }) => date >= since) ?? [];
    const lookups = days.reduce((sum, day) => sum + day.lookups, 0);
    const last = days.at(-1)?.date;
    const use = last
      ? html`${text.since(format.day(since))}: ${format.number(lookups)}`
      : text.keyUse.notUsed;
    const end = key.expires === null ? '-' : untilOf(request, key.expires);
    return [
      keyLink(request, key),
      html`<span class="tag ${last ? 'warn' : 'good'}">${last ? text.stillUsed : text.keyUse.notUsed}</span>`,
      use,
      end,
    ];
  });
  const head = [text.oldKey, aside(text.about.state), text.sum.lookups, text.key.expires];
  return html`<div class="card">${scrollTable(text.oldKeys, head, rows)}<p class="muted">${text.oldKeysText}</p></div>`;
}

/** An example that shows the id's position in a key. */
const idInKey = ({ account }: AccountRequest, keyId = 'b9uDEGM7') =>
  html`<code>bagadres_${account}_<strong>${keyId}</strong>...</code>`;

/** The state, and until when a key works that expires or is being replaced. */
function stateOf(request: AccountRequest, { state, expires, replacedBy }: KeyView): Html {
  const { text } = request;
  const until =
    state === 'active' && expires !== null
      ? html` <span class="muted">${untilOf(request, expires)}</span>`
      : '';
  const successor =
    state !== 'revoked' && replacedBy !== null
      ? html` <span class="muted">${text.replacedBy} <code>${replacedBy}</code></span>`
      : '';
  return html`${stateTag(state, text)}${until}${successor}`;
}

/** The limit of a key for a day, and its lookups of today. */
function limitOf({ text, format }: AccountRequest, { limitPerDay, usedToday }: KeyView): string {
  return limitPerDay === null
    ? text.quota.unlimited
    : text.usedShare(format.number(usedToday), format.number(limitPerDay));
}

function lastUsed({ format, text }: AccountRequest, key: KeyView): Html {
  return key.lastUsed ? format.day(key.lastUsed) : text.keyUse.never;
}

function actionsOn(request: AccountRequest, key: KeyView): Html {
  const { text } = request;
  if (key.state === 'revoked') return '';
  const link = (what: 'rotate' | 'revoke') =>
    html`<a href="${pathOf(request)}/${key.keyId}/${what}" aria-label="${text[what]}: ${nameOf(key)}">${text[what]}</a>`;
  return html`<details class="more" name="more"><summary aria-label="${text.actions}: ${nameOf(key)}">${text.actions}</summary><div>${canRotate(key) ? link('rotate') : ''}${link('revoke')}</div></details>`;
}

/** The token in a form makes sure that sending it twice creates one key. */
const onceField = () => hidden('once', randomUUID());

const labelLength = 64;

/** The form for another key, or for the first one. */
export function createKeyCard(request: AccountRequest, heading: string): Html {
  const { text, tools } = request;
  const min = new Date(tools.now()).toISOString().slice(0, 10);
  const fields = html`${onceField()}<div class="fields">${field(request, { name: 'label', label: text.key.label, hint: text.labelHint, maxLength: labelLength, required: true })}
${field(request, { name: 'expires', label: text.key.expires, hint: text.expiresHint, type: 'date', min })}
${limitField(request)}</div>`;
  const form = postForm(request, pathOf(request), fields, { label: text.createKey });
  return html`<div class="card"><h2>${heading}</h2><p>${text.createKeyText}</p>${form}</div>`;
}

/** The field of the limit of a key, which has this one. */
function limitField(request: AccountRequest, limitPerDay: number | null = null): Html {
  const { text } = request;
  const value = limitPerDay === null ? '' : String(limitPerDay);
  return field(request, { name: 'limit', label: text.key.limit, hint: text.keyLimitHint, value });
}

/** The limit in that field; an empty one is none. `undefined` if it is no limit. */
function givenLimit(request: AccountRequest): number | null | undefined {
  const { limit = '' } = request.form;
  return limit === '' ? null : readLimit(request, limit);
}

async function create(request: AccountRequest): Promise<PageAnswer> {
  const { admin, account, form, text, tools } = request;
  const { label = '', once = '', expires = '' } = form;
  const end = expires === '' ? undefined : dutchTime.endOfDay(expires);
  const isPast = expires !== '' && !(end && end.getTime() > tools.now());
  if (isPast) return faulty(request, { field: 'expires', message: text.errors.expires }, listPage);
  const limitPerDay = givenLimit(request);
  if (limitPerDay === undefined) return wrongLimit(request, listPage);
  const input = { account, label, token: once, limitPerDay, ...(end && { expires: end }) };
  const made = await attempt(request, ofLabel(request, listPage), () => admin.keys.create(input));
  return newKeyPage(
    request,
    { ...made, label, limitPerDay, expires: end?.toISOString() ?? null },
    '',
  );
}

const wrongLimit = (request: AccountRequest, show: (again: AccountRequest) => Promise<Page>) =>
  faulty(request, { field: 'limit', message: request.text.errors.limit }, show);

/**
 * How a new key that is refused is answered: in its form, or on a page if the form was sent before.
 */
function ofLabel(request: AccountRequest, show: (again: AccountRequest) => Promise<Page>) {
  const { text } = request;
  const { keyExists: title, keyExistsText: explanation } = text;
  const back = pathOf(request);
  const already_created = faultPage(text, { title, explanation, back, status: 409 });
  return {
    back,
    about: 'label',
    form: { show, field: 'label' },
    own: { already_created },
  } as const;
}

type NewKey = Pick<KeyView, 'keyId' | 'expires' | 'limitPerDay'> & { key: string; label: string };

function newKeyPage(request: AccountRequest, made: NewKey, replaced: Html): Page {
  const { text, tools } = request;
  return {
    title: text.keyMade,
    body: html`<div class="card"><p>${text.keyMadeText}</p>${newKey(request, made, text.keyMade, 'key')}</div>
<div class="card"><h2>${text.call.tryIt}</h2>${codeBlock('curl', curlLine(tools.settings.apiUrl, made.key), 'curl')}</div>
${replaced}<p><a href="${pathOf(request)}">${text.back}</a></p>`,
  };
}

function newKey(
  request: AccountRequest,
  { key, keyId, label, expires, limitPerDay }: NewKey,
  caption: string,
  id: string,
): Html {
  const { text } = request;
  const about = definitionList([
    [text.key.label, label],
    [text.key.keyId, html`<code>${keyId}</code>`],
    [text.key.expires, expires === null ? text.keyUse.never : untilOf(request, expires)],
    ...(limitPerDay === null
      ? []
      : [[text.key.limit, request.format.number(limitPerDay)] as const]),
  ]);
  return html`${codeBlock(caption, key, id)}${about}`;
}

/** A page about the key that its path names. */
function withKey(show: (request: AccountRequest, key: KeyView) => Promise<PageAnswer>) {
  return async (request: AccountRequest): Promise<PageAnswer> => {
    const { admin, account, params, text } = request;
    const key = (await admin.keys.list(account)).find(({ keyId }) => keyId === params.key);
    return key
      ? show(request, key)
      : notFoundPage(text, pathOf(request), text.noSuchKey(params.key ?? '', account));
  };
}

/** How many days of use the pages say before a key is replaced or revoked. */
const recentDays = 7;

/**
 * Since when a key was used, as far back as usage is kept, and how often in the last days, today
 * included.
 */
async function useOf({ admin, account, tools }: AccountRequest, { keyId }: KeyView) {
  const from = await admin.accounts.usageKeptSince(account);
  const { keys } = await admin.accounts.usageByKey(account, { from });
  const days = keys.find((key) => key.keyId === keyId)?.days ?? [];
  const recentFrom = new Date(tools.now() - (recentDays - 1) * 86_400_000)
    .toISOString()
    .slice(0, 10);
  const recent = days.reduce(
    (sum, { date, lookups }) => (date >= recentFrom ? sum + lookups : sum),
    0,
  );
  return { since: days[0]?.date, recent };
}

type UseOfKey = Awaited<ReturnType<typeof useOf>>;

/** Everything that tells this key from other keys, and its owner. */
function factsOf(request: AccountRequest, key: KeyView, { since, recent }: UseOfKey): Html {
  const { text, format } = request;
  return definitionList([
    [text.key.label, key.label ?? '-'],
    [text.key.keyId, html`<code>${key.keyId}</code>`],
    [text.about.state, stateOf(request, key)],
    [text.about.created, instantOf(request, key.created)],
    [text.keyUse.createdBy, key.createdBy === null ? '-' : actorName(request, key.createdBy)],
    [text.keyUse.usedSince, since ? format.day(since) : text.keyUse.notUsed],
    [text.key.lastUsed, lastUsed(request, key)],
    [text.recentLookups(format.count(recentDays, 'day')), format.number(recent)],
    ...(key.state === 'revoked' ? [] : [[text.key.limit, limitOf(request, key)] as const]),
  ]);
}

/** How long the old key goes on working, in minutes. */
const graceMinutes = [0, 10, 60, 1440, 10_080, 43_200] as const;
const usualGrace = 1440;

/**
 * A key and the actions on it. `found` in the address says how a search for a leaked key found it.
 */
async function keyPage(request: AccountRequest, key: KeyView): Promise<Page> {
  const { query, role, text } = request;
  const canChange = may(role, 'key.change') && key.state !== 'revoked';
  const found = Object.hasOwn(text.keyFound, query.found ?? '')
    ? (query.found as keyof typeof text.keyFound)
    : undefined;
  const note = found
    ? html`<p class="note${found === 'mistyped' ? ' bad' : ''}" role="status">${text.keyFound[found]}</p>`
    : '';
  const limit = canChange ? limitForm(request, key) : '';
  const replace = canChange && canRotate(key) ? rotateForm(request, key) : '';
  const revokeCard = html`<div class="card"><h2>${text.revoke}</h2><p>${text.revokeText}</p><p><a class="button plain" href="${pathOf(request)}/${key.keyId}/revoke">${text.revoke}</a></p></div>`;
  return {
    title: text.keyNamed(nameOf(key)),
    body: html`${doneNote(request)}${note}<div class="card">${factsOf(request, key, await useOf(request, key))}<p class="muted">${text.keyIdPlace} ${idInKey(request, key.keyId)}</p></div>
${limit}${replace}${canChange ? revokeCard : ''}<p><a href="${pathOf(request)}">${text.back}</a></p>`,
  };
}

function limitForm(request: AccountRequest, key: KeyView): Html {
  const { text } = request;
  const { limitPerDay } = key;
  const fields = html`${seenField({ limitPerDay })}${limitField(request, limitPerDay)}`;
  const form = postForm(request, `${pathOf(request)}/${key.keyId}/limit`, fields, {
    label: text.act.save,
  });
  return html`<div class="card"><h2>${text.key.limit}</h2><p>${text.keyLimitText}</p>${form}</div>`;
}

/** The limit that a form showed. */
const seenLimit = z.object({ limitPerDay: z.nullable(z.number()) });

async function setLimit(request: AccountRequest, key: KeyView): Promise<PageAnswer> {
  const { admin, account, text } = request;
  const { keyId } = key;
  const back = `${pathOf(request)}/${keyId}`;
  const show = (again: AccountRequest) => keyPage(again, key);
  const seen = readSeen(request, seenLimit, back);
  const limitPerDay = givenLimit(request);
  if (limitPerDay === undefined) return wrongLimit(request, show);
  const { keyEnded } = text;
  const ended = faultPage(text, { ...keyEnded, back: pathOf(request), status: 409 });
  const of = {
    back,
    about: 'limit',
    form: { show, field: 'limit' },
    own: { not_found: ended },
  } as const;
  await attempt(request, of, () => admin.keys.set({ account, keyId, limitPerDay, seen }));
  return { goTo: `${back}?done=saved` };
}

function rotateForm(request: AccountRequest, key: KeyView): Html {
  const { text } = request;
  const value = labelAfter(key.label ?? key.keyId);
  const fields = html`${onceField()}${field(request, { name: 'label', label: text.newLabel, hint: text.labelHint, value, maxLength: labelLength, required: true })}
${graceChoice(request)}`;
  const form = postForm(request, `${pathOf(request)}/${key.keyId}/rotate`, fields, {
    label: text.rotateYes,
    cancel: pathOf(request),
  });
  return html`<div class="card"><h2>${text.rotate}</h2><p>${text.rotateText}</p>${form}</div>`;
}

function graceChoice(request: AccountRequest): Html {
  const { query, text } = request;
  const options = graceMinutes.map((minutes) => [String(minutes), text.graces[minutes]] as const);
  return choice(request, {
    name: 'grace',
    label: text.grace,
    options,
    value: query.found ? '10' : String(usualGrace),
  });
}

/**
 * When the old key ends. At once is from the next second on: with an end, both keys change in one
 * step.
 */
function endOfOld({ form, tools }: AccountRequest): Date {
  const minutes = graceMinutes.find((minute) => String(minute) === form.grace) ?? usualGrace;
  return new Date((Math.floor(tools.now() / 1000) + Math.max(1, minutes * 60)) * 1000);
}

async function rotate(request: AccountRequest, key: KeyView): Promise<PageAnswer> {
  const { admin, account, form, text } = request;
  const { label = '', once = '' } = form;
  const ends = endOfOld(request);
  const { own, ...of } = ofLabel(request, (again) => keyPage(again, key));
  const back = pathOf(request);
  const { keyReplaced, keyEnded, errors } = text;
  const refused = {
    ...own,
    too_many_keys: errors.tooManyReplaced,
    already_replaced: faultPage(text, { ...keyReplaced, back, status: 409 }),
    not_found: faultPage(text, { ...keyEnded, back, status: 409 }),
  };
  const made = await attempt(request, { ...of, own: refused }, () =>
    admin.keys.rotate({ account, keyId: key.keyId, label, ends, token: once }),
  );
  const { replaced } = made;
  const old = html`<div class="card"><h2>${text.oldKey}</h2><p>${text.oldKeyText(nameOf(key), replaced.keyId)} ${instantOf(request, replaced.ends)}.</p></div>`;
  const { limitPerDay } = key;
  return newKeyPage(request, { ...made, label, limitPerDay, expires: null }, old);
}

/**
 * The keys that were chosen in the list and can be replaced. @throws OtherPage if no such key was
 * chosen
 */
async function chosenKeys(
  request: AccountRequest,
  fields: Readonly<Record<string, string>>,
): Promise<KeyView[]> {
  const { admin, account, text } = request;
  const ids = chosenIn(fields);
  const keys = (await admin.keys.list(account)).filter(
    (key) => ids.includes(key.keyId) && canRotate(key),
  );
  if (keys.length === 0) throw new OtherPage(invalidPage(text, pathOf(request), text.noneChosen));
  return keys;
}

async function severalPage(request: AccountRequest): Promise<Page> {
  const { format, path, query, text } = request;
  const keys = await chosenKeys(request, query);
  const rows = keys.map((key): Html[] => [
    keyLink(request, key),
    aheadOf(key),
    lastUsed(request, key),
  ]);
  const ids = keys.map(({ keyId }) => keyId);
  const form = postForm(
    request,
    path,
    html`${onceField()}${chosenFields(ids)}${graceChoice(request)}`,
    {
      label: text.rotateThem(format.count(keys.length, 'key')),
      cancel: pathOf(request),
    },
  );
  return {
    title: text.rotateChosen,
    body: html`<div class="card">${scrollTable(text.keys, [text.key.label, text.newLabel, text.key.lastUsed], rows)}</div>
<div class="card"><p>${text.rotateText}</p>${form}</div>`,
  };
}

const aheadOf = (key: KeyView) => labelAfter(nameOf(key));

/** One after the other; every key that was made is shown, whatever became of the others. */
async function rotateSeveral(request: AccountRequest): Promise<Page> {
  const { admin, account, form, text } = request;
  const ends = endOfOld(request);
  const parts: Html[] = [];
  for (const key of await chosenKeys(request, form)) {
    const label = aheadOf(key);
    const input = { account, keyId: key.keyId, label, ends, token: `${form.once}.${key.keyId}` };
    const made = await admin.keys.rotate(input).catch((error: unknown) => {
      if (error instanceof AdminError) return error;
      throw error;
    });
    const refusals: { [Code in AdminError['code']]?: string } = {
      already_created: text.keyExistsText,
      already_replaced: text.keyReplaced.explanation,
      not_found: text.keyEnded.explanation,
      too_many_keys: text.errors.tooManyReplaced,
    };
    const shown =
      made instanceof AdminError
        ? html`<p class="fault">${refusals[made.code] ?? text.errors.other}</p>`
        : html`${newKey(request, { ...made, label, limitPerDay: key.limitPerDay, expires: null }, label, `key-${made.keyId}`)}<p class="muted">${text.oldKeyText(nameOf(key), key.keyId)} ${instantOf(request, made.replaced.ends)}.</p>`;
    parts.push(html`<section class="entry"><h2>${nameOf(key)}</h2>${shown}</section>`);
  }
  return {
    title: text.keysMade,
    body: html`<div class="card"><p>${text.keyMadeText}</p>${parts}</div><p><a href="${pathOf(request)}">${text.back}</a></p>`,
  };
}

const isInUse = ({ state, lastUsed }: KeyView) => state === 'active' && lastUsed !== null;

async function revokePage(request: AccountRequest, key: KeyView): Promise<Page> {
  const { text } = request;
  const use = await useOf(request, key);
  const back = pathOf(request);
  if (key.state === 'revoked') {
    return {
      title: text.keys,
      body: html`<p class="note good">${text.alreadyRevoked}</p><p><a href="${back}">${text.back}</a></p>`,
    };
  }
  const confirm = isInUse(key)
    ? field(request, {
        name: 'confirm',
        label: text.key.keyId,
        hint: text.confirmIdHint,
        maxLength: 8,
        required: true,
      })
    : '';
  const form = postForm(request, request.path, confirm, {
    label: text.revokeYes,
    isDanger: true,
    cancel: back,
  });
  return {
    title: text.revokeKey(nameOf(key)),
    body: html`<div class="card">${factsOf(request, key, use)}</div><div class="card"><p>${text.revokeText}</p>${form}</div>`,
  };
}

/** Revoking again is harmless, so a form that is sent twice, or by two people, says the same. */
async function revoke(request: AccountRequest, key: KeyView): Promise<PageAnswer> {
  const { admin, account, form, text } = request;
  const { keyId } = key;
  if (form.confirm !== keyId && isInUse(key)) {
    return faulty(request, { field: 'confirm', message: text.errors.confirmId }, (again) =>
      revokePage(again, key),
    );
  }
  const back = pathOf(request);
  await attempt(request, { back, about: 'notFoundText' }, () =>
    admin.keys.revoke({ account, keyId }),
  );
  return { goTo: `${back}?done=revoked` };
}
