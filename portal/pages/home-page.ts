import { html } from 'hono/html';
import {
  type AccountView,
  type KeyView,
  pagesOf,
  type WindowName,
  windowNames,
} from '../../packages/admin/index.ts';
import { periodStart } from '../../packages/ui/periods.ts';
import { definitionList, type Html, numbers, scrollTable } from '../../packages/ui/table.ts';
import { within } from '../request/deadline.ts';
import {
  accountRoutes,
  may,
  type Page,
  type PageAnswer,
  serviceRoutes,
} from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
import { createKeyCard, keyLink } from './keys-page.ts';
import { accountTable, nearStat, termsNote } from './operator-page.ts';
import { accountList, codeBlock, doneNote, homeOf, instantOf, quotaBar } from './page-parts.ts';
import { registerPath, waitingEntry } from './register-page.ts';
import { lastRefusal, recentChart, recentUsage, type Usage } from './usage-page.ts';

/**
 * Where people begin: members at their account and how it is used, operators at what needs them.
 */
export const homePages = [
  ...serviceRoutes({
    'GET /': ['home', home],
    'GET /operator/home': ['operator.view', operatorHome],
  }),
  ...accountRoutes({
    GET: ['account.view', accountHome],
  }),
];

async function home({ admin, people, person, text }: PortalRequest): Promise<PageAnswer> {
  if (person.operator) return { goTo: '/operator/home' };
  const accounts = await admin.members.accountsOf(people);
  const pathTo = ({ account, role }: (typeof accounts)[number]) =>
    `/accounts/${account}${homeOf(role)}`;
  const [first, ...others] = accounts;
  if (first && others.length === 0) {
    return { goTo: pathTo(first) };
  }
  if (accounts.length === 0) {
    const who = person.email ?? person.subject;
    const fault = person.emailFault ? html`<p>${text.emailFaults[person.emailFault]}</p>` : '';
    return {
      title: text.noAccount,
      body: html`<div class="card"><p>${text.noAccountText(who)}</p>${codeBlock('', who, 'identity')}${fault}</div>`,
    };
  }
  return { title: text.yourAccounts, body: accountList(accounts, pathTo) };
}

async function accountHome(request: AccountRequest): Promise<Page> {
  const { person, role, text } = request;
  const [view, usage] = await Promise.all([request.view(), recentUsage(request)]);
  const { keys } = view;
  const hasKey = keys.some((key) => key.state === 'active');
  const firstKey = may(role, 'key.change')
    ? createKeyCard(request, keys.length === 0 && !person.operator ? text.firstKey : text.createKey)
    : html`<div class="card"><p>${text.noActiveKey}</p></div>`;
  return {
    title: text.tabs.overview,
    body: html`${(await termsNote(request)) || doneNote(request)}
${attention(request, view, usage)}${hasKey ? '' : firstKey}
<div class="card">${definitionList(figures(request, view, usage), 'stats')}${await recentChart(request, usage)}</div>
${hasKey ? html`<div class="card">${await keyTable(request, keys)}</div>` : ''}`,
  };
}

/** The reasons why requests are refused now, else the last refusals, with the way to all others. */
function attention(request: AccountRequest, view: AccountView, { refusals }: Usage): Html {
  const { account, text } = request;
  const blocks = [
    ...(view.state === 'suspended' ? [text.suspendedText] : []),
    ...(view.planState === 'inactive' ? [text.planInactiveText] : []),
    ...reached(request, view),
  ];
  if (blocks.length > 0) return html`${blocks.map((why) => html`<p class="note bad">${why}</p>`)}`;
  const last = lastRefusal(request, refusals);
  return last
    ? html`<p class="note warn">${last} <a href="/accounts/${account}/usage#refusals">${text.whyRefused}</a></p>`
    : '';
}

/** Until when requests are refused; a minute is over before somebody reads it. */
function reached(request: AccountRequest, { windows }: AccountView): Html[] {
  const { text } = request;
  return (['month', 'day', 'hour'] as const).flatMap((name) => {
    const { limit = null, used = 0, resets = null } = windows[name] ?? {};
    if (limit === null || used < limit) return [];
    return [html`${text.refusedUntil(text.windows[name])} ${instantOf(request, resets)}.`];
  });
}

/**
 * This month and today, and each other window with a limit: how much is used and left of it, and
 * when it begins again.
 */
function figures(
  request: AccountRequest,
  { windows, ownLimits }: AccountView,
  usage: Usage,
): (readonly [name: string, value: Html])[] {
  const { text, format } = request;
  return windowNames.toReversed().flatMap((name): (readonly [string, Html])[] => {
    const { limit = null, used = usedIn(name, usage), resets = null } = windows[name] ?? {};
    if (used === undefined) return [];
    if (limit === null) return [[text.current[name], format.number(used)]];
    const own =
      name in ownLimits ? html` <span class="muted">${text.limitState.ownLimit}</span>` : '';
    const left = text.quota.left(format.number(Math.max(0, limit - used)));
    const value = html`${format.number(used)} <span class="muted">${text.ofLimit(format.number(limit))}</span>${own}${quotaBar(request, name, { used, limit })}<p class="muted">${left}; ${text.quota.resets} ${instantOf(request, resets)}</p>`;
    return [[text.current[name], value]];
  });
}

/** The lookups of this month or today, for a plan that does not count it. */
function usedIn(name: WindowName, { sums, to }: Usage): number | undefined {
  if (name !== 'day' && name !== 'month') return undefined;
  const start = periodStart(name, to);
  return sums.reduce((sum, { from, lookups }) => (from >= start ? sum + lookups : sum), 0);
}

/** The keys that work, with what each was used for in the last 30 days, the most used one first. */
async function keyTable(request: AccountRequest, keys: readonly KeyView[]): Promise<Html> {
  const { admin, account, text, format } = request;
  const { keys: used } = await admin.accounts.usageByKey(account);
  const rows = keys
    .filter(({ state }) => state === 'active')
    .map((key) => ({
      ...key,
      ...(used.find(({ keyId }) => keyId === key.keyId) ?? { lookups: 0, days: [] }),
    }))
    .toSorted((a, b) => b.lookups - a.lookups)
    .map((key): Html[] => [
      keyLink(request, key),
      key.lastUsed ? format.day(key.lastUsed) : text.keyUse.never,
      format.number(key.lookups),
    ]);
  const counted = numbers(text.recentLookups(format.count(30, 'day')), 'aside');
  return scrollTable(text.keys, [text.key.label, text.key.lastUsed, counted], rows);
}

/** How many sign-ins are read at once. */
const signInsRead = 500;
const dayMilliseconds = 86_400_000;

/** Tasks that wait for an operator, and the state of the service. */
async function operatorHome(request: PortalRequest): Promise<Page> {
  const { shared, text } = request;
  const [near, signIns, loads] = await Promise.all([
    shared.nearLimits(),
    refusedSignIns(request),
    loadsNow(request),
  ]);
  const link = (path: string, shown: string) => html`<a href="${path}">${shown}</a>`;
  const isOutOfReach = request.loads && !loads;
  const stats = [
    ...(isOutOfReach ? [[text.operatorTabs.register, text.outOfReach] as const] : []),
    ...(loads
      ? [
          [text.waiting, link(registerPath, loads.waiting)] as const,
          [text.lastLoad, loads.last] as const,
        ]
      : []),
    await nearStat(request),
    [text.refusedSignIns, link('/operator/sessions#changes', signIns)] as const,
  ];
  return {
    title: text.tabs.home,
    body: html`<div class="card">${definitionList(stats, 'stats')}</div>
${loads?.entries ?? ''}
${near && near.count > 0 ? html`<div class="card">${accountTable(request, text.near, near.accounts)}</div>` : ''}`,
  };
}

/** How many sign-ins were refused within a day. */
async function refusedSignIns({ admin, tools, format }: PortalRequest): Promise<string> {
  const since = new Date(tools.now() - dayMilliseconds).toISOString();
  let refused = 0;
  for await (const { entries } of pagesOf((at) =>
    admin.sessions.audit({ limit: signInsRead, ...at }),
  )) {
    const today = entries.filter(({ time }) => time >= since);
    refused += today.filter(({ action }) => action === 'session refuse').length;
    if (today.length < entries.length) break;
  }
  return format.number(refused);
}

/**
 * The waiting loads and the latest load; nothing if the loader is not connected or does not answer
 * in time.
 */
async function loadsNow(request: PortalRequest) {
  const { loads, shared, tools, text, format } = request;
  const read = async () => Promise.all([shared.waiting(), loads && (await loads()).register(1)]);
  const [waiting, register] = (loads && (await within(3000, read()).catch(() => undefined))) ?? [];
  if (!waiting || !register) return undefined;
  const [last] = register.loads;
  const peildatum =
    register.peildatum &&
    html`<span class="muted">${text.peildatum} ${format.day(register.peildatum)}</span>`;
  const entries = waiting.map((load) => waitingEntry(request, load));
  return {
    waiting: format.number(waiting.length),
    last: html`${last ? format.ago(tools.now() - Date.parse(last.at)) : '-'} ${peildatum}`,
    entries:
      waiting.length > 0 ? html`<div class="card"><h2>${text.waiting}</h2>${entries}</div>` : '',
  };
}
