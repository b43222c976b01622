import { html } from 'hono/html';
import type {
  AccountView,
  AuditEntry,
  AuditPage,
  DayRefusals,
  KeyUsage,
  Limits,
  UsageByKey,
  UsagePart,
  WindowName,
} from '../../packages/admin/index.ts';
import { chart } from '../../packages/ui/chart.ts';
import { csvTable } from '../../packages/ui/csv.ts';
import { field, hidden } from '../../packages/ui/form-fields.ts';
import { listOf } from '../../packages/ui/list.ts';
import {
  daysLater,
  isDate,
  monthOf,
  type PeriodCounts,
  type PeriodSum,
  periodFor,
  periodName,
  periodStart,
  periods,
  sumsBy,
  type UsagePeriod,
  utcDateOf,
} from '../../packages/ui/periods.ts';
import { definitionList, type Html, numbers, scrollTable } from '../../packages/ui/table.ts';
import {
  accountRoutes,
  OtherPage,
  type Page,
  type PageAnswer,
  serviceRoutes,
} from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
import type { Text } from '../text/en.ts';
import { attempt, faulty } from './page-form.ts';
import { invalidPage, quotaBar, stateTag } from './page-parts.ts';

/** An account's use by day, week and month, as a chart, a table and files. */
export const usagePages = [
  ...accountRoutes({
    'GET /usage': ['usage.view', usagePage],
    'GET /usage.csv': ['usage.view', usageCsv],
    'GET /usage-by-key.csv': ['usage.view', usageByKey],
  }),
  ...serviceRoutes({
    'GET /operator/usage.csv': ['operator.view', everybodysUsage],
  }),
];

type Range = { by: UsagePeriod; from: string; to: string };
/** The usage of an account, by period. */
export type Usage = Range & { sums: PeriodSum[]; refusals: DayRefusals[] };

/** The page's default range, in its periods. */
const periodsShown = { day: 30, week: 26, month: 12 };

const later = (date: string, other: string) => (date > other ? date : other);
const todayOf = ({ tools }: PortalRequest) => utcDateOf(new Date(tools.now()));

/**
 * Reads the range that the address asks for, else the last available days, weeks or months. For a
 * range without data every page and file says the same, beside the requested days.
 * @throws OtherPage
 */
async function inRange<T>(request: AccountRequest, read: (range: Range) => Promise<T>): Promise<T> {
  const { admin, account, query, text } = request;
  const asked = { ...request, form: { from: query.from ?? '', to: query.to ?? '' } };
  const show = (again: AccountRequest): Page => ({
    title: text.tabs.usage,
    body: html`<div class="card">${rangeForm(again)}</div>`,
  });
  const message = text.errors.range;
  const wrong = (['from', 'to'] as const).find(
    (name) => asked.form[name] !== '' && !isDate(asked.form[name]),
  );
  if (wrong) throw new OtherPage(await faulty(asked, { field: wrong, message }, show));
  const own = { not_found: message };
  const of = { back: pathOf(request), about: 'range', form: { show, field: 'from' }, own } as const;
  return attempt(asked, of, async () => {
    const by = periods.find((period) => period === query.by);
    const to = query.to || todayOf(request);
    const first = firstOf(by ?? 'day', to);
    const kept = await admin.accounts.usageKeptSince(account);
    const from = query.from || (kept <= to ? later(first, kept) : first);
    return read({ by: periodFor({ from, to }, by), from, to });
  });
}

/** The first day of the last periods up to `to`, as many as are shown. */
function firstOf(period: UsagePeriod, to: string): string {
  const count = periodsShown[period] - 1;
  if (period !== 'month') {
    return periodStart(period, daysLater(to, -count * (period === 'week' ? 7 : 1)));
  }
  const [year = 0, month = 0] = to.split('-').map(Number);
  return utcDateOf(new Date(Date.UTC(year, month - 1 - count, 1)));
}

const readUsage = (request: AccountRequest): Promise<Usage> =>
  inRange(request, async (range) => {
    const { days, refusals } = await request.admin.accounts.usage(request.account, range);
    return { ...range, sums: sumsBy(range.by, [...days, ...refusals]), refusals };
  });

async function usagePage(request: AccountRequest): Promise<Page> {
  const { admin, account, text, format } = request;
  const usage = await readUsage(request);
  const { from, to } = usage;
  const total = usage.sums.reduce((sum, { lookups }) => sum + lookups, 0);
  const { windows } = await request.view();
  const head = html`${definitionList([...(await comparisonOf(request, windows)), [text.sum.total, format.number(total)]], 'stats')}
<div class="toolbar">${choices(request, usage.by)}${rangeForm({ ...request, form: { from, to } })}</div>`;
  if (total === 0 && usage.refusals.length === 0) {
    return {
      title: text.tabs.usage,
      body: html`<div class="card">${head}<p class="nothing">${text.noUsage}</p></div>`,
    };
  }
  const byKey = await admin.accounts.usageByKey(account, { from, to });
  return {
    title: text.tabs.usage,
    body: html`<div class="card">${head}
${await usageChart(request, usage)}<p class="muted">${text.usageText}</p></div>
${refusalCard(request, usage)}
<div class="card">${usageTable(request, usage)}${fileLinks(request, `${pathOf(request)}.csv`, usage)}</div>
<div class="card">${keyTable(request, byKey)}<p class="muted">${text.byKeyText}</p>${fileLinks(request, `${pathOf(request)}-by-key.csv`, usage)}</div>`,
  };
}

const pathOf = ({ account }: AccountRequest) => `/accounts/${account}/usage`;

/** Links to the possible periods of a bar; the current period is marked. */
function choices(request: AccountRequest, by: UsagePeriod): Html {
  const { text } = request;
  const links = periods.map(
    (period) =>
      html`<a href="${pathOf(request)}?by=${period}"${period === by ? html` aria-current="true"` : ''}>${text.byPeriod[period]}</a>`,
  );
  return html`<nav class="choices" aria-label="${text.range.period}">${links}</nav>`;
}

/** A file for people and one for programs. */
function fileLinks({ text }: PortalRequest, path: string, { by, from, to }: Range): Html {
  const address = (more: Record<string, string>) =>
    `${path}?${new URLSearchParams({ by, from, to, ...more })}`;
  return html`<p class="actions"><a class="button plain" href="${address({ for: 'people' })}">${text.download.excel}</a><a class="button plain" href="${address({})}">${text.download.csv}</a></p>`;
}

/** The usage by day of the last 30 days, and of this month if it has more. */
export async function recentUsage(request: AccountRequest): Promise<Usage> {
  const { admin, account } = request;
  const to = todayOf(request);
  const [first = to] = [firstOf('day', to), periodStart('month', to)].toSorted();
  const from = later(first, await admin.accounts.usageKeptSince(account));
  const { days, refusals } = await admin.accounts.usage(account, { from, to });
  return { by: 'day', from, to, sums: sumsBy('day', [...days, ...refusals]), refusals };
}

/** The chart of the last 30 days. */
export async function recentChart(request: AccountRequest, usage: Usage): Promise<Html> {
  const isEmpty = usage.refusals.length === 0 && usage.sums.every(({ lookups }) => lookups === 0);
  return isEmpty
    ? html`<p class="nothing">${request.text.noUsage}</p>`
    : usageChart({ ...request, query: {} }, { ...usage, sums: lastDays(usage) });
}

/**
 * The last 30 days, also days before the account was created: a chart of few days has wide bars.
 */
function lastDays({ to, sums }: Usage): PeriodSum[] {
  const days = Array.from({ length: periodsShown.day }, (_, i) => {
    return { date: daysLater(to, i - periodsShown.day + 1) };
  });
  const first = firstOf('day', to);
  const counted = sums.filter(({ from }) => from >= first);
  return sumsBy('day', [...days, ...counted.map((sum) => ({ ...sum, date: sum.from }))]);
}

/** A number that counts against the limit of a window, if it has a limit. */
function ofLimit(
  request: PortalRequest,
  name: 'day' | 'month',
  used: number,
  windows: AccountView['windows'],
): Html {
  const { text, format } = request;
  const limit = windows[name]?.limit ?? null;
  if (limit === null) return format.number(used);
  return html`${format.number(used)} <span class="muted">${text.ofLimit(format.number(limit))}</span>${quotaBar(request, name, { used, limit })}`;
}

/** This month until now, and the last one until the same day. */
async function comparisonOf(
  request: AccountRequest,
  windows: AccountView['windows'],
): Promise<(readonly [name: string, value: Html])[]> {
  const { admin, account, text, format } = request;
  const today = todayOf(request);
  const month = periodStart('month', today);
  const before = periodStart('month', daysLater(month, -1));
  const from = later(before, await admin.accounts.usageKeptSince(account));
  const usage = await admin.accounts.usage(account, { from, to: today }).catch(() => undefined);
  if (!usage) return [];
  const sumOf = (first: string) =>
    usage.days
      .filter(({ date }) => periodStart('month', date) === first && date.slice(8) <= today.slice(8))
      .reduce((sum, { lookups }) => sum + lookups, 0);
  return [
    [text.soFar.thisMonth, ofLimit(request, 'month', sumOf(month), windows)],
    ...(from === before ? [[text.soFar.lastMonth, format.number(sumOf(before))] as const] : []),
  ];
}

/**
 * A bar for each period of the range, with marks for refusals, which count against no limit. The
 * table on the page of usage says the same in words.
 */
async function usageChart(request: AccountRequest, usage: Usage): Promise<Html> {
  const { text, format } = request;
  const { by, sums } = usage;
  const today = todayOf(request);
  const refused = refusalColumns(text);
  const bars = sums.map((sum) => {
    const isUnfinished = periodStart(by, sum.to) === periodStart(by, today);
    const name = `${nameOf(request, by, sum)}${isUnfinished ? ` (${text.sum.soFar})` : ''}`;
    const found = refused.filter(({ name }) => sum[name] > 0);
    const parts = found.map(
      ({ name, heading }) => `${heading}: ${text.atLeast(format.number(sum[name]))}`,
    );
    return {
      value: sum.lookups,
      marks: found.map(({ name }) => name),
      says: [`${name}: ${format.number(sum.lookups)}`, ...parts].join('; '),
      isUnfinished,
    };
  });
  const labelled = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * (sums.length - 1)));
  const axis = [...new Set(labelled)].flatMap((i) => {
    const from = sums[i]?.from;
    return from === undefined
      ? []
      : [by === 'month' ? format.shortMonth(from) : format.shortDay(from)];
  });
  const limit = await limitLine(request, by, sums);
  return chart({
    label: text.chart,
    bar: { name: 'lookups', label: text.sum.lookups },
    marks: refused.map(({ name, heading }) => ({ name, label: heading })),
    bars,
    limit,
    axis,
    format: format.number,
  });
}

/** The limit of a day or a month, drawn from the first bar whose end has this limit. */
async function limitLine(request: AccountRequest, by: UsagePeriod, sums: readonly PeriodSum[]) {
  const { text, format } = request;
  const { windows } = await request.view();
  const value = by === 'week' ? null : (windows[by]?.limit ?? null);
  if (by === 'week' || value === null) return undefined;
  const since = await limitSince(request, by, sums[0]?.from ?? '');
  const from = sums.findIndex(({ to }) => to >= since);
  if (from < 0) return undefined;
  const label = `${text.quota.limit} ${text.windows[by].toLowerCase()}: ${format.number(value)}`;
  return { value, from, label: from === 0 ? label : `${label}, ${text.since(format.day(since))}` };
}

/**
 * How many entries of an audit are read. For an older limit, the line in the chart begins at the
 * oldest entry.
 */
const entriesRead = 200;

/**
 * The day when the limit of a window last changed, as far back as `first` and the entries that are
 * read. The audits have every change of the account's plan and limits, and of its plan's limits.
 */
async function limitSince(
  request: AccountRequest,
  window: 'day' | 'month',
  first: string,
): Promise<string> {
  const { admin, account } = request;
  const { plan, ownLimits } = await request.view();
  const isOwn = ownLimits[window] !== undefined;
  const [ofAccount, ofPlan] = await Promise.all([
    admin.accounts.audit(account, { limit: entriesRead }),
    admin.plans.audit(plan, { limit: isOwn ? 1 : entriesRead }),
  ]);
  const since = ({ entries, cursor }: AuditPage, isChange: (entry: AuditEntry) => boolean) =>
    (entries.find(isChange)?.time ?? cursor ?? first).slice(0, 10);
  const own = since(ofAccount, ({ action, detail }) => {
    const limits = detail.limits as Limits | undefined;
    const isTerms = limits?.[window] !== undefined || (!isOwn && detail.plan !== undefined);
    return action === 'account create' || action === 'account import' || isTerms;
  });
  if (isOwn) return later(own, first);
  const planned = since(ofPlan, ({ detail: { limits, before } }) => {
    const was = (before as { limits?: Limits } | undefined)?.limits;
    return limits !== undefined && (limits as Limits)[window] !== was?.[window];
  });
  return [own, planned].reduce(later, first);
}

/** The last day when a limit refused requests, else their account or their input: in a sentence. */
export function lastRefusal(
  { text, format }: PortalRequest,
  refusals: readonly DayRefusals[],
): string | undefined {
  for (const kind of ['quota', 'inactive', 'input'] as const) {
    const last = refusals.findLast((day) => day[kind] > 0);
    if (!last) continue;
    const [window] = Object.entries(last.windows ?? {}).toSorted(([, a], [, b]) => b - a);
    const limit = window && text.windows[window[0] as WindowName].toLowerCase();
    const sentence = text.refusedOn[kind](format.day(last.date), limit ?? '');
    return `${sentence}: ${text.atLeast(format.count(last[kind], 'request'))}.`;
  }
  return undefined;
}

/** How many days with refusals are named. */
const refusalsShown = 5;

/** The refused requests, by reason, day and window, shown if any were refused. */
function refusalCard(request: AccountRequest, { refusals }: Usage): Html {
  const { text, format } = request;
  if (refusals.length === 0) return '';
  const count = (number: number) => text.atLeast(format.number(number));
  const rows = refusals
    .toReversed()
    .slice(0, refusalsShown)
    .flatMap(({ date, windows = {}, ...counts }) =>
      refusalKinds
        .filter((kind) => counts[kind] > 0)
        .map((kind): Html[] => {
          const reached = Object.entries(windows as Partial<Record<WindowName, number>>);
          const of = reached.map(
            ([name, times]) => `${text.windows[name as WindowName]}: ${count(times)}`,
          );
          const why =
            kind === 'quota' && of.length > 0
              ? html`<br><span class="muted">${of.join(', ')}</span>`
              : '';
          return [format.day(date), html`${text.refusedWhy[kind]}${why}`, count(counts[kind])];
        }),
    );
  const head = [text.periods.day, text.refusal.reason, numbers(text.refusal.requests, 'aside')];
  return html`<div class="card" id="refusals">${scrollTable(text.whyRefused, head, rows)}<p class="muted">${text.refusedText}</p></div>`;
}

function usageTable(request: AccountRequest, { by, sums }: Usage): Html {
  const { text, format } = request;
  const column = (name: keyof PeriodCounts, label: string, none = format.number(0)) => {
    return {
      name,
      label,
      isNumber: true,
      place: name === 'lookups' ? ('aside' as const) : undefined,
      show: (sum: PeriodSum) => (sum[name] === 0 ? none : format.number(sum[name])),
    };
  };
  // Only what there was, so that it can be seen among the days without any.
  const refused = refusalColumns(text)
    .filter(({ name }) => sums.some((sum) => sum[name] > 0))
    .map(({ name, heading }) => column(name, heading, ''));
  return listOf(request, {
    caption: text.byPeriod[by],
    columns: [
      { name: 'period', label: text.periods[by], show: (sum) => nameOf(request, by, sum) },
      column('lookups', text.sum.lookups),
      ...refused,
    ],
    rows: sums.toReversed(),
    keeps: ['by', 'from', 'to'],
    none: text.noUsage,
  });
}

function keyTable(request: AccountRequest, { lookups, keys, unattributed }: UsageByKey): Html {
  const { text, format } = request;
  const cells = ({ lookups: part, days }: Pick<KeyUsage, 'lookups' | 'days'>): Html[] => {
    const last = days.at(-1)?.date;
    return [
      format.number(part),
      lookups === 0 ? '-' : format.share(part / lookups),
      last ? format.day(last) : '-',
    ];
  };
  const rows = keys.map((key): Html[] => [
    html`${key.label ?? '-'} <code>${key.keyId}</code>${key.revoked ? html` ${stateTag('revoked', text)}` : ''}`,
    ...cells(key),
  ]);
  if (unattributed.lookups > 0) rows.push([text.unattributed, ...cells(unattributed)]);
  const head = [
    text.key.keyId,
    numbers(text.sum.lookups),
    numbers(text.range.share),
    text.lastUsedOn,
  ];
  return scrollTable(text.range.byKey, head, rows);
}

function rangeForm(request: AccountRequest): Html {
  const { text, query } = request;
  return html`<form method="get" action="${pathOf(request)}" class="search">${query.by ? hidden('by', query.by) : ''}
${field(request, { name: 'from', label: text.range.rangeFrom, type: 'date' })}${field(request, { name: 'to', label: text.range.rangeTo, type: 'date' })}
<button class="button plain">${text.show}</button></form>`;
}

function nameOf({ format }: PortalRequest, by: UsagePeriod, { from, to }: PeriodSum): string {
  if (by === 'month') return format.month(from.slice(0, 7));
  return by === 'day' ? format.day(from) : format.days(from, to);
}

const refusalKinds = ['quota', 'input', 'inactive'] as const;
const refusalColumns = ({ refused }: Text) =>
  refusalKinds.map((name) => ({ name, heading: refused[name] }));

/** An account with its present plan and limits. */
type FileAccount = { account: string; plan: string | null; limits: Limits };
type FileKey = Pick<KeyUsage, 'keyId' | 'label'>;

async function accountForFile({ account, view }: AccountRequest): Promise<FileAccount> {
  const { plan, windows } = await view();
  return {
    account,
    plan,
    limits: Object.fromEntries(Object.entries(windows).map(([name, { limit }]) => [name, limit])),
  };
}

/** The columns of a file of usage, and its rows for an account, or for one of its keys. */
function usageFile(by: UsagePeriod, { text }: PortalRequest, isByKey = false) {
  const ofKey = [
    { name: 'key_id', heading: text.key.keyId },
    { name: 'label', heading: text.key.label },
  ];
  const columns = [
    { name: 'account', heading: text.about.account },
    { name: 'plan', heading: text.about.plan },
    ...(isByKey ? ofKey : []),
    { name: by === 'day' ? 'date' : by, heading: text.periods[by] },
    { name: 'limit', heading: text.quota.limit },
    { name: 'lookups', heading: text.sum.lookups },
    ...refusalColumns(text).map(({ name, heading }) => ({ name: `refused_${name}`, heading })),
  ];
  const rowsOf = (
    { account, plan, limits }: FileAccount,
    sums: readonly PeriodSum[],
    key?: FileKey,
  ) => {
    const limit = by === 'week' ? null : limits[by];
    return sums.map((sum) => {
      const { lookups, quota, input, inactive } = sum;
      // A refusal is counted for the account, not for the key of the request.
      const refused = key?.keyId ? [null, null, null] : [quota, input, inactive];
      const ofKey = key ? [key.keyId, key.label] : [];
      return [account, plan, ...ofKey, periodName(by, sum), limit, lookups, ...refused];
    });
  };
  return { columns, rowsOf };
}

async function usageCsv(request: AccountRequest): Promise<PageAnswer> {
  const [{ by, sums }, account] = await Promise.all([readUsage(request), accountForFile(request)]);
  const { columns, rowsOf } = usageFile(by, request);
  return csvTable(request, {
    name: `${request.account}-${by}.csv`,
    columns,
    rows: rowsOf(account, sums),
  });
}

function usageByKey(request: AccountRequest): Promise<PageAnswer> {
  return inRange(request, async ({ by, ...range }) => {
    const { admin, account } = request;
    const [{ keys, unattributed }, { refusals }, ofFile] = await Promise.all([
      admin.accounts.usageByKey(account, range),
      admin.accounts.usage(account, range),
      accountForFile(request),
    ]);
    const { columns, rowsOf } = usageFile(by, request, true);
    const none = { keyId: '', label: null, days: [...unattributed.days, ...refusals] };
    const rows = [...keys, none].flatMap((key) => rowsOf(ofFile, sumsBy(by, key.days), key));
    return csvTable(request, { name: `${account}-by-key.csv`, columns, rows });
  });
}

/**
 * The accounts in one file: a Lambda reads this many within seconds, and may return a file of this
 * size.
 */
const accountsPerFile = 1_000;

/**
 * Every account by day, of the month that the address names, else of this one until now: one file,
 * or a page with the files of all parts if one file would take too long.
 */
async function everybodysUsage(request: PortalRequest): Promise<PageAnswer> {
  const { admin, query, tools } = request;
  const today = todayOf(request);
  const month = query.month ?? today.slice(0, 7);
  const whole = monthOf(month);
  if (!whole) return invalidPage(request.text, back, request.text.errors.range);
  const range = { ...whole, to: whole.to < today ? whole.to : today };
  const after = query.after || undefined;
  const last = query.last || undefined;
  return attempt(request, { back, about: 'range' }, async () => {
    if (after === undefined && last === undefined) {
      const parts = await admin.accounts.usageParts(tools.accountsPerFile ?? accountsPerFile);
      if (parts.length > 1) return partsPage(request, month, parts);
    }
    const { columns, rowsOf } = usageFile('day', request);
    const rows = [];
    for await (const usage of admin.accounts.eachUsage({ ...range, after, last })) {
      rows.push(...rowsOf(usage, sumsBy('day', [...usage.days, ...usage.refusals])));
    }
    return csvTable(request, {
      name: `usage-${month}${after === undefined ? '' : `-after-${after}`}.csv`,
      columns,
      rows,
    });
  });
}

const back = '/operator/statements';

function partsPage({ text, format }: PortalRequest, month: string, parts: UsagePart[]): Page {
  const rows = parts.map(({ after = '', last = '' }, i): Html[] => {
    const path = `/operator/usage.csv?month=${month}&after=${after}&last=${last}`;
    const accounts = `${after === '' ? '' : `${text.example.after} ${after} `}${last === '' ? '' : `${text.bill.partUntil} ${last}`}`;
    const links = html`<span class="actions"><a href="${path}&for=people">${text.download.excel}</a><a href="${path}">${text.download.csv}</a></span>`;
    return [format.number(i + 1), accounts, links];
  });
  const table = scrollTable(
    text.file,
    [numbers(text.bill.part), text.operatorTabs.accounts, text.file],
    rows,
  );
  return {
    title: `${text.tabs.usage}, ${format.month(month)}`,
    body: html`<div class="card"><p>${text.partsText}</p>${table}<p><a href="${back}">${text.bill.statements}</a></p></div>`,
  };
}
