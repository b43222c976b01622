import { html } from 'hono/html';
import { type AccountUsage, windowNames } from '../../packages/admin/index.ts';
import type { AccountVisit, Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { changesPage } from './history.ts';
import { doneNote, instantOf, scrollTable, stateTag } from './parts.ts';

/**
 * The pages that every member of an account may see: its limits, usage and changes, and how to call the API.
 * The first page leads there; for operators there is also what all accounts used.
 */
export const accountPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/', action: 'home', handle: home },
  { of: 'account', method: 'GET', path: '/accounts/:account', action: 'account.view', handle: overviewPage },
  { of: 'account', method: 'GET', path: '/accounts/:account/api', action: 'account.view', handle: apiPage },
  { of: 'account', method: 'GET', path: '/accounts/:account/usage', action: 'usage.view', handle: usagePage },
  { of: 'account', method: 'GET', path: '/accounts/:account/usage.csv', action: 'usage.view', handle: usageFile },
  { of: 'service', method: 'GET', path: '/operator/usage.csv', action: 'operator.view', handle: everybodysFile },
  { of: 'account', method: 'GET', path: '/accounts/:account/changes', action: 'audit.view', handle: changesPage },
];

async function home({ admin, people, person, text }: Visit): Promise<PageAnswer> {
  if (person.operator) return { goTo: '/operator/accounts' };
  const accounts = await admin.members.accountsOf(people);
  if (accounts.length === 1) return { goTo: `/accounts/${accounts[0]?.account}` };
  if (accounts.length === 0) {
    const who = person.email ?? person.subject;
    const fault = person.emailFault && html`<p>${text.emailFaults[person.emailFault]}</p>`;
    return {
      title: text.noAccount,
      body: html`<div class="card"><p>${text.noAccountText(who)}</p><pre><code id="identity">${who}</code></pre>${copyButton(text, 'identity')}${fault ?? ''}</div>`,
    };
  }
  const items = accounts.map(({ account }) => html`<li><a href="/accounts/${account}">${account}</a></li>`);
  return { title: text.yourAccounts, body: html`<div class="card"><ul>${items}</ul></div>` };
}

async function overviewPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, text, format } = visit;
  const { state, plan, planState, created, windows, ownLimits } = await admin.accounts.show(account);
  const rows = windowNames.flatMap((name): Html[][] => {
    const window = windows[name];
    if (!window) return [];
    const { limit, used, resets } = window;
    const own = name in ownLimits ? html` <span class="muted">${text.ownLimit}</span>` : '';
    if (limit === null)
      return [[text.windows[name], html`${text.unlimited}${own}`, format.number(used), '-', instantOf(visit, resets)]];
    const share = text.usedShare(format.number(used), format.number(limit));
    return [
      [
        text.windows[name],
        html`${format.number(limit)}${own}`,
        html`${format.number(used)}<meter min="0" max="${Math.max(limit, 1)}" value="${Math.min(used, limit)}" aria-label="${text.windows[name]}: ${share}"></meter>`,
        format.number(Math.max(0, limit - used)),
        instantOf(visit, resets),
      ],
    ];
  });
  const head = [text.window, text.limit, text.used, { number: text.left }, text.resets];
  return {
    title: text.overview,
    body: html`${doneNote(visit)}
${state === 'suspended' ? html`<p class="note bad">${text.suspendedText}</p>` : ''}
${planState === 'inactive' ? html`<p class="note bad">${text.planInactiveText}</p>` : ''}
<div class="card"><dl class="facts">
<div><dt>${text.state}</dt><dd>${stateTag(state, text)}</dd></div>
<div><dt>${text.plan}</dt><dd>${plan}</dd></div>
<div><dt>${text.created}</dt><dd>${instantOf(visit, created)}</dd></div>
</dl></div>
<div class="card">${scrollTable(text.limits, head, rows)}<p class="muted">${text.utc}</p></div>`,
  };
}

async function apiPage({ text, tools }: AccountVisit): Promise<Page> {
  return {
    title: text.api,
    body: html`<div class="card"><p>${text.apiText}</p>
<pre><code id="call">${curlLine(tools.settings.apiUrl)}</code></pre>
${copyButton(text, 'call')}
<h2>${text.answer}</h2>
<pre><code>{"status":"ok","request":{"postcode":"9999SD","huisnummer":1,"toevoeging":null},"address":{"straat":"Teststraat","woonplaats":"Testdorp"},"candidates":[]}</code></pre>
<p>${text.quotaText}</p>
<p><a href="${tools.settings.apiUrl}/docs" rel="noopener">${text.apiReference}</a></p></div>`,
  };
}

/** A call of the API that works when it is pasted, given a key. The postcode is that of the test addresses. */
export function curlLine(apiUrl: string, key = 'YOUR_KEY'): string {
  return `curl -H 'X-API-Key: ${key}' '${apiUrl}/v1/address?postcode=9999SD&huisnummer=1'`;
}

/** Copies the text of an element; hidden without JavaScript, where it would do nothing. */
export function copyButton(text: Visit['text'], id: string): Html {
  return html`<p><button type="button" class="button plain" hidden data-copy="${id}" data-copied="${text.copied}">${text.copy}</button> <span id="copied" role="status"></span></p>`;
}

type Bar = { from: string; lookups: number };
type Refusals = Pick<AccountUsage['refusals'][number], 'quota' | 'input' | 'inactive'>;

const dayMilliseconds = 86_400_000;
const daysShown = 30;
const monthsShown = 12;

/** The days or months that a page shows, including the current one. */
async function barsOf({
  admin,
  account,
  c,
  tools,
}: AccountVisit): Promise<{ by: 'day' | 'month'; bars: Bar[]; refusals: ReadonlyMap<string, Refusals> }> {
  const today = new Date(tools.now());
  const by = c.req.query('by') === 'month' ? 'month' : 'day';
  const first =
    by === 'day'
      ? new Date(today.getTime() - (daysShown - 1) * dayMilliseconds)
      : new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsShown + 1, 1));
  const { days, refusals } = await admin.accounts.usage(account, { from: dateOf(first), to: dateOf(today) });
  const refused = sumRefusals(refusals, by);
  if (by === 'day') return { by, bars: days.map(({ date, lookups }) => ({ from: date, lookups })), refusals: refused };
  const months = new Map<string, number>();
  for (const { date, lookups } of days) months.set(date.slice(0, 7), (months.get(date.slice(0, 7)) ?? 0) + lookups);
  return { by, bars: [...months].map(([from, lookups]) => ({ from, lookups })), refusals: refused };
}

function sumRefusals(refusals: AccountUsage['refusals'], by: 'day' | 'month'): Map<string, Refusals> {
  const sums = new Map<string, Refusals>();
  for (const { date, quota, input, inactive } of refusals) {
    const from = by === 'day' ? date : date.slice(0, 7);
    const sum = sums.get(from) ?? { quota: 0, input: 0, inactive: 0 };
    sums.set(from, { quota: sum.quota + quota, input: sum.input + input, inactive: sum.inactive + inactive });
  }
  return sums;
}

const dateOf = (date: Date) => date.toISOString().slice(0, 10);

async function usagePage(visit: AccountVisit): Promise<Page> {
  const { account, text, format } = visit;
  const { by, bars, refusals } = await barsOf(visit);
  const at = `/accounts/${account}/usage`;
  const total = bars.reduce((sum, { lookups }) => sum + lookups, 0);
  const nameOf = (from: string) => (by === 'day' ? format.day(from) : from);
  const refusedOf = (from: string): Html[] => {
    if (refusals.size === 0) return [];
    const { quota, input, inactive } = refusals.get(from) ?? { quota: 0, input: 0, inactive: 0 };
    return [quota, input, inactive].map(format.number);
  };
  const rows = bars
    .toReversed()
    .map(({ from, lookups }): Html[] => [nameOf(from), format.number(lookups), ...refusedOf(from)]);
  const refusedHead = [text.refusedQuota, text.refusedInput, text.refusedInactive].map((number) => ({ number }));
  const head = [text[by], { number: text.lookups }, ...(refusals.size > 0 ? refusedHead : [])];
  const other = by === 'day' ? 'month' : 'day';
  return {
    title: text.usage,
    body: html`<div class="card"><p>${text.usageText}</p>
<p class="actions"><strong>${by === 'day' ? text.byDay : text.byMonth}</strong><a href="${at}?by=${other}">${other === 'day' ? text.byDay : text.byMonth}</a><a href="${at}.csv?by=${by}">${text.csv}</a></p>
${chart(visit, bars)}<p>${text.total}: <strong>${format.number(total)}</strong></p></div>
<div class="card">${scrollTable(text.usage, head, rows)}${refusals.size > 0 ? html`<p class="muted">${text.refusedText}</p>` : ''}</div>`,
  };
}

/** A bar for each day or month. The table below says the same in words, so a screen reader skips the bars. */
function chart({ text, format }: Visit, bars: Bar[]): Html {
  const [width, height, below] = [720, 180, 20];
  const most = Math.max(1, ...bars.map(({ lookups }) => lookups));
  const step = width / bars.length;
  const rects = bars.map(({ lookups }, i) => {
    const tall = (lookups / most) * (height - 20);
    return html`<rect x="${(i * step + 1).toFixed(1)}" y="${(height - tall).toFixed(1)}" width="${(step - 2).toFixed(1)}" height="${tall.toFixed(1)}"></rect>`;
  });
  const [first, last] = [bars[0]?.from ?? '', bars.at(-1)?.from ?? ''];
  return html`<svg class="chart" viewBox="0 0 ${width} ${height + below}" role="img" aria-label="${text.chart}">
<line x1="0" x2="${width}" y1="${height}" y2="${height}"></line><text x="0" y="12">${format.number(most)}</text>${rects}
<text x="0" y="${height + 15}">${first}</text><text x="${width}" y="${height + 15}" text-anchor="end">${last}</text></svg>`;
}

async function usageFile(visit: AccountVisit): Promise<PageAnswer> {
  const { by, bars } = await barsOf(visit);
  const head = by === 'day' ? 'date,lookups' : 'month,lookups';
  return csv(
    `${visit.account}-${by}.csv`,
    head,
    bars.map(({ from, lookups }) => `${from},${lookups}`),
  );
}

/** Every account by day, from the first of the month on: for a month that is over, the command line exports an invoice. */
async function everybodysFile({ admin, tools }: Visit): Promise<PageAnswer> {
  const to = dateOf(new Date(tools.now()));
  const all = await admin.accounts.usageOfAll({ from: `${to.slice(0, 7)}-01`, to });
  const lines = all.flatMap(({ account, days }) => days.map(({ date, lookups }) => `${account},${date},${lookups}`));
  return csv(`usage-${to.slice(0, 7)}.csv`, 'account,date,lookups', lines);
}

function csv(name: string, head: string, lines: string[]): PageAnswer {
  return { file: `${[head, ...lines].join('\r\n')}\r\n`, type: 'text/csv; charset=utf-8', name };
}
