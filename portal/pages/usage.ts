import { html } from 'hono/html';
import {
  type KeyUsage,
  type UsageByKey,
  type UsagePart,
  usageByKeyCsv,
  type WindowName,
} from '../../packages/admin/index.ts';
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
import { attempt, field, hidden } from './form.ts';
import { csvFile, facts, invalidPage, numbers, scrollTable, stateTag } from './parts.ts';

/** What an account used, by day and by month, as a chart, a table and a file. */
export const usagePages: readonly PageRoute[] = [
  ofAccount('GET', '/usage', 'usage.view', usagePage),
  ofAccount('GET', '/usage.csv', 'usage.view', usageCsv),
  ofAccount('GET', '/usage-by-key.csv', 'usage.view', usageByKey),
  ofService('GET', '/operator/usage.csv', 'operator.view', everybodysUsage),
];

type UsagePeriod = 'day' | 'month';
type Counts = { lookups: number; quota: number; input: number; inactive: number };
/** A day or a month, by its date, with what was counted in it. */
type Bar = [start: string, Counts];
type Usage = {
  by: UsagePeriod;
  from: string;
  to: string;
  bars: Bar[];
  hasRefusals: boolean;
};

const dayMilliseconds = 86_400_000;
const daysShown = 30;
const monthsShown = 12;

const dateOf = (date: Date) => date.toISOString().slice(0, 10);
const later = (one: string, other: string) => (one > other ? one : other);
const periodOf = ({ query }: Visit): UsagePeriod => (query.by === 'month' ? 'month' : 'day');

/** The range that the address of the page asks for, else the last days or months that there are, today included. */
async function rangeOf(visit: AccountVisit): Promise<Pick<Usage, 'by' | 'from' | 'to'>> {
  const today = new Date(visit.tools.now());
  const by = periodOf(visit);
  const first =
    by === 'day'
      ? new Date(today.getTime() - (daysShown - 1) * dayMilliseconds)
      : new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsShown + 1, 1));
  const from = visit.query.from || later(dateOf(first), await visit.admin.accounts.usageKeptSince(visit.account));
  return { by, from, to: visit.query.to || dateOf(today) };
}

async function readUsage(visit: AccountVisit): Promise<Usage> {
  const { by, from, to } = await rangeOf(visit);
  const { days, refusals } = await visit.admin.accounts.usage(visit.account, { from, to });
  const bars = new Map<string, Counts>();
  for (const { date, ...counts } of [...days, ...refusals]) {
    const start = by === 'day' ? date : date.slice(0, 7);
    const { lookups, quota, input, inactive } = { ...noCounts, ...counts };
    const sum = bars.get(start) ?? noCounts;
    bars.set(start, {
      lookups: sum.lookups + lookups,
      quota: sum.quota + quota,
      input: sum.input + input,
      inactive: sum.inactive + inactive,
    });
  }
  return { by, from, to, bars: [...bars], hasRefusals: refusals.length > 0 };
}

const noCounts: Counts = { lookups: 0, quota: 0, input: 0, inactive: 0 };

async function usagePage(visit: AccountVisit): Promise<Page> {
  const { admin, account, text, format } = visit;
  const { by, from, to } = await rangeOf(visit);
  const asked = { ...visit, form: { from, to } };
  const show = (again: AccountVisit): Page => ({
    title: text.usage,
    body: html`<div class="card">${rangeForm(again)}</div>`,
  });
  const of = { back: pathOf(visit), about: 'range', form: { show, field: 'from' } } as const;
  const usage = await attempt(asked, { ...of, own: { not_found: text.errors.range } }, () => readUsage(visit));
  const { windows } = await admin.accounts.show(account);
  const byKey = await admin.accounts.usageByKey(account, { from, to });
  const total = usage.bars.reduce((sum, [, { lookups }]) => sum + lookups, 0);
  const names = { day: text.byDay, month: text.byMonth };
  const other = by === 'day' ? 'month' : 'day';
  const range = new URLSearchParams({ by, from, to }).toString();
  const at = pathOf(visit);
  return {
    title: text.usage,
    body: html`<div class="card"><p>${text.usageText}</p>${await comparisonOf(visit)}
<p class="actions"><strong>${names[by]}</strong><a href="${at}?by=${other}">${names[other]}</a><a href="${at}.csv?${range}">${text.csv}</a></p>
${chart(visit, usage.bars, { by, limit: windows[by]?.limit ?? undefined })}<p>${text.total}: <strong>${format.number(total)}</strong></p></div>
<div class="card">${rangeForm(asked)}</div>
<div class="card">${usageTable(visit, usage)}${usage.hasRefusals ? html`<p class="muted">${text.refusedText}</p>` : ''}</div>
<div class="card"><h2>${text.byKey}</h2><p>${text.byKeyText}</p><p class="actions"><a href="${at}-by-key.csv?${range}">${text.csv}</a></p>
${keyTable(visit, byKey)}</div>`,
  };
}

const pathOf = ({ account }: AccountVisit) => `/accounts/${account}/usage`;

/** This month until now, and the last one until the same day. */
async function comparisonOf({ admin, account, tools, text, format }: AccountVisit): Promise<Html> {
  const today = new Date(tools.now());
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1));
  const from = later(dateOf(first), await admin.accounts.usageKeptSince(account));
  const usage = await admin.accounts.usage(account, { from, to: dateOf(today) }).catch(() => undefined);
  if (!usage) return '';
  const day = dateOf(today).slice(8);
  const sumOf = (month: string) =>
    usage.days
      .filter(({ date }) => date.startsWith(month) && date.slice(8) <= day)
      .reduce((sum, { lookups }) => sum + lookups, 0);
  const [now, before] = [sumOf(dateOf(today).slice(0, 7)), sumOf(dateOf(first).slice(0, 7))];
  return facts([
    [text.thisMonth, format.number(now)],
    ...(from === dateOf(first) ? [[text.lastMonthSoFar, format.number(before)] as const] : []),
  ]);
}

function usageTable(visit: Visit, { by, bars, hasRefusals }: Usage): Html {
  const { text, format } = visit;
  const refused = [text.refusedQuota, text.refusedInput, text.refusedInactive].map(numbers);
  const rows = bars.toReversed().map(([start, { lookups, quota, input, inactive }]): Html[] => {
    const counts = hasRefusals ? [lookups, quota, input, inactive] : [lookups];
    return [nameOf(visit, start), ...counts.map(format.number)];
  });
  return scrollTable(text.usage, [text[by], numbers(text.lookups), ...(hasRefusals ? refused : [])], rows);
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
  return scrollTable(text.keys, [text.keyId, numbers(text.lookups), numbers('%'), text.lastUsedOn], rows);
}

function rangeForm(visit: AccountVisit): Html {
  const { text } = visit;
  return html`<h2>${text.otherRange}</h2><form method="get" action="${pathOf(visit)}"><div class="fields">${hidden('by', periodOf(visit))}
${field(visit, { name: 'from', label: text.rangeFrom, type: 'date' })}${field(visit, { name: 'to', label: text.rangeTo, type: 'date' })}</div>
<div><button class="button plain">${text.show}</button></div></form>`;
}

function nameOf({ format }: Visit, start: string): string {
  return start.length === 7 ? format.month(start) : format.day(start);
}

/**
 * A bar for each day or month, with its value in a label that a pointer or the keyboard brings up, and a line for the
 * limit. The table below says the same in words.
 */
function chart(visit: Visit, bars: Bar[], { by, limit }: { by: WindowName; limit: number | undefined }): Html {
  const { text, format } = visit;
  const [width, height, above, below] = [480, 200, 34, 22];
  const most = Math.max(1, ...bars.map(([, { lookups }]) => lookups));
  // A limit far above what is used would press all bars to the ground.
  const line = limit !== undefined && limit > 0 && limit <= most * 4 ? limit : undefined;
  const top = Math.max(most, line ?? 0);
  const yOf = (value: number) => above + (1 - value / top) * (height - above);
  const step = width / Math.max(1, bars.length);
  const drawn = bars.map(([start, { lookups }], i) => {
    const [x, y] = [i * step, yOf(lookups)];
    const label = `${nameOf(visit, start)}: ${format.number(lookups)}`;
    const isOver = limit !== undefined && lookups >= limit;
    return html`<g tabindex="0" role="img" aria-label="${label}"><rect x="${(x + step * 0.08).toFixed(1)}" y="${y.toFixed(1)}" width="${(step * 0.84).toFixed(1)}" height="${Math.max(0, height - y).toFixed(1)}"${isOver ? html` class="over"` : ''}></rect><path d="M${x.toFixed(1)} ${above}h${step.toFixed(1)}V${height}h-${step.toFixed(1)}z"></path><text x="${width / 2}" y="14" text-anchor="middle">${label}</text></g>`;
  });
  const limitText =
    limit === undefined ? '' : `${text.limit} ${text.windows[by].toLowerCase()}: ${format.number(limit)}`;
  const limitLine =
    line === undefined
      ? ''
      : html`<line class="limit" x1="0" x2="${width}" y1="${yOf(line).toFixed(1)}" y2="${yOf(line).toFixed(1)}"></line>`;
  const [first, last] = [bars[0], bars.at(-1)].map((bar) => (bar ? nameOf(visit, bar[0]) : ''));
  return html`<svg class="chart" viewBox="0 0 ${width} ${height + below}" role="group" aria-label="${text.chart}">
<line x1="0" x2="${width}" y1="${height}" y2="${height}"></line>${drawn}${limitLine}
<text x="0" y="${height + 16}">${first}</text><text x="${width}" y="${height + 16}" text-anchor="end">${last}</text></svg>
${limitText ? html`<p class="muted">${limitText}${line === undefined ? '' : html` <span class="limit-mark">╌╌</span>`}</p>` : ''}`;
}

async function usageCsv(visit: AccountVisit): Promise<PageAnswer> {
  const { by, bars } = await readUsage(visit);
  const lines = bars.map(([start, { lookups }]) => `${start},${lookups}`);
  return csvFile(`${visit.account}-${by}.csv`, csv([by === 'day' ? 'date,lookups' : 'month,lookups', ...lines]));
}

async function usageByKey(visit: AccountVisit): Promise<PageAnswer> {
  const { by, from, to } = await rangeOf(visit);
  const usage = await visit.admin.accounts.usageByKey(visit.account, { from, to });
  return csvFile(`${visit.account}-by-key.csv`, usageByKeyCsv(usage, by));
}

const csv = (lines: string[]) => `${lines.join('\r\n')}\r\n`;

/** How many accounts one file has: what a Lambda reads within seconds, in less than it may return. */
const accountsPerFile = 2_000;

/**
 * Every account by day, of the month that the address names, else of this one until now: one file, or a page with the
 * files of all parts where one would take too long.
 */
async function everybodysUsage(visit: Visit): Promise<PageAnswer> {
  const { admin, query, tools } = visit;
  const today = dateOf(new Date(tools.now()));
  const month = query.month ?? today.slice(0, 7);
  if (!/^20\d\d-(?:0[1-9]|1[0-2])$/.test(month)) return invalidPage(visit.text, back, visit.text.errors.range);
  const [year = 0, number = 0] = month.split('-').map(Number);
  const lastDay = dateOf(new Date(Date.UTC(year, number, 0)));
  const range = { from: `${month}-01`, to: lastDay < today ? lastDay : today };
  const [after, last] = [query.after || undefined, query.last || undefined];
  return attempt(visit, { back, about: 'range' }, async () => {
    if (after === undefined && last === undefined) {
      const parts = await admin.accounts.usageParts(tools.accountsPerFile ?? accountsPerFile);
      if (parts.length > 1) return partsPage(visit, month, parts);
    }
    const lines = ['account,date,lookups'];
    for await (const { account, days } of admin.accounts.eachUsage({ ...range, after, last }))
      for (const { date, lookups } of days) lines.push(`${account},${date},${lookups}`);
    return csvFile(`usage-${month}${after === undefined ? '' : `-after-${after}`}.csv`, csv(lines));
  });
}

const back = '/operator/statements';

function partsPage({ text, format }: Visit, month: string, parts: UsagePart[]): Page {
  const rows = parts.map(({ after = '', last = '' }, i): Html[] => {
    const path = `/operator/usage.csv?month=${month}&after=${after}&last=${last}`;
    const accounts = `${after === '' ? '' : `${text.after} ${after} `}${last === '' ? '' : `${text.partUntil} ${last}`}`;
    return [format.number(i + 1), accounts, html`<a href="${path}">${text.csv}</a>`];
  });
  const table = scrollTable(text.file, [numbers(text.part), text.accounts, text.file], rows);
  return {
    title: `${text.usage}, ${format.month(month)}`,
    body: html`<div class="card"><p>${text.partsText}</p>${table}<p><a href="${back}">${text.statements}</a></p></div>`,
  };
}
