import { html } from 'hono/html';
import { AdminError } from '../../packages/admin/index.ts';
import type { Statements, UsageMonth } from '../../packages/admin/statements.ts';
import type { AccountVisit, Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { instantOf, invalidPage, scrollTable } from './parts.ts';

/** The statements of closed months: of one account for its members, of all accounts for operators. */
export const statementPages: readonly PageRoute[] = [
  { of: 'account', method: 'GET', path: '/accounts/:account/statements', action: 'usage.view', handle: monthsPage },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/statements/show',
    action: 'usage.view',
    handle: statementPage,
  },
  { of: 'account', method: 'GET', path: '/accounts/:account/statement.csv', action: 'usage.view', handle: csvFile },
  { of: 'account', method: 'GET', path: '/accounts/:account/statement.json', action: 'usage.view', handle: jsonFile },
  { of: 'service', method: 'GET', path: '/operator/statements', action: 'operator.view', handle: allMonthsPage },
  { of: 'service', method: 'GET', path: '/operator/statements.csv', action: 'operator.view', handle: allFile },
];

/** The largest file of all accounts: Lambda returns at most 6 MB, and a page waits at most some seconds. */
const mostBytes = 5_000_000;

/** What `work` finds in the statements, or the page that says why there is none. */
async function reading<T>(
  { tools, text }: Visit,
  back: string,
  work: (statements: Statements) => Promise<T>,
): Promise<{ found: T } | { fault: Page }> {
  const missing = { fault: invalidPage(text, back, text.noStatementText) };
  if (!tools.statements) return missing;
  try {
    return { found: await work(await tools.statements()) };
  } catch (error) {
    if (error instanceof AdminError && (error.code === 'not_found' || error.code === 'invalid')) return missing;
    throw error;
  }
}

const monthOf = ({ c }: Visit) => c.req.query('month') ?? '';
const listOf = ({ account }: AccountVisit) => `/accounts/${account}/statements`;

async function monthsPage(visit: AccountVisit): Promise<Page> {
  const { text, format, account, tools } = visit;
  const title = text.statements;
  if (!tools.statements) return { title, body: html`<div class="card"><p>${text.noStatements}</p></div>` };
  // Of the members of a month only its state: the others are those of all accounts.
  const months = await (await tools.statements()).months();
  const rows = months.map(({ month, state }): Html[] => [
    format.month(month),
    text.monthStates[state],
    state === 'closed'
      ? html`<a href="/accounts/${account}/statements/show?month=${month}">${text.showStatement}</a>`
      : '-',
  ]);
  return {
    title,
    body: html`<div class="card"><p>${text.statementsText}</p>${scrollTable(title, [text.month, text.state, text.statement], rows)}</div>`,
  };
}

const show = (visit: AccountVisit) =>
  reading(visit, listOf(visit), (statements) => statements.show({ account: visit.account, month: monthOf(visit) }));

async function statementPage(visit: AccountVisit): Promise<Page> {
  const read = await show(visit);
  if ('fault' in read) return read.fault;
  const { text, format, account } = visit;
  const { month, plan, lookups, days, sha256 } = read.found;
  const rows = days.map((day): Html[] => [format.day(day.date), format.number(day.lookups)]);
  const file = (type: 'csv' | 'json') => `/accounts/${account}/statement.${type}?month=${month}`;
  return {
    title: `${text.statement} ${format.month(month)}`,
    body: html`<div class="card"><dl class="facts"><div><dt>${text.lookups}</dt><dd>${format.number(lookups)}</dd></div>
<div><dt>${text.plan}</dt><dd>${plan ?? '-'}</dd></div><div><dt>SHA-256</dt><dd><code>${sha256}</code></dd></div></dl>
<p class="muted">${text.statementText}</p>
<p class="actions"><a href="${file('csv')}">${text.csv}</a><a href="${file('json')}">${text.json}</a><a href="${listOf(visit)}">${text.statements}</a></p></div>
<div class="card">${scrollTable(text.lookups, [text.day, { number: text.lookups }], rows)}</div>`,
  };
}

async function csvFile(visit: AccountVisit): Promise<PageAnswer> {
  const read = await show(visit);
  if ('fault' in read) return read.fault;
  const { statementsCsv } = await import('../../packages/admin/statements.ts');
  return csv(`${visit.account}-${read.found.month}.csv`, statementsCsv(read.found.month, [read.found]));
}

/** As the hash is made: in this order and without spaces. */
async function jsonFile(visit: AccountVisit): Promise<PageAnswer> {
  const read = await show(visit);
  if ('fault' in read) return read.fault;
  const name = `${visit.account}-${read.found.month}.json`;
  return { file: JSON.stringify(read.found), type: 'application/json', name };
}

async function allMonthsPage(visit: Visit): Promise<Page> {
  const { text, format, tools } = visit;
  const title = text.statements;
  if (!tools.statements) return { title, body: html`<div class="card"><p>${text.noStatements}</p></div>` };
  const months = await (await tools.statements()).months();
  const number = (value: number | null) => (value === null ? '-' : format.number(value));
  const linkOf = ({ month, state }: UsageMonth): Html =>
    html`<a href="${state === 'closed' ? '/operator/statements.csv' : '/operator/usage.csv'}?month=${month}">${text.csv}</a>`;
  const rows = months.map((of): Html[] => [
    ...[format.month(of.month), text.monthStates[of.state], instantOf(visit, of.closed)],
    ...[number(of.accounts), number(of.lookups), linkOf(of)],
  ]);
  const counts = [{ number: text.accounts }, { number: text.lookups }];
  return {
    title,
    body: html`<div class="card"><p>${text.allStatementsText}</p>${scrollTable(title, [text.month, text.state, text.closedAt, ...counts, text.file], rows)}</div>`,
  };
}

async function allFile(visit: Visit): Promise<PageAnswer> {
  const month = monthOf(visit);
  const read = await reading(visit, '/operator/statements', (statements) => statements.csv(month));
  if ('fault' in read) return read.fault;
  if (read.found.length > mostBytes)
    return invalidPage(visit.text, '/operator/statements', visit.text.tooManyStatements);
  return csv(`statements-${month}.csv`, Buffer.from(read.found).toString());
}

function csv(name: string, file: string): PageAnswer {
  return { file, type: 'text/csv; charset=utf-8', name };
}
