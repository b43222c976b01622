import { html } from 'hono/html';
import * as z from 'zod/mini';
import { type AccountDetails, type AccountSummary, type WindowName, windowNames } from '../../packages/admin/index.ts';
import type { AccountVisit, Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { choice, faulty, field, saving } from './form.ts';
import {
  changing,
  confirmation,
  instantOf,
  invalidPage,
  limitFields,
  limitsField,
  postForm,
  readLimits,
  readSeen,
  scrollTable,
  seenField,
  stateTag,
} from './parts.ts';
import { allPlans } from './plans.ts';

/** The accounts of the service, as operators find, make and change them. */
export const operatorPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/operator/accounts', action: 'operator.view', handle: accountsPage },
  { of: 'service', method: 'POST', path: '/operator/accounts', action: 'account.manage', handle: create },
  { of: 'account', method: 'GET', path: '/accounts/:account/manage', action: 'account.manage', handle: managePage },
  { of: 'account', method: 'POST', path: '/accounts/:account/manage', action: 'account.manage', handle: save },
  { of: 'account', method: 'POST', path: '/accounts/:account/details', action: 'account.manage', handle: saveDetails },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/suspend',
    action: 'account.manage',
    handle: async (visit) => stateQuestion(visit, 'suspend'),
  },
  {
    of: 'account',
    method: 'POST',
    path: '/accounts/:account/suspend',
    action: 'account.manage',
    handle: (visit) => changeState(visit, 'suspend'),
  },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/activate',
    action: 'account.manage',
    handle: async (visit) => stateQuestion(visit, 'activate'),
  },
  {
    of: 'account',
    method: 'POST',
    path: '/accounts/:account/activate',
    action: 'account.manage',
    handle: (visit) => changeState(visit, 'activate'),
  },
];

const accountsShown = 50;

async function accountsPage(visit: Visit): Promise<Page> {
  const { admin, c, text } = visit;
  const search = (c.req.query('q') ?? '').trim();
  const cursor = c.req.query('after');
  const page = { limit: accountsShown, ...(search && { search }), ...(cursor && { cursor }) };
  const found = await changing(text, '/operator/accounts', 'search', () => admin.accounts.list(page));
  if ('fault' in found) return found.fault;
  const { accounts, cursor: next } = found.result;
  const plans = await allPlans(admin);
  const nextQuery = new URLSearchParams({ ...(search && { q: search }), after: next ?? '' });
  return {
    title: text.accounts,
    body: html`${searchForm(visit, search)}
<div class="card">${accounts.length > 0 ? accountTable(visit, accounts) : html`<p>${text.noAccounts}</p>`}
<p class="actions">${cursor ? html`<a href="/operator/accounts${search ? `?${new URLSearchParams({ q: search })}` : ''}">${text.first}</a>` : ''}${next ? html`<a href="/operator/accounts?${nextQuery.toString()}">${text.next}</a>` : ''}</p></div>
<p><a href="/operator/usage.csv">${text.usage}: ${text.csv}</a></p>
<div class="card"><h2>${text.createAccount}</h2>${plans.length > 0 ? createForm(visit, plans) : html`<p>${text.noPlans}</p>`}</div>`,
  };
}

function searchForm({ text }: Visit, search: string): Html {
  return html`<div class="card"><form method="get" action="/operator/accounts" role="search">
<label for="q">${text.searchAccounts}</label><input id="q" name="q" type="search" value="${search}" maxlength="200" autocomplete="off" spellcheck="false">
<div><button class="button">${text.search}</button></div></form></div>`;
}

function accountTable(visit: Visit, accounts: AccountSummary[]): Html {
  const { text, format } = visit;
  const rows = accounts.map(({ id, name, contact, state, plan, activeKeys, created }): Html[] => [
    html`<a href="/accounts/${id}">${id}</a>`,
    html`${name ?? '-'}${contact ? html`<br><span class="muted">${contact}</span>` : ''}`,
    stateTag(state, text),
    plan,
    format.number(activeKeys),
    instantOf(visit, created),
  ]);
  const head = [text.account, text.detailNames.name, text.state, text.plan, { number: text.activeKeys }, text.created];
  return scrollTable(text.accounts, head, rows);
}

function createForm(visit: Visit, plans: { code: string }[]): Html {
  const { text } = visit;
  const options = plans.map(({ code }) => [code, code] as const);
  return postForm(
    visit,
    '/operator/accounts',
    html`${field(visit, { name: 'id', label: text.accountId, hint: text.accountIdHint, maxLength: 32, required: true })}
${choice(visit, { name: 'plan', label: text.plan, options })}
${detailFields(visit)}
<div><button class="button">${text.createAccount}</button></div>`,
  );
}

const detailLengths = { name: 100, contact: 200, note: 200 } as const satisfies Record<keyof AccountDetails, number>;
const detailNames = Object.keys(detailLengths) as (keyof AccountDetails)[];

function detailFields(visit: Visit, details?: AccountDetails): Html {
  const { detailNames: labels, detailHints: hints } = visit.text;
  return html`${detailNames.map((name) => field(visit, { name, label: labels[name], hint: hints[name], value: details?.[name] ?? '', maxLength: detailLengths[name] }))}`;
}

/** The first field with more than it can hold. */
function tooLong({ form, text }: Visit): Visit['fault'] {
  const wrong = detailNames.find((name) => [...(form[name] ?? '')].length > detailLengths[name]);
  return wrong && { field: wrong, message: text.errors.details };
}

/** An empty field is none. */
function readDetails({ form }: Visit): AccountDetails {
  return { name: form.name || null, contact: form.contact || null, note: form.note || null };
}

/** Sent twice, the second is refused: an account of that id exists. */
async function create(visit: Visit): Promise<PageAnswer> {
  const { admin, form, text } = visit;
  const { id = '', plan = '' } = form;
  const fault = tooLong(visit);
  if (fault) return faulty(visit, fault, accountsPage);
  const of = { show: accountsPage, field: 'id', about: 'account', back: '/operator/accounts' } as const;
  const input = { id, plan, ...readDetails(visit) };
  const made = await saving(visit, of, () => admin.accounts.create(input), { not_found: text.errors.plan });
  return 'fault' in made ? made.fault : { goTo: `/accounts/${made.result.id}?done=account` };
}

const overviewOf = ({ account }: AccountVisit) => `/accounts/${account}`;
const pathOf = (visit: AccountVisit) => `${overviewOf(visit)}/manage`;

async function managePage(visit: AccountVisit): Promise<Page> {
  const { admin, account, text } = visit;
  const [{ plan, ownLimits, state, name, contact, note }, plans] = await Promise.all([
    admin.accounts.show(account),
    allPlans(admin),
  ]);
  const verb = state === 'active' ? 'suspend' : 'activate';
  const explanation = verb === 'suspend' ? text.suspendText : text.activateText;
  const options = plans.map(({ code }) => html`<option${code === plan ? html` selected` : ''}>${code}</option>`);
  const fields = html`${seenField({ plan, ownLimits })}
<label for="plan">${text.plan}</label><select id="plan" name="plan">${options}</select>
${limitFields(visit, ownLimits, text.limitHint)}
<div><button class="button">${text.save}</button></div>`;
  return {
    title: text.manage,
    body: html`<div class="card"><h2>${text.changePlan}</h2><p>${text.changePlanText}</p>${postForm(visit, pathOf(visit), fields)}</div>
<div class="card"><h2>${text.details}</h2><p>${text.detailsText}</p>${postForm(visit, `${overviewOf(visit)}/details`, html`${seenField({ name, contact, note })}${detailFields(visit, { name, contact, note })}<div><button class="button">${text.saveDetails}</button></div>`)}</div>
<div class="card"><h2>${text[verb]}</h2><p>${explanation}</p><p><a class="button plain" href="${overviewOf(visit)}/${verb}">${text[verb]}</a></p></div>`,
  };
}

const seenSchema = z.object({ plan: z.string(), ownLimits: limitsField });

/** Refused if the account has changed since the form was shown, so that no change is overwritten. */
async function save(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form, text } = visit;
  const back = pathOf(visit);
  const seen = readSeen(visit, seenSchema);
  if (!seen) return invalidPage(text, back, text.errors.other);
  const read = readLimits(visit);
  if ('wrong' in read) return faulty(visit, { field: read.wrong, message: text.errors.limit }, managePage);
  const given = read.limits;
  const limits: Partial<Record<WindowName, number | null | 'plan'>> = {};
  for (const name of windowNames) {
    const limit = given[name];
    // An empty field follows the plan.
    if (limit !== seen.ownLimits[name]) limits[name] = limit === undefined ? 'plan' : limit;
  }
  const plan = form.plan ?? '';
  const input = { id: account, limits, seen };
  const isOther = plan !== seen.plan;
  const of = { show: managePage, field: 'plan', about: 'plan', back } as const;
  const done = await saving(visit, of, () => admin.accounts.set({ ...input, ...(isOther && { plan }) }));
  return 'fault' in done ? done.fault : { goTo: `${overviewOf(visit)}?done=saved` };
}

const seenDetails = z.object({
  name: z.nullable(z.string()),
  contact: z.nullable(z.string()),
  note: z.nullable(z.string()),
});

async function saveDetails(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, text } = visit;
  const back = pathOf(visit);
  const details = readSeen(visit, seenDetails);
  if (!details) return invalidPage(text, back, text.errors.other);
  const fault = tooLong(visit);
  if (fault) return faulty(visit, fault, managePage);
  const of = { show: managePage, field: 'name', about: 'details', back } as const;
  const input = { id: account, ...readDetails(visit), seen: { details } };
  const done = await saving(visit, of, () => admin.accounts.set(input));
  return 'fault' in done ? done.fault : { goTo: `${overviewOf(visit)}?done=saved` };
}

function stateQuestion(visit: AccountVisit, verb: 'suspend' | 'activate'): Page {
  const { text } = visit;
  return confirmation(visit, {
    title: text[verb],
    explanation: verb === 'suspend' ? text.suspendText : text.activateText,
    action: `${overviewOf(visit)}/${verb}`,
    yes: text[verb],
    cancel: pathOf(visit),
  });
}

async function changeState(visit: AccountVisit, verb: 'suspend' | 'activate'): Promise<PageAnswer> {
  const { admin, account, text } = visit;
  const done = await changing(text, pathOf(visit), 'other', () => admin.accounts[verb](account));
  return 'fault' in done
    ? done.fault
    : { goTo: `${overviewOf(visit)}?done=${verb === 'suspend' ? 'suspended' : 'activated'}` };
}
