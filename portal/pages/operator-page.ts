import { html } from 'hono/html';
import * as z from 'zod/mini';
import {
  type AccountDetails,
  type AccountPage,
  type AccountPageOptions,
  type AccountSummary,
  AdminError,
  type Limits,
  longWindowNames,
  type Plan,
  type WindowName,
  windowNames,
} from '../../packages/admin/index.ts';
import { choice, field, hidden } from '../../packages/ui/form-fields.ts';
import { pager, searchForm } from '../../packages/ui/list.ts';
import { aside, definitionList, type Html, numbers, scrollTable } from '../../packages/ui/table.ts';
import {
  accountRoutes,
  type Page,
  type PageAnswer,
  serviceRoutes,
} from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
import { warnShare } from '../request/shared.ts';
import {
  attempt,
  confirmation,
  faulty,
  limitFields,
  limitsField,
  postForm,
  readLimits,
  readSeen,
  seenField,
} from './page-form.ts';
import { limitText, quotaBar, stateTag } from './page-parts.ts';
import { allPlans } from './plans-page.ts';

/** The accounts of the service, as operators find, make and change them. */
export const operatorPages = [
  ...serviceRoutes({
    'GET /operator/accounts': ['operator.view', accountsPage],
    'GET /operator/accounts/new': ['account.manage', newPage],
    'POST /operator/accounts': ['account.manage', create],
  }),
  ...accountRoutes({
    'GET /manage': ['account.manage', managePage],
    'POST /manage': ['account.manage', save],
    'GET /details': ['account.manage', managePage],
    'POST /details': ['account.manage', saveDetails],
    'GET /suspend': ['account.manage', (request) => stateQuestion(request, 'suspend')],
    'POST /suspend': ['account.manage', (request) => changeState(request, 'suspend')],
    'GET /activate': ['account.manage', (request) => stateQuestion(request, 'activate')],
    'POST /activate': ['account.manage', (request) => changeState(request, 'activate')],
  }),
];

const accountsPath = '/operator/accounts';
const newPath = `${accountsPath}/new`;
const accountsShown = 50;
const newDays = 30;

/** The parameters of the list's address besides its start. */
const filterNames = ['q', 'plan', 'state', 'only'] as const;

/** The accounts that the address of the page asks for. */
function filterOf({ query, tools }: PortalRequest): AccountPageOptions {
  const search = (query.q ?? '').trim();
  const state = (['active', 'suspended'] as const).find((name) => name === query.state);
  const createdSince = new Date(tools.now() - newDays * 86_400_000).toISOString();
  return {
    ...(search && { search }),
    ...(query.plan && { plan: query.plan }),
    ...(state && { state }),
    ...(query.only === 'near' && { usedShare: warnShare }),
    ...(query.only === 'new' && { createdSince }),
  };
}

/** The filter of the page in words: `"linde"; Plan: small; State: suspended`. */
function filterText(request: PortalRequest): string {
  const { text, format } = request;
  const { search, plan, state, usedShare, createdSince } = filterOf(request);
  const parts = [
    search && `"${search}"`,
    plan && `${text.about.plan}: ${plan}`,
    state && `${text.about.state}: ${text.states[state]}`,
    usedShare && text.near,
    createdSince && text.newAccounts(format.count(newDays, 'day')),
  ];
  return parts.filter(Boolean).join('; ');
}

async function accountsPage(request: PortalRequest): Promise<Page> {
  const { admin, text, format } = request;
  const of = { back: accountsPath, about: 'search' } as const;
  const [{ accounts, cursor }, counts] = await Promise.all([
    attempt(request, of, () => fullPage(request)),
    admin.plans.counts(),
  ]);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const stats = [
    [text.operatorTabs.accounts, format.number(total)] as const,
    await nearStat(request),
  ];
  const found =
    accounts.length > 0
      ? accountTable(request, text.operatorTabs.accounts, accounts)
      : html`<p>${text.noAccounts(filterText(request))}</p>`;
  const more =
    cursor !== null && accounts.length < accountsShown ? html`<p>${text.lookFurther}</p>` : '';
  return {
    title: text.operatorTabs.accounts,
    body: html`<p class="actions"><a class="button" href="${newPath}">${text.createAccount}</a><a class="button plain" href="/operator/usage.csv">${text.tabs.usage}: ${text.download.csv}</a></p>
<div class="card">${definitionList(stats, 'stats')}${filterForm(request, counts)}</div>
<div class="card">${found}${more}${pager(request, { name: 'after', cursor, keeps: filterNames })}</div>`,
  };
}

/** How long a page looks for accounts that pass a filter. */
const searchMilliseconds = 4_000;

/**
 * As many accounts as a page shows, if there are so many: one answer of the list may have fewer, or
 * none. It looks for one more, so that the next page has one.
 */
async function fullPage(request: PortalRequest): Promise<AccountPage> {
  const { admin, query, tools } = request;
  const accounts: AccountSummary[] = [];
  const until = tools.now() + searchMilliseconds;
  let cursor: string | null = query.after ?? null;
  do {
    const asked = {
      ...filterOf(request),
      limit: accountsShown + 1 - accounts.length,
      ...(cursor && { cursor }),
    };
    const page = await admin.accounts.list(asked);
    accounts.push(...page.accounts);
    cursor = page.cursor;
  } while (cursor !== null && accounts.length <= accountsShown && tools.now() < until);
  const shown = accounts.slice(0, accountsShown);
  return {
    accounts: shown,
    cursor: accounts.length > accountsShown ? (shown.at(-1)?.id ?? null) : cursor,
  };
}

/**
 * How many accounts have used much of a limit, with the link to them. Until they have been counted
 * it is a dash, and the page comes again.
 */
export async function nearStat({
  shared,
  text,
  format,
}: PortalRequest): Promise<readonly [name: string, value: Html]> {
  const near = await shared.nearLimits();
  return [
    text.near,
    near
      ? html`<a href="${accountsPath}?only=near">${format.number(near.count)}</a>`
      : html`<span data-comes-again>-</span>`,
  ];
}

function filterForm(request: PortalRequest, counts: Readonly<Record<string, number>>): Html {
  const { query, text, format } = request;
  const asked = {
    ...request,
    form: Object.fromEntries(filterNames.map((name) => [name, query[name] ?? ''])),
  };
  const all = ['', text.accountList.all] as const;
  const plans = Object.entries(counts).map(
    ([code, count]) => [code, `${code} (${format.number(count)})`] as const,
  );
  const states = (['active', 'suspended'] as const).map(
    (state) => [state, text.states[state]] as const,
  );
  const only = [
    ['near', text.near] as const,
    ['new', text.newAccounts(format.count(newDays, 'day'))] as const,
  ];
  const fields = html`${field(asked, { name: 'q', label: text.searchAccounts, type: 'search', maxLength: 200 })}
${choice(asked, { name: 'plan', label: text.about.plan, options: [all, ...plans] })}
${choice(asked, { name: 'state', label: text.about.state, options: [all, ...states] })}
${choice(asked, { name: 'only', label: text.show, options: [all, ...only] })}`;
  return searchForm(accountsPath, fields, text.search);
}

export function accountTable(
  request: PortalRequest,
  caption: string,
  accounts: readonly AccountSummary[],
): Html {
  const { text, format } = request;
  const rows = accounts.map((account): Html[] => {
    const { id, name, contact, state, plan, activeKeys, created } = account;
    return [
      html`<a href="/accounts/${id}">${name ?? id}</a><div class="contact muted"><code>${id}</code> ${contact}</div>`,
      stateTag(state, text),
      plan,
      fullestWindow(request, account),
      format.number(activeKeys),
      format.day(created),
    ];
  });
  const head = [
    text.about.account,
    aside(text.about.state),
    { label: text.about.plan, place: 'plain' },
    { label: text.quota.used, place: 'plain' },
    numbers(text.accountList.activeKeys, 'minor'),
    { label: text.about.created, place: 'minor' },
  ] as const;
  return scrollTable(caption, head, rows);
}

/** The long window that has the smallest share of its limit left. */
function fullestWindow(request: PortalRequest, { windows }: AccountSummary): Html {
  const { text } = request;
  const [fullest] = longWindowNames
    .flatMap((name) => {
      const { limit = null, used = 0 } = windows[name] ?? {};
      return limit === null ? [] : [{ name, limit, used }];
    })
    .toSorted((a, b) => b.used * a.limit - a.used * b.limit);
  if (!fullest) return '-';
  return html`<span class="muted">${text.windows[fullest.name]}</span>${quotaBar(request, fullest.name, fullest)}`;
}

async function newPage(request: PortalRequest): Promise<Page> {
  const { admin, text } = request;
  const plans = await allPlans(admin);
  return {
    title: text.createAccount,
    body: html`<div class="card">${plans.length > 0 ? createForm(request, plans) : html`<p>${text.noPlans}</p>`}</div>`,
  };
}

function createForm(request: PortalRequest, plans: { code: string }[]): Html {
  const { text } = request;
  const options = plans.map(({ code }) => [code, code] as const);
  const fields = html`${field(request, { name: 'id', label: text.accountId, hint: text.accountIdHint, maxLength: 32, required: true })}
${choice(request, { name: 'plan', label: text.about.plan, options })}
${detailFields(request)}`;
  return postForm(request, accountsPath, fields, {
    label: text.createAccount,
    cancel: accountsPath,
  });
}

const detailLengths = { name: 100, contact: 200, note: 200 } as const satisfies Record<
  keyof AccountDetails,
  number
>;
const detailNames = Object.keys(detailLengths) as (keyof AccountDetails)[];

function detailFields(request: PortalRequest, details?: AccountDetails): Html {
  const { detailNames: labels, detailHints: hints } = request.text;
  return html`${detailNames.map((name) => field(request, { name, label: labels[name], hint: hints[name], value: details?.[name] ?? '', maxLength: detailLengths[name] }))}`;
}

/** The first field with more than it can hold. */
function tooLong({ form, text }: PortalRequest): PortalRequest['fault'] {
  const wrong = detailNames.find((name) => [...(form[name] ?? '')].length > detailLengths[name]);
  return wrong && { field: wrong, message: text.errors.details };
}

/** An empty field is none. */
function readDetails({ form }: PortalRequest): AccountDetails {
  return { name: form.name || null, contact: form.contact || null, note: form.note || null };
}

/** Sent twice, the second is refused: an account of that id exists. */
async function create(request: PortalRequest): Promise<PageAnswer> {
  const { admin, form, text } = request;
  const { id = '', plan = '' } = form;
  const fault = tooLong(request);
  if (fault) return faulty(request, fault, newPage);
  const own = { not_found: text.errors.plan };
  const of = {
    back: newPath,
    about: 'account',
    form: { show: newPage, field: 'id' },
    own,
  } as const;
  const account = await attempt(request, of, () =>
    admin.accounts.create({ id, plan, ...readDetails(request) }),
  );
  return { goTo: `/accounts/${account.id}?done=account` };
}

const overviewOf = ({ account }: AccountRequest) => `/accounts/${account}`;
const pathOf = (request: AccountRequest) => `${overviewOf(request)}/manage`;

async function managePage(request: AccountRequest): Promise<Page> {
  const { admin, text, format } = request;
  const [{ plan, ownLimits, windows, state, name, contact, note }, plans] = await Promise.all([
    request.view(),
    allPlans(admin),
  ]);
  const verb = state === 'active' ? 'suspend' : 'activate';
  const details = { name, contact, note };
  const options = plans.map(({ code }) => [code, code] as const);
  const planFields = html`${seenField({ plan, ownLimits })}
${choice(request, { name: 'plan', label: text.about.plan, options, value: plan })}
${limitFields(request, ownLimits, text.limitHint, (name) => {
  const limit = ofPlan(plans, plan)[name];
  const used = windows[name]?.used;
  const has = text.planHas(
    limit === undefined ? text.limitState.notCounted : limitText(request, limit),
  );
  return used === undefined
    ? has
    : `${has}; ${text.quota.used.toLowerCase()}: ${format.number(used)}`;
})}`;
  const planForm = postForm(request, pathOf(request), planFields, { label: text.act.goOn });
  const detailsForm = postForm(
    request,
    `${overviewOf(request)}/details`,
    html`${seenField(details)}${detailFields(request, details)}`,
    { label: text.saveDetails },
  );
  return {
    title: text.manage,
    body: html`<div class="card"><h2>${text.changePlan}</h2><p>${text.changePlanText}</p>${planForm}</div>
<div class="card"><h2>${text.details}</h2><p>${text.detailsText}</p>${detailsForm}</div>
<div class="card"><h2>${text[verb]}</h2><p>${text[`${verb}Text`]}</p><p><a class="button plain" href="${overviewOf(request)}/${verb}">${text[verb]}</a></p></div>`,
  };
}

const seenSchema = z.object({ plan: z.string(), ownLimits: limitsField });

const ofPlan = (plans: readonly Pick<Plan, 'code' | 'limits'>[], code: string): Limits =>
  plans.find((plan) => plan.code === code)?.limits ?? {};

type AccountTerms = { plan: string; limits: Limits };

/** The changes of the plan and of each limit; `say` puts a limit in words. */
function termChanges(
  request: PortalRequest,
  plans: Parameters<typeof ofPlan>[0],
  [before, after]: readonly [AccountTerms, AccountTerms],
  say: (limit: number | null, name: WindowName) => string = (limit) => limitText(request, limit),
): (readonly [name: string, change: string])[] {
  const { text } = request;
  const limitsOf = ({ plan, limits }: AccountTerms): Limits => ({
    ...ofPlan(plans, plan),
    ...limits,
  });
  const old = limitsOf(before);
  const changed = limitsOf(after);
  const valueOfLimit = (limit: number | null | undefined, name: WindowName) =>
    limit === undefined ? text.limitState.notCounted : say(limit, name);
  const moved =
    before.plan === after.plan
      ? []
      : [[text.about.plan, text.becomes(before.plan, after.plan)] as const];
  return [
    ...moved,
    ...windowNames
      .filter((name) => old[name] !== changed[name])
      .map(
        (name) =>
          [
            text.windows[name],
            text.becomes(valueOfLimit(old[name], name), valueOfLimit(changed[name], name)),
          ] as const,
      ),
  ];
}

/** The last change of the account's plan and limits, shown after its form. */
export async function termsNote(request: AccountRequest): Promise<Html> {
  const { admin, account, query, text } = request;
  if (query.done !== 'terms') return '';
  const [{ entries }, plans] = await Promise.all([
    admin.accounts.audit(account, { limit: 1 }),
    allPlans(admin),
  ]);
  const { plan, ownLimits: limits } = await request.view();
  const before = entries[0]?.detail.before as AccountTerms | undefined;
  const changes = before ? termChanges(request, plans, [before, { plan, limits }]) : [];
  const sentence = changes.map(([name, change]) => `${name}: ${change}`).join('; ');
  return html`<p class="note good" role="status">${text.done.saved} ${sentence}</p>`;
}

/**
 * Asks first, and explains the effect on current usage. Refused if the account has changed since
 * the form was shown, so that no change is overwritten.
 */
async function save(request: AccountRequest): Promise<PageAnswer> {
  const { admin, account, form, text } = request;
  const back = pathOf(request);
  const seen = readSeen(request, seenSchema, back);
  const read = readLimits(request);
  if ('wrong' in read) {
    return faulty(request, { field: read.wrong, message: text.errors.limit }, managePage);
  }
  const plan = form.plan ?? '';
  const of = { back, about: 'plan', form: { show: managePage, field: 'plan' } } as const;
  if (form.confirmed !== 'yes') {
    const now = await request.view();
    const isSame = windowNames.every((name) => now.ownLimits[name] === seen.ownLimits[name]);
    if (now.plan !== seen.plan || !isSame) {
      await attempt(request, of, () => Promise.reject(new AdminError('conflict', '')));
    }
    return termsQuestion(request, [
      { plan: seen.plan, limits: seen.ownLimits },
      { plan, ...read },
    ]);
  }
  const limits: Partial<Record<WindowName, number | null | 'plan'>> = {};
  for (const name of windowNames) {
    const limit = read.limits[name];
    // An empty field follows the plan.
    if (limit !== seen.ownLimits[name]) limits[name] = limit === undefined ? 'plan' : limit;
  }
  const input = { id: account, limits, seen, ...(plan !== seen.plan && { plan }) };
  await attempt(request, of, () => admin.accounts.set(input));
  return { goTo: `${overviewOf(request)}?done=terms` };
}

async function termsQuestion(
  request: AccountRequest,
  terms: readonly [AccountTerms, AccountTerms],
): Promise<Page> {
  const { admin, form, text, format } = request;
  const [, { plan, limits }] = terms;
  const [{ windows }, plans] = await Promise.all([request.view(), allPlans(admin)]);
  const used = (name: WindowName) => windows[name]?.used ?? 0;
  const about = termChanges(request, plans, terms, (limit, name) =>
    text.usedOf(format.number(used(name)), limitText(request, limit)),
  );
  const allowed: Limits = { ...ofPlan(plans, plan), ...limits };
  const isReached = windowNames.some(
    (name) => (allowed[name] ?? Number.POSITIVE_INFINITY) <= used(name),
  );
  const sent = Object.entries(limits).map(([name, limit]) =>
    hidden(`limit-${name}`, String(limit ?? 'unlimited')),
  );
  return confirmation(request, {
    title: text.changePlan,
    explanation:
      about.length === 0 ? text.sameTerms : isReached ? text.termsRefuse : text.termsApply,
    about,
    action: pathOf(request),
    yes: text.changeLimitsYes,
    cancel: pathOf(request),
    fields: html`${hidden('seen', form.seen ?? '')}${hidden('plan', plan)}${sent}${hidden('confirmed', 'yes')}`,
    isDanger: isReached,
  });
}

const seenDetails = z.record(z.enum(detailNames), z.nullable(z.string()));

async function saveDetails(request: AccountRequest): Promise<PageAnswer> {
  const { admin, account } = request;
  const back = pathOf(request);
  const details = readSeen(request, seenDetails, back);
  const fault = tooLong(request);
  if (fault) return faulty(request, fault, managePage);
  const input = { id: account, ...readDetails(request), seen: { details } };
  const of = { back, about: 'details', form: { show: managePage, field: 'name' } } as const;
  await attempt(request, of, () => admin.accounts.set(input));
  return { goTo: `${overviewOf(request)}?done=saved` };
}

async function stateQuestion(request: AccountRequest, verb: 'suspend' | 'activate'): Promise<Page> {
  const { text, format } = request;
  const { keys, windows } = await request.view();
  const active = keys
    .filter(({ state }) => state === 'active')
    .map(({ label, keyId }) => label ?? keyId);
  const about = [
    [
      text.accountList.activeKeys,
      [format.number(active.length), active.join(', ')].filter(Boolean).join(': '),
    ],
    [text.refusal.lookupsToday, windows.day ? format.number(windows.day.used) : '-'],
  ] as const;
  const title = text[verb];
  const explanation = text[`${verb}Text`];
  const isDanger = verb === 'suspend';
  const cancel = pathOf(request);
  return confirmation(request, {
    title,
    explanation,
    about,
    action: request.path,
    yes: title,
    cancel,
    isDanger,
  });
}

async function changeState(
  request: AccountRequest,
  verb: 'suspend' | 'activate',
): Promise<PageAnswer> {
  const { admin, account } = request;
  await attempt(request, { back: pathOf(request), about: 'other' }, () =>
    admin.accounts[verb](account),
  );
  return { goTo: `${overviewOf(request)}?done=${verb === 'suspend' ? 'suspended' : 'activated'}` };
}
