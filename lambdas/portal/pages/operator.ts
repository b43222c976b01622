import { html } from 'hono/html';
import type { AccountSummary } from '../../shared/accounts/accounts.ts';
import type { Admin } from '../../shared/accounts/admin.ts';
import { type Limits, windowNames } from '../../shared/accounts/quota.ts';
import type { Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { changing, instantOf, postForm, scrollTable, stateTag } from './parts.ts';

/** What operators see of the whole service. */
export const operatorPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/operator/accounts', action: 'operator.view', handle: accountsPage },
  { of: 'service', method: 'POST', path: '/operator/accounts', action: 'account.manage', handle: create },
  { of: 'service', method: 'GET', path: '/operator/plans', action: 'operator.view', handle: plansPage },
  { of: 'service', method: 'GET', path: '/operator/register', action: 'operator.view', handle: registerPage },
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

/** Every plan, by code. */
export async function allPlans(admin: Admin) {
  const plans: Awaited<ReturnType<Admin['plans']['list']>>['plans'] = [];
  let cursor: string | null | undefined;
  do {
    const page = await admin.plans.list(cursor ? { cursor } : {});
    plans.push(...page.plans);
    cursor = page.cursor;
  } while (cursor);
  return plans;
}

/** The most accounts that a page counts: each hundred is a read of its own. */
const accountsCounted = 2_000;

async function plansPage(visit: Visit): Promise<Page> {
  const { admin, text, format } = visit;
  const [plans, { counts, all }] = await Promise.all([allPlans(admin), countByPlan(admin)]);
  const rows = plans.map(({ code, state, limits }): Html[] => {
    const count = format.number(counts.get(code) ?? 0);
    return [code, stateTag(state, text), limitsOf(visit, limits), all ? count : text.atLeast(count)];
  });
  const head = [text.plan, text.state, text.limits, { number: text.following }];
  return {
    title: text.plans,
    body: html`<div class="card">${plans.length > 0 ? scrollTable(text.plans, head, rows) : html`<p>${text.noPlans}</p>`}<p class="muted">${text.plansText}</p></div>`,
  };
}

async function countByPlan(admin: Admin): Promise<{ counts: Map<string, number>; all: boolean }> {
  const counts = new Map<string, number>();
  let cursor: string | null | undefined;
  for (let counted = 0; counted < accountsCounted; counted += 100) {
    const page = await admin.accounts.list(cursor ? { cursor } : {});
    for (const { plan } of page.accounts) counts.set(plan, (counts.get(plan) ?? 0) + 1);
    cursor = page.cursor;
    if (!cursor) return { counts, all: true };
  }
  return { counts, all: false };
}

function limitsOf({ text, format }: Visit, limits: Limits): string {
  return windowNames
    .flatMap((name) => {
      const limit = limits[name];
      return limit === undefined
        ? []
        : [`${text.windows[name]}: ${limit === null ? text.unlimited : format.number(limit)}`];
    })
    .join(', ');
}

async function registerPage(visit: Visit): Promise<Page> {
  const { tools, text, format } = visit;
  if (!tools.register)
    return { title: text.noRegister, body: html`<div class="card"><p>${text.noRegisterText}</p></div>` };
  const { snapshotDate, loads, waiting } = await tools.register();
  const rows = loads.map(({ id, date, at, keys, added, changed, removed }): Html[] => [
    html`<code>${id}</code>`,
    format.day(date),
    instantOf(visit, at),
    format.number(keys),
    [added, changed, removed].map(format.number).join(' / '),
  ]);
  const head = [text.load, text.snapshotDate, text.time, { number: text.addresses }, { number: text.addedRemoved }];
  const waits = waiting.map(
    ({ id, date, why }) =>
      html`<li><code>${id}</code>, ${format.day(date)}<ul>${why.map((reason) => html`<li lang="en">${reason}</li>`)}</ul>${text.approveWith}: <code>load approve ${id}</code></li>`,
  );
  return {
    title: text.register,
    body: html`<div class="card"><p>${text.registerText}</p><dl class="facts"><div><dt>${text.snapshotDate}</dt><dd>${snapshotDate ? format.day(snapshotDate) : '-'}</dd></div></dl></div>
<div class="card"><h2>${text.waiting}</h2>${waits.length > 0 ? html`<ul>${waits}</ul>` : html`<p>${text.noneWaiting}</p>`}</div>
<div class="card">${rows.length > 0 ? scrollTable(text.loads, head, rows) : html`<p>${text.noLoads}</p>`}</div>`,
  };
}
