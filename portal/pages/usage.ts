import { html } from 'hono/html';
import {
  type AccountUsage,
  AdminError,
  type KeyUsage,
  type UsageByKey,
  type UsagePart,
  usageByKeyCsv,
  type WindowName,
} from '../../packages/admin/index.ts';
import type { AccountVisit, Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { faulty, field, saving } from './form.ts';
import { invalidPage, scrollTable, stateTag } from './parts.ts';

/** What an account used, by day and by month, as a chart, a table and a file. */
export const usagePages: readonly PageRoute[] = [
  { of: 'account', method: 'GET', path: '/accounts/:account/usage', action: 'usage.view', handle: usagePage },
  { of: 'account', method: 'GET', path: '/accounts/:account/usage.csv', action: 'usage.view', handle: usageFile },
  { of: 'account', method: 'GET', path: '/accounts/:account/usage-by-key.csv', action: 'usage.view', handle: keysFile },
  { of: 'service', method: 'GET', path: '/operator/usage.csv', action: 'operator.view', handle: everybodysFile },
];

type Bar = { from: string; lookups: number };
type Refusals = Pick<AccountUsage['refusals'][number], 'quota' | 'input' | 'inactive'>;
type Usage = {
  by: 'day' | 'month';
  from: string;
  to: string;
  bars: Bar[];
  refusals: ReadonlyMap<string, Refusals>;
};

const dayMilliseconds = 86_400_000;
const daysShown = 30;
const monthsShown = 12;

const dateOf = (date: Date) => date.toISOString().slice(0, 10);

/** The range that the address of the page asks for, else the last days or months, with the current one. */
function rangeOf({ c, tools }: AccountVisit): Pick<Usage, 'by' | 'from' | 'to'> {
  const today = new Date(tools.now());
  const by = c.req.query('by') === 'month' ? 'month' : 'day';
  const first =
    by === 'day'
      ? new Date(today.getTime() - (daysShown - 1) * dayMilliseconds)
      : new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsShown + 1, 1));
  return { by, from: c.req.query('from') || dateOf(first), to: c.req.query('to') || dateOf(today) };
}

async function readUsage(visit: AccountVisit): Promise<Usage> {
  const range = rangeOf(visit);
  const { by, from, to } = range;
  const { days, refusals } = await visit.admin.accounts.usage(visit.account, { from, to });
  const refused = sumRefusals(refusals, by);
  if (by === 'day')
    return { ...range, bars: days.map(({ date, lookups }) => ({ from: date, lookups })), refusals: refused };
  const months = new Map<string, number>();
  for (const { date, lookups } of days) months.set(date.slice(0, 7), (months.get(date.slice(0, 7)) ?? 0) + lookups);
  return { ...range, bars: [...months].map(([from, lookups]) => ({ from, lookups })), refusals: refused };
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

async function usagePage(visit: AccountVisit): Promise<Page> {
  const { by, from, to } = rangeOf(visit);
  const asked = { ...visit, form: { from, to } };
  const show = () => emptyPage(asked);
  const of = { show, field: 'from', about: 'range', back: pathOf(visit) } as const;
  const read = await saving(asked, of, () => readUsage(visit));
  if ('fault' in read) {
    return faulty(asked, { field: 'from', message: visit.text.errors.range }, (again) => emptyPage(again));
  }
  const { windows } = await visit.admin.accounts.show(visit.account);
  const limit = windows[by]?.limit ?? undefined;
  const byKey = await visit.admin.accounts.usageByKey(visit.account, { from, to });
  return shownPage(asked, read.result, { limit, comparison: await comparisonOf(visit), byKey });
}

const pathOf = ({ account }: AccountVisit) => `/accounts/${account}/usage`;

function emptyPage(visit: AccountVisit): Page {
  return { title: visit.text.usage, body: html`<div class="card">${rangeForm(visit)}</div>` };
}

/** This month until now, and the last one until the same day. */
async function comparisonOf({ admin, account, tools, text, format }: AccountVisit): Promise<Html> {
  const today = new Date(tools.now());
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1));
  const usage = await admin.accounts.usage(account, { from: dateOf(first), to: dateOf(today) }).catch(() => undefined);
  if (!usage) return '';
  const day = dateOf(today).slice(8);
  const sumOf = (month: string) =>
    usage.days
      .filter(({ date }) => date.startsWith(month) && date.slice(8) <= day)
      .reduce((sum, { lookups }) => sum + lookups, 0);
  const [now, before] = [sumOf(dateOf(today).slice(0, 7)), sumOf(dateOf(first).slice(0, 7))];
  return html`<dl class="facts"><div><dt>${text.thisMonth}</dt><dd>${format.number(now)}</dd></div>
<div><dt>${text.lastMonthSoFar}</dt><dd>${format.number(before)}</dd></div></dl>`;
}

function shownPage(
  visit: AccountVisit,
  { by, from, to, bars, refusals }: Usage,
  { limit, comparison, byKey }: { limit: number | undefined; comparison: Html; byKey: UsageByKey },
): Page {
  const { text, format } = visit;
  const at = pathOf(visit);
  const total = bars.reduce((sum, { lookups }) => sum + lookups, 0);
  const refusedOf = (from: string): Html[] => {
    if (refusals.size === 0) return [];
    const { quota, input, inactive } = refusals.get(from) ?? { quota: 0, input: 0, inactive: 0 };
    return [quota, input, inactive].map(format.number);
  };
  const rows = bars
    .toReversed()
    .map((bar): Html[] => [nameOf(visit, bar), format.number(bar.lookups), ...refusedOf(bar.from)]);
  const refusedHead = [text.refusedQuota, text.refusedInput, text.refusedInactive].map((number) => ({ number }));
  const head = [text[by], { number: text.lookups }, ...(refusals.size > 0 ? refusedHead : [])];
  const other = by === 'day' ? 'month' : 'day';
  return {
    title: text.usage,
    body: html`<div class="card"><p>${text.usageText}</p>${comparison}
<p class="actions"><strong>${by === 'day' ? text.byDay : text.byMonth}</strong><a href="${at}?by=${other}">${other === 'day' ? text.byDay : text.byMonth}</a><a href="${at}.csv?by=${by}&amp;from=${from}&amp;to=${to}">${text.csv}</a></p>
${chart(visit, bars, { by, limit })}<p>${text.total}: <strong>${format.number(total)}</strong></p></div>
<div class="card">${rangeForm(visit)}</div>
<div class="card">${scrollTable(text.usage, head, rows)}${refusals.size > 0 ? html`<p class="muted">${text.refusedText}</p>` : ''}</div>
<div class="card"><h2>${text.byKey}</h2><p>${text.byKeyText}</p><p class="actions"><a href="${visit.c.req.path}-by-key.csv?by=${by}&amp;from=${from}&amp;to=${to}">${text.csv}</a></p>
${keyTable(visit, byKey)}</div>`,
  };
}

function keyTable(visit: AccountVisit, { lookups, keys, unattributed }: UsageByKey): Html {
  const { text, format } = visit;
  const share = (part: number) => (lookups === 0 ? '-' : `${Math.round((part / lookups) * 100)} %`);
  const cells = ({ lookups: part, days }: Pick<KeyUsage, 'lookups' | 'days'>): Html[] => {
    const last = days.at(-1)?.date;
    return [format.number(part), share(part), last ? format.day(last) : '-'];
  };
  const rows = keys.map((key): Html[] => [
    html`${key.label ?? '-'} <code>${key.keyId}</code>${key.revoked ? html` ${stateTag('revoked', text)}` : ''}`,
    ...cells(key),
  ]);
  if (unattributed.lookups > 0) rows.push([text.unattributed, ...cells(unattributed)]);
  return scrollTable(text.keys, [text.keyId, { number: text.lookups }, { number: '%' }, text.lastUsedOn], rows);
}

function rangeForm(visit: AccountVisit): Html {
  const { c, text } = visit;
  const by = c.req.query('by') === 'month' ? 'month' : 'day';
  return html`<h2>${text.otherRange}</h2><form method="get" action="${pathOf(visit)}"><div class="fields"><input type="hidden" name="by" value="${by}">
${field(visit, { name: 'from', label: text.rangeFrom, type: 'date' })}${field(visit, { name: 'to', label: text.rangeTo, type: 'date' })}</div>
<div><button class="button plain">${text.showRange}</button></div></form>`;
}

function nameOf({ format }: Visit, { from }: Bar): string {
  return from.length === 7 ? format.month(from) : format.day(from);
}

/**
 * A bar for each day or month, with its value in a label that a pointer or the keyboard brings up, and a line for the
 * limit. The table below says the same in words.
 */
function chart(visit: Visit, bars: Bar[], { by, limit }: { by: WindowName; limit: number | undefined }): Html {
  const { text, format } = visit;
  const [width, height, above, below] = [480, 200, 34, 22];
  const most = Math.max(1, ...bars.map(({ lookups }) => lookups));
  // A limit far above what is used would press all bars to the ground.
  const line = limit !== undefined && limit > 0 && limit <= most * 4 ? limit : undefined;
  const top = Math.max(most, line ?? 0);
  const yOf = (value: number) => above + (1 - value / top) * (height - above);
  const step = width / Math.max(1, bars.length);
  const drawn = bars.map((bar, i) => {
    const [x, y] = [i * step, yOf(bar.lookups)];
    const label = `${nameOf(visit, bar)}: ${format.number(bar.lookups)}`;
    const isOver = limit !== undefined && bar.lookups >= limit;
    return html`<g tabindex="0" role="img" aria-label="${label}"><rect x="${(x + step * 0.08).toFixed(1)}" y="${y.toFixed(1)}" width="${(step * 0.84).toFixed(1)}" height="${Math.max(0, height - y).toFixed(1)}"${isOver ? html` class="over"` : ''}></rect><path d="M${x.toFixed(1)} ${above}h${step.toFixed(1)}V${height}h-${step.toFixed(1)}z"></path><text x="${width / 2}" y="14" text-anchor="middle">${label}</text></g>`;
  });
  const limitText =
    limit === undefined ? '' : `${text.limit} ${text.windows[by].toLowerCase()}: ${format.number(limit)}`;
  const limitLine =
    line === undefined
      ? ''
      : html`<line class="limit" x1="0" x2="${width}" y1="${yOf(line).toFixed(1)}" y2="${yOf(line).toFixed(1)}"></line>`;
  const [first, last] = [bars[0], bars.at(-1)];
  return html`<svg class="chart" viewBox="0 0 ${width} ${height + below}" role="group" aria-label="${text.chart}">
<line x1="0" x2="${width}" y1="${height}" y2="${height}"></line>${drawn}${limitLine}
<text x="0" y="${height + 16}">${first ? nameOf(visit, first) : ''}</text><text x="${width}" y="${height + 16}" text-anchor="end">${last ? nameOf(visit, last) : ''}</text></svg>
${limitText ? html`<p class="muted">${limitText}${line === undefined ? '' : html` <span class="limit-mark">╌╌</span>`}</p>` : ''}`;
}

async function usageFile(visit: AccountVisit): Promise<PageAnswer> {
  const { by, bars } = await readUsage(visit);
  const head = by === 'day' ? 'date,lookups' : 'month,lookups';
  return csv(
    `${visit.account}-${by}.csv`,
    head,
    bars.map(({ from, lookups }) => `${from},${lookups}`),
  );
}

async function keysFile(visit: AccountVisit): Promise<PageAnswer> {
  const { by, from, to } = rangeOf(visit);
  const usage = await visit.admin.accounts.usageByKey(visit.account, { from, to });
  const file = usageByKeyCsv(usage, by);
  return { file, type: 'text/csv; charset=utf-8', name: `${visit.account}-by-key.csv` };
}

/** How many accounts one file has: what a Lambda reads within seconds, in less than it may return. */
const accountsPerFile = 2_000;

/**
 * Every account by day, of the month that the address names, else of this one until now: one file, or a page with the
 * files of all parts where one would take too long.
 */
async function everybodysFile(visit: Visit): Promise<PageAnswer> {
  const { admin, c, tools, text } = visit;
  const today = dateOf(new Date(tools.now()));
  const month = c.req.query('month') ?? today.slice(0, 7);
  if (!/^20\d\d-(?:0[1-9]|1[0-2])$/.test(month)) return invalidPage(text, back, text.errors.range);
  const [year = 0, number = 0] = month.split('-').map(Number);
  const lastDay = dateOf(new Date(Date.UTC(year, number, 0)));
  const range = { from: `${month}-01`, to: lastDay < today ? lastDay : today };
  const [after, last] = [c.req.query('after') || undefined, c.req.query('last') || undefined];
  try {
    if (after === undefined && last === undefined) {
      const parts = await admin.accounts.usageParts(tools.accountsPerFile ?? accountsPerFile);
      if (parts.length > 1) return partsPage(visit, month, parts);
    }
    const lines: string[] = [];
    for await (const { account, days } of admin.accounts.eachUsage({ ...range, after, last }))
      for (const { date, lookups } of days) lines.push(`${account},${date},${lookups}`);
    return csv(`usage-${month}${after === undefined ? '' : `-after-${after}`}.csv`, 'account,date,lookups', lines);
  } catch (error) {
    if (error instanceof AdminError && error.code === 'invalid') return invalidPage(text, back, text.errors.range);
    throw error;
  }
}

const back = '/operator/statements';

function partsPage({ text, format }: Visit, month: string, parts: UsagePart[]): Page {
  const links = parts.map(({ after = '', last = '' }, i) => {
    const path = `/operator/usage.csv?month=${month}&after=${after}&last=${last}`;
    const accounts = `${after === '' ? '' : `${text.partAfter} ${after} `}${last === '' ? '' : `${text.partUntil} ${last}`}`;
    return [format.number(i + 1), accounts, html`<a href="${path}">${text.csv}</a>`];
  });
  const head = [{ number: text.part }, text.accounts, text.file];
  return {
    title: `${text.usage}, ${format.month(month)}`,
    body: html`<div class="card"><p>${text.partsText}</p>${scrollTable(text.file, head, links)}<p><a href="${back}">${text.statements}</a></p></div>`,
  };
}

function csv(name: string, head: string, lines: string[]): PageAnswer {
  return { file: `${[head, ...lines].join('\r\n')}\r\n`, type: 'text/csv; charset=utf-8', name };
}
