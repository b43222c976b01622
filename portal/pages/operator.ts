import { html } from 'hono/html';
import * as z from 'zod/mini';
import { type AccountDetails, type AccountSummary, type WindowName, windowNames } from '../../packages/admin/index.ts';
import {
  type AccountVisit,
  type Html,
  ofAccount,
  ofService,
  type Page,
  type PageAnswer,
  type PageRoute,
  type Visit,
} from '../visit/visit.ts';
import {
  attempt,
  choice,
  confirmation,
  faulty,
  field,
  limitFields,
  limitsField,
  postForm,
  readLimits,
  readSeen,
  searchForm,
  seenField,
} from './form.ts';
import { instantOf, numbers, pager, scrollTable, stateTag } from './parts.ts';
import { allPlans } from './plans.ts';

/** The accounts of the service, as operators find, make and change them. */
export const operatorPages: readonly PageRoute[] = [
  ofService('GET', '/operator/accounts', 'operator.view', accountsPage),
  ofService('POST', '/operator/accounts', 'account.manage', create),
  ofAccount('GET', '/manage', 'account.manage', managePage),
  ofAccount('POST', '/manage', 'account.manage', save),
  ofAccount('GET', '/details', 'account.manage', managePage),
  ofAccount('POST', '/details', 'account.manage', saveDetails),
  ...(['suspend', 'activate'] as const).flatMap((verb) => [
    ofAccount('GET', `/${verb}`, 'account.manage', (visit) => stateQuestion(visit, verb)),
    ofAccount('POST', `/${verb}`, 'account.manage', (visit) => changeState(visit, verb)),
  ]),
];

const accountsPath = '/operator/accounts';
const accountsShown = 50;

async function accountsPage(visit: Visit): Promise<Page> {
  const { admin, query, text } = visit;
  const search = (query.q ?? '').trim();
  const page = { limit: accountsShown, ...(search && { search }), ...(query.after && { cursor: query.after }) };
  const of = { back: accountsPath, about: 'search' } as const;
  const { accounts, cursor } = await attempt(visit, of, () => admin.accounts.list(page));
  const plans = await allPlans(admin);
  const searchField = field(visit, {
    name: 'q',
    label: text.searchAccounts,
    type: 'search',
    value: search,
    maxLength: 200,
  });
  return {
    title: text.accounts,
    body: html`<div class="card">${searchForm(accountsPath, searchField, text.search)}</div>
<div class="card">${accounts.length > 0 ? accountTable(visit, accounts) : html`<p>${text.noAccounts}</p>`}
${pager(visit, { name: 'after', cursor, keep: 'q' })}</div>
<p><a href="/operator/usage.csv">${text.usage}: ${text.csv}</a></p>
<div class="card"><h2>${text.createAccount}</h2>${plans.length > 0 ? createForm(visit, plans) : html`<p>${text.noPlans}</p>`}</div>`,
  };
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
  const head = [text.account, text.detailNames.name, text.state, text.plan, numbers(text.activeKeys), text.created];
  return scrollTable(text.accounts, head, rows);
}

function createForm(visit: Visit, plans: { code: string }[]): Html {
  const { text } = visit;
  const options = plans.map(({ code }) => [code, code] as const);
  const fields = html`${field(visit, { name: 'id', label: text.accountId, hint: text.accountIdHint, maxLength: 32, required: true })}
${choice(visit, { name: 'plan', label: text.plan, options })}
${detailFields(visit)}`;
  return postForm(visit, accountsPath, fields, { label: text.createAccount });
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
  const account = await attempt(
    visit,
    {
      back: accountsPath,
      about: 'account',
      form: { show: accountsPage, field: 'id' },
      own: { not_found: text.errors.plan },
    },
    () => admin.accounts.create({ id, plan, ...readDetails(visit) }),
  );
  return { goTo: `/accounts/${account.id}?done=account` };
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
  const details = { name, contact, note };
  const options = plans.map(({ code }) => [code, code] as const);
  const planFields = html`${seenField({ plan, ownLimits })}
${choice(visit, { name: 'plan', label: text.plan, options, value: plan })}
${limitFields(visit, ownLimits, text.limitHint)}`;
  const planForm = postForm(visit, pathOf(visit), planFields, { label: text.save });
  const detailsForm = postForm(
    visit,
    `${overviewOf(visit)}/details`,
    html`${seenField(details)}${detailFields(visit, details)}`,
    { label: text.saveDetails },
  );
  return {
    title: text.manage,
    body: html`<div class="card"><h2>${text.changePlan}</h2><p>${text.changePlanText}</p>${planForm}</div>
<div class="card"><h2>${text.details}</h2><p>${text.detailsText}</p>${detailsForm}</div>
<div class="card"><h2>${text[verb]}</h2><p>${text[`${verb}Text`]}</p><p><a class="button plain" href="${overviewOf(visit)}/${verb}">${text[verb]}</a></p></div>`,
  };
}

const seenSchema = z.object({ plan: z.string(), ownLimits: limitsField });

/** Refused if the account has changed since the form was shown, so that no change is overwritten. */
async function save(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form, text } = visit;
  const back = pathOf(visit);
  const seen = readSeen(visit, seenSchema, back);
  const read = readLimits(visit);
  if ('wrong' in read) return faulty(visit, { field: read.wrong, message: text.errors.limit }, managePage);
  const limits: Partial<Record<WindowName, number | null | 'plan'>> = {};
  for (const name of windowNames) {
    const limit = read.limits[name];
    // An empty field follows the plan.
    if (limit !== seen.ownLimits[name]) limits[name] = limit === undefined ? 'plan' : limit;
  }
  const plan = form.plan ?? '';
  const input = { id: account, limits, seen, ...(plan !== seen.plan && { plan }) };
  const of = { back, about: 'plan', form: { show: managePage, field: 'plan' } } as const;
  await attempt(visit, of, () => admin.accounts.set(input));
  return { goTo: `${overviewOf(visit)}?done=saved` };
}

const seenDetails = z.object({
  name: z.nullable(z.string()),
  contact: z.nullable(z.string()),
  note: z.nullable(z.string()),
});

async function saveDetails(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account } = visit;
  const back = pathOf(visit);
  const details = readSeen(visit, seenDetails, back);
  const fault = tooLong(visit);
  if (fault) return faulty(visit, fault, managePage);
  const input = { id: account, ...readDetails(visit), seen: { details } };
  const of = { back, about: 'details', form: { show: managePage, field: 'name' } } as const;
  await attempt(visit, of, () => admin.accounts.set(input));
  return { goTo: `${overviewOf(visit)}?done=saved` };
}

function stateQuestion(visit: AccountVisit, verb: 'suspend' | 'activate'): Page {
  const { text } = visit;
  const [title, explanation] = [text[verb], text[`${verb}Text`]];
  return confirmation(visit, { title, explanation, action: visit.path, yes: title, cancel: pathOf(visit) });
}

async function changeState(visit: AccountVisit, verb: 'suspend' | 'activate'): Promise<PageAnswer> {
  const { admin, account } = visit;
  await attempt(visit, { back: pathOf(visit), about: 'other' }, () => admin.accounts[verb](account));
  return { goTo: `${overviewOf(visit)}?done=${verb === 'suspend' ? 'suspended' : 'activated'}` };
}
