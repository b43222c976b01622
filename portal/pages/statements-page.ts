import { html } from 'hono/html';
import type { Statements } from '../../packages/admin/statements.ts';
import { csvFile } from '../../packages/ui/csv.ts';
import { definitionList, type Html, numbers, scrollTable } from '../../packages/ui/table.ts';
import {
  accountRoutes,
  OtherPage,
  type Page,
  type PageAnswer,
  serviceRoutes,
} from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
import { attempt } from './page-form.ts';
import { instantOf, invalidPage } from './page-parts.ts';

/**
 * The statements of closed months: of one account for its members, of all accounts for operators.
 */
export const statementPages = [
  ...accountRoutes({
    'GET /statements': ['usage.view', monthsPage],
    'GET /statements/show': ['usage.view', statementPage],
    'GET /statement.csv': ['usage.view', statementCsv],
    'GET /statement.json': ['usage.view', statementJson],
  }),
  ...serviceRoutes({
    'GET /operator/statements': ['operator.view', allMonthsPage],
    'GET /operator/statements.csv': ['operator.view', allStatementsCsv],
  }),
];

/**
 * The largest file of all accounts: Lambda returns at most 6 MB, and a page waits at most some
 * seconds.
 */
const mostBytes = 5_000_000;

const allPath = '/operator/statements';
const listPathOf = ({ account }: AccountRequest) => `/accounts/${account}/statements`;
const fileOf = ({ account }: AccountRequest, month: string, type: 'csv' | 'json') =>
  `/accounts/${account}/statement.${type}?month=${month}`;
const monthOf = ({ query }: PortalRequest) => query.month ?? '';

/** @throws OtherPage if the statements are not connected */
async function statementsOf({ tools, text }: PortalRequest): Promise<Statements> {
  if (tools.statements) return tools.statements();
  const body = html`<div class="card"><p>${text.noStatements}</p></div>`;
  throw new OtherPage({ title: text.bill.statements, status: 404, body });
}

/**
 * Returns what `work` finds in the statements. @throws OtherPage if the statement does not exist
 */
async function find<T>(
  request: PortalRequest,
  back: string,
  work: (statements: Statements) => Promise<T>,
): Promise<T> {
  const statements = await statementsOf(request);
  const own = { not_found: request.text.errors.statement };
  return attempt(request, { back, about: 'statement', own }, () => work(statements));
}

async function monthsPage(request: AccountRequest): Promise<Page> {
  const { text, format } = request;
  const title = text.bill.statements;
  // Only the state, because the counts of a month cover all accounts.
  const months = await (await statementsOf(request)).months({ account: request.account });
  const rows = months.map(({ month, state }): Html[] => [
    format.month(month),
    text.monthStates[state],
    state === 'closed'
      ? html`<span class="actions"><a href="${listPathOf(request)}/show?month=${month}">${text.showStatement}</a><a href="${fileOf(request, month, 'csv')}" aria-label="${text.download.csv}: ${format.month(month)}">${text.download.csv}</a></span>`
      : '-',
  ]);
  return {
    title,
    body: html`<div class="card"><p>${text.statementsText}</p>${scrollTable(title, [text.periods.month, text.about.state, text.bill.statement], rows)}</div>`,
  };
}

const findStatement = (request: AccountRequest) =>
  find(request, listPathOf(request), (statements) =>
    statements.show({ account: request.account, month: monthOf(request) }),
  );

async function statementPage(request: AccountRequest): Promise<Page> {
  const { month, plans, lookups, days, sha256 } = await findStatement(request);
  const { text, format } = request;
  const periods = plans.map(({ plan, from, to, lookups }): Html[] => {
    return [plan, format.day(from), format.day(to), format.number(lookups)];
  });
  const rows = days.map((day): Html[] => [format.day(day.date), format.number(day.lookups)]);
  return {
    title: `${text.bill.statement} ${format.month(month)}`,
    body: html`<div class="card">${definitionList([
      [text.sum.lookups, format.number(lookups)],
      ['SHA-256', html`<code>${sha256}</code>`],
    ])}
<p class="muted">${text.statementText}</p>
<p class="actions"><a href="${fileOf(request, month, 'csv')}">${text.download.csv}</a><a href="${fileOf(request, month, 'json')}">${text.download.json}</a><a href="${listPathOf(request)}">${text.bill.statements}</a></p></div>
<div class="card">${scrollTable(text.about.plan, [text.about.plan, text.range.rangeFrom, text.range.rangeTo, numbers(text.sum.lookups)], periods)}<p class="muted">${text.planPeriodsText}</p></div>
<div class="card">${scrollTable(text.sum.lookups, [text.periods.day, numbers(text.sum.lookups)], rows)}</div>`,
  };
}

async function statementCsv(request: AccountRequest): Promise<PageAnswer> {
  const statement = await findStatement(request);
  const { statementsCsv } = await import('../../packages/admin/statements.ts');
  return csvFile(
    `${request.account}-${statement.month}.csv`,
    statementsCsv(statement.month, [statement]),
  );
}

/** The bytes that the hash was made of: the members in this order, without spaces. */
async function statementJson(request: AccountRequest): Promise<PageAnswer> {
  const statement = await findStatement(request);
  const name = `${request.account}-${statement.month}.json`;
  return { file: JSON.stringify(statement), type: 'application/json', name };
}

async function allMonthsPage(request: PortalRequest): Promise<Page> {
  const { text, format } = request;
  const title = text.bill.statements;
  const number = (value: number | null) => (value === null ? '-' : format.number(value));
  const months = await (await statementsOf(request)).months({});
  const rows = months.map(({ month, state, closed, accounts, lookups }): Html[] => [
    format.month(month),
    text.monthStates[state],
    instantOf(request, closed),
    number(accounts),
    number(lookups),
    html`<a href="${state === 'closed' ? allPath : '/operator/usage'}.csv?month=${month}">${text.download.csv}</a>`,
  ]);
  const counts = [numbers(text.operatorTabs.accounts), numbers(text.sum.lookups)];
  return {
    title,
    body: html`<div class="card"><p>${text.allStatementsText}</p>${scrollTable(title, [text.periods.month, text.about.state, text.sum.closedAt, ...counts, text.file], rows)}</div>`,
  };
}

async function allStatementsCsv(request: PortalRequest): Promise<PageAnswer> {
  const { text } = request;
  const month = monthOf(request);
  const file = await find(request, allPath, (statements) => statements.csv(month));
  if (file.length > mostBytes) return invalidPage(text, allPath, text.tooManyStatements);
  return csvFile(`statements-${month}.csv`, Buffer.from(file).toString());
}
