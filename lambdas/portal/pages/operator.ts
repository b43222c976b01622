import { html } from 'hono/html';
import type { AccountSummary } from '../../shared/accounts/accounts.ts';
import type { Html, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { changing, instantOf, postForm, scrollTable, stateTag } from './parts.ts';
import { allPlans } from './plans.ts';

/** The accounts of the service, as operators find and make them. */
export const operatorPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/operator/accounts', action: 'operator.view', handle: accountsPage },
  { of: 'service', method: 'POST', path: '/operator/accounts', action: 'account.manage', handle: create },
];

const accountsShown = 50;

async function accountsPage(visit: Visit): Promise<PageAnswer> {
  const { admin, c, text } = visit;
  const prefix = (c.req.query('prefix') ?? '').trim();
  const cursor = c.req.query('after');
  const page = { limit: accountsShown, ...(prefix && { prefix }), ...(cursor && { cursor }) };
  const found = await changing(text, '/operator/accounts', 'account', () => admin.accounts.list(page));
  if ('fault' in found) return found.fault;
  const { accounts, cursor: next } = found.result;
  const plans = await allPlans(admin);
  const nextQuery = new URLSearchParams({ ...(prefix && { prefix }), after: next ?? '' });
  return {
    title: text.accounts,
    body: html`<div class="card"><form method="get" action="/operator/accounts" role="search">
<label for="prefix">${text.searchAccounts}</label><input id="prefix" name="prefix" value="${prefix}" autocomplete="off" spellcheck="false">
<div><button class="button">${text.search}</button></div></form></div>
<div class="card">${accounts.length > 0 ? accountTable(visit, accounts) : html`<p>${text.noAccounts}</p>`}
<p class="actions">${cursor ? html`<a href="/operator/accounts">${text.first}</a>` : ''}${next ? html`<a href="/operator/accounts?${nextQuery.toString()}">${text.next}</a>` : ''}</p></div>
<p><a href="/operator/usage.csv">${text.usage}: ${text.csv}</a></p>
<div class="card"><h2>${text.createAccount}</h2>${plans.length > 0 ? createForm(visit, plans) : html`<p>${text.noPlans}</p>`}</div>`,
  };
}

function accountTable(visit: Visit, accounts: AccountSummary[]): Html {
  const { text, format } = visit;
  const rows = accounts.map(({ id, state, plan, activeKeys, created }): Html[] => [
    html`<a href="/accounts/${id}">${id}</a>`,
    stateTag(state, text),
    plan,
    format.number(activeKeys),
    instantOf(visit, created),
  ]);
  const head = [text.account, text.state, text.plan, { number: text.activeKeys }, text.created];
  return scrollTable(text.accounts, head, rows);
}

function createForm(visit: Visit, plans: { code: string }[]): Html {
  const { text } = visit;
  return postForm(
    visit,
    '/operator/accounts',
    html`<label for="id">${text.accountId}</label><p class="hint" id="id-hint">${text.accountIdHint}</p>
<input id="id" name="id" required maxlength="32" autocomplete="off" spellcheck="false" aria-describedby="id-hint">
<label for="plan">${text.plan}</label><select id="plan" name="plan">${plans.map(({ code }) => html`<option>${code}</option>`)}</select>
<div><button class="button">${text.createAccount}</button></div>`,
  );
}

/** Sent twice, the second is refused: an account of that id exists. */
async function create({ admin, form, text }: Visit): Promise<PageAnswer> {
  const { id = '', plan = '' } = form;
  const made = await changing(text, '/operator/accounts', 'account', () => admin.accounts.create({ id, plan }));
  return 'fault' in made ? made.fault : { goTo: `/accounts/${made.result.id}?done=account` };
}
