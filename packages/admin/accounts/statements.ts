import { createHash } from 'node:crypto';
import { dateOf, datesOf, daySeconds, instant, monthOf, secondsOf, windowEnd } from '../../../core/calendar.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import { statementsPrefix } from '../../../core/names.ts';
import { AdminError, checkAccountId } from './admin-error.ts';
import { type AdminStore, findAccessOf } from './admin-store.ts';
import { type PlanHistory, type PlanPeriod, planHistories, planHistoryOf, planPeriods } from './plan-history.ts';
import {
  createdIn,
  type DayUsage,
  firstMonthOf,
  namesPage,
  readAccounts,
  readRetention,
  recordUsage,
  tooEarly,
  tooLate,
} from './usage.ts';

/**
 * What an account used in a closed month: the periods under each plan, the days with lookups, in order, and the sum of
 * either. `sha256` is the hash of the other members, as JSON in this order without spaces.
 */
export type Statement = {
  month: string;
  account: string;
  plans: PlanPeriod[];
  lookups: number;
  days: DayUsage[];
  sha256: string;
};

function statementOf(
  month: string,
  { account, days }: { account: string; days: readonly DayUsage[] },
  history: PlanHistory,
): Statement {
  const used = days.filter(({ lookups }) => lookups > 0);
  const lookups = used.reduce((sum, day) => sum + day.lookups, 0);
  const content = { month, account, plans: planPeriods(days, history), lookups, days: used };
  return { ...content, sha256: sha256Of(JSON.stringify(content)) };
}

/** Every day of the month of a statement, also those without lookups. */
export function daysOf({ month, days }: Pick<Statement, 'month' | 'days'>): DayUsage[] {
  const byDate = new Map(days.map(({ date, lookups }) => [date, lookups]));
  return datesOf(rangeOfMonth(month)).map((date) => ({ date, lookups: byDate.get(date) ?? 0 }));
}

/** The CSV of statements of one month: a row for each period of an account under a plan, a column for each day. */
export function statementsCsv(month: string, statements: readonly Statement[]): string {
  const dates = datesOf(rangeOfMonth(month));
  const rows = statements.flatMap((statement) => {
    const days = daysOf(statement);
    return statement.plans.map(({ plan, from, to, lookups }) => {
      const used = days.map((day) => (from <= day.date && day.date <= to ? day.lookups : 0));
      return [statement.account, plan, month, from, to, lookups, statement.sha256, ...used];
    });
  });
  return [['account', 'plan', 'month', 'from', 'to', 'lookups', 'sha256', ...dates], ...rows]
    .map((row) => `${row.join(',')}\n`)
    .join('');
}

/** The first and the last day of a month. @throws AdminError `invalid` */
export function rangeOfMonth(month: string): { from: string; to: string } {
  const range = monthOf(month);
  if (range) return range;
  throw new AdminError('invalid', 'A month is a UTC month of this century, for instance 2026-11.');
}

/** In hexadecimal digits. */
export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * `open`: still counted in. `closing`: ended, not yet written. `closed`: its statement is written and never changes.
 */
export type MonthState = 'open' | 'closing' | 'closed';

/** A month of all accounts; the members after `state` are `null` unless it is closed. */
export type UsageMonth = {
  month: string;
  state: MonthState;
  closed: string | null;
  accounts: number | null;
  lookups: number | null;
  sha256: string | null;
};

/** The object that closes a month: its files, and where in the first every hundredth account begins. */
type ClosedMonth = {
  month: string;
  closed: string;
  accounts: number;
  lookups: number;
  file: string;
  sha256: string;
  csv: string;
  csvSha256: string;
  bytes: number;
  index: { account: string; position: number }[];
};

/** Where statements are kept. An object is never replaced. */
export type StatementStore = {
  /** The object, or these bytes of it, the last one included; `null` if there is none. */
  read(key: string, bytes?: { first: number; last: number }): Promise<Uint8Array | null>;
  /** Creates the object; `false` if there is one. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  list(prefix: string): Promise<string[]>;
};

/** The calls on statements. */
export type Statements = {
  /** The months since the first account, or since this one, newest first, that are closed or whose usage is kept. */
  months(scope?: { account?: string | undefined }): Promise<UsageMonth[]>;
  month(month: string): Promise<UsageMonth>;
  /** What one account used in a closed month. */
  show(input: { account: string; month: string }): Promise<Statement>;
  /** The same for every account, by id. */
  each(month: string): AsyncGenerator<Statement>;
  /** The same as CSV in UTF-8, a line for each account: the file that was written when the month was closed. */
  csv(month: string): Promise<Uint8Array>;
  /** Closes a month that has ended. One that is closed stays as it is. */
  close(month: string): Promise<UsageMonth>;
  /** Closes the oldest month that is due; `null` if there is none. */
  closeNext(): Promise<UsageMonth | null>;
};

/** The codes with which each call can refuse. */
export type StatementsRefusals = {
  'statements.months': 'invalid' | 'not_found';
  'statements.month': 'invalid';
  'statements.show': 'invalid' | 'not_found';
  'statements.each': 'invalid' | 'not_found';
  'statements.csv': 'invalid' | 'not_found';
  'statements.close': 'invalid' | 'conflict';
  'statements.closeNext': 'conflict';
};

/** How long after its end a month is closed: more than clocks differ. Lookups of slower ones count on the next day. */
const graceSeconds = 3600;

const marker = (month: string) => `${statementsPrefix}${month}.json`;
const indexed = 100;
const concurrency = 16;

/** The closed months and their files, which nothing changes any more. */
function closedMonths(files: StatementStore) {
  const find = async (month: string): Promise<ClosedMonth | null> => {
    const bytes = await files.read(marker(month));
    return bytes && JSON.parse(text(bytes));
  };

  const readPart = async ({ file, index, bytes }: ClosedMonth, entry: number): Promise<Statement[]> => {
    const [first, end] = [index[entry]?.position ?? 0, index[entry + 1]?.position ?? bytes];
    const lines = end <= first ? null : await files.read(file, { first, last: end - 1 });
    return text(lines ?? missing(file))
      .trimEnd()
      .split('\n')
      .map((line): Statement => JSON.parse(line));
  };

  return {
    find,
    async names(): Promise<string[]> {
      return (await files.list(statementsPrefix)).flatMap((key) => {
        return /^(\d{4}-\d\d)\.json$/.exec(key.slice(statementsPrefix.length))?.[1] ?? [];
      });
    },
    async statement(closed: ClosedMonth, account: string): Promise<Statement | undefined> {
      const part = closed.index.findLastIndex((entry) => entry.account <= account);
      const found = part === -1 ? [] : await readPart(closed, part);
      return found.find((one) => one.account === account);
    },
    async *each(closed: ClosedMonth): AsyncGenerator<Statement> {
      for (const part of closed.index.keys()) yield* await readPart(closed, part);
    },
    csv: async ({ csv }: ClosedMonth): Promise<Uint8Array> => (await files.read(csv)) ?? missing(csv),
    /** Only the marker has a fixed name: of two that close a month, one writes it, and both return that one. */
    async add(made: ClosedMonth): Promise<ClosedMonth | null> {
      if (await files.create(marker(made.month), Buffer.from(JSON.stringify(made)))) return made;
      return find(made.month);
    },
  };
}

export function statementsOf(store: AdminStore, files: StatementStore): Statements {
  const closedOnes = closedMonths(files);
  const currentMonth = () => dateOf(store.nowSeconds()).slice(0, 7);

  /** The state of a month that there is, with its marker if it is closed. @throws AdminError `invalid` */
  const look = async (month: string): Promise<{ view: UsageMonth; closed: ClosedMonth | null }> => {
    rangeOfMonth(month);
    const closed = await closedOnes.find(month);
    if (closed) return { view: viewOf(closed), closed };
    const current = currentMonth();
    if (month > current) throw tooLate(month, current);
    const first = await firstMonthOf(store);
    if (month < first.month) throw tooEarly(first.month, `${first.why} Choose ${first.month} or later.`);
    return { view: notClosed(month, month === current ? 'open' : 'closing'), closed };
  };

  /** @throws AdminError `invalid`, `not_found` */
  const get = async (month: string): Promise<ClosedMonth> => {
    const { view, closed } = await look(month);
    if (closed) return closed;
    const why =
      view.state === 'open'
        ? `${month} is open. Its statement is written when the month has ended.`
        : `${month} has ended, but is not closed yet. It is closed within hours, by the job that records usage.`;
    throw new AdminError('not_found', why, { subject: 'statement' });
  };

  const close = async (month: string): Promise<UsageMonth> => {
    const { view } = await look(month);
    if (view.state === 'closed') return view;
    const due = dueAt(month);
    if (store.nowSeconds() < due) {
      throw new AdminError('invalid', `${month} can be closed from ${instant(due)} on.`);
    }
    const closed = await closedOnes.add(await writeFiles(store, files, month));
    if (!closed) throw new AdminError('conflict', `${month} is being closed; retry.`);
    return viewOf(closed);
  };

  const months = async ({ account }: { account?: string | undefined } = {}): Promise<UsageMonth[]> => {
    const closed = new Set(await closedOnes.names());
    const current = currentMonth();
    const all = new Set(closed);
    for (let { month } = await firstMonthOf(store); month <= current; month = next(month)) all.add(month);
    const { from, to } = account === undefined ? { from: '', to: '~' } : await monthsOfAccount(store, account);
    const views: UsageMonth[] = [];
    for (const month of [...all]
      .filter((month) => from <= month && month <= to)
      .toSorted()
      .reverse()) {
      const found = closed.has(month) ? await closedOnes.find(month) : null;
      views.push(found ? viewOf(found) : notClosed(month, month === current ? 'open' : 'closing'));
    }
    return views;
  };

  return {
    months,
    month: async (month) => (await look(month)).view,
    close,
    async show({ account, month }) {
      checkAccountId(account);
      rangeOfMonth(month);
      const { from } = await monthsOfAccount(store, account);
      if (month < from) throw tooEarly(from, `${createdIn(from, account)} Choose ${from} or later.`);
      const statement = await closedOnes.statement(await get(month), account);
      if (statement) return statement;
      throw new AdminError('not_found', `Account "${account}" has no statement for ${month}.`);
    },
    async *each(month) {
      yield* closedOnes.each(await get(month));
    },
    csv: async (month) => closedOnes.csv(await get(month)),
    async closeNext() {
      const due = (await months()).filter(
        ({ month, state }) => state === 'closing' && dueAt(month) <= store.nowSeconds(),
      );
      const oldest = due.at(-1);
      return oldest ? close(oldest.month) : null;
    },
  };
}

/** The first and the last month in which an account existed. @throws AdminError `invalid`, `not_found` */
async function monthsOfAccount(store: AdminStore, account: string): Promise<{ from: string; to: string }> {
  checkAccountId(account);
  const history = [...(await planHistoryOf(store, account))];
  const [first, last] = [history[0], history.at(-1)];
  if (!first || !last) throw new AdminError('not_found', `There is no account "${account}".`, { subject: 'account' });
  const [from, deleted] = [first[0].slice(0, 7), last[1] === null ? dateOf(secondsOf(last[0]) - daySeconds) : '~'];
  return { from, to: deleted.slice(0, 7) };
}

/**
 * Records every day of the month of all accounts, and writes the files. Each access item is moved on to today first:
 * from then on no lookup can be counted in the month, whatever an instance's clock says.
 */
async function writeFiles(store: AdminStore, files: StatementStore, month: string): Promise<ClosedMonth> {
  const { months } = await readRetention(store);
  const range = rangeOfMonth(month);
  const lines: Buffer[] = [];
  const rows: string[] = [];
  const index: ClosedMonth['index'] = [];
  let [bytes, lookups, count] = [0, 0, 0];
  let cursor: string | undefined;
  do {
    const page = await namesPage(store, 100, cursor);
    await forEachConcurrently(
      await findAccessOf(store, page.names),
      concurrency,
      async (one) => void (await recordUsage(store, one, months, { movesIdle: true })),
    );
    const histories = await planHistories(store, page.names);
    const statements = (await readAccounts(store, page.names, range))
      .map((usage) => statementOf(month, usage, histories.get(usage.account) ?? new Map()))
      // An account without lookups has a statement if it existed.
      .filter(({ plans }) => plans.length > 0);
    for (const statement of statements) {
      if (count % indexed === 0) index.push({ account: statement.account, position: bytes });
      const line = Buffer.from(`${JSON.stringify(statement)}\n`);
      lines.push(line);
      bytes += line.length;
      lookups += statement.lookups;
      count++;
    }
    const [head = '', ...added] = statementsCsv(month, statements).split(/(?<=\n)/);
    rows.push(...(rows.length === 0 ? [head] : []), ...added);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  const [json, csv] = [Buffer.concat(lines), Buffer.from(rows.join(''))];
  const [sha256, csvSha256] = [sha256Of(json), sha256Of(csv)];
  // Named by what is in them, so that one of another attempt is never taken for this one.
  const name = (hash: string, extension: string) => `${statementsPrefix}${month}/${hash.slice(0, 16)}.${extension}`;
  const made = { file: name(sha256, 'jsonl'), csv: name(csvSha256, 'csv') };
  await files.create(made.file, json);
  await files.create(made.csv, csv);
  return {
    month,
    closed: instant(store.nowSeconds()),
    accounts: count,
    lookups,
    sha256,
    csvSha256,
    bytes,
    index,
    ...made,
  };
}

function viewOf({ month, closed, accounts, lookups, sha256 }: ClosedMonth): UsageMonth {
  return { month, state: 'closed', closed, accounts, lookups, sha256 };
}

function notClosed(month: string, state: MonthState): UsageMonth {
  return { month, state, closed: null, accounts: null, lookups: null, sha256: null };
}

function dueAt(month: string): number {
  return windowEnd('month', secondsOf(`${month}-01`)) + graceSeconds;
}

function next(month: string): string {
  return dateOf(windowEnd('month', secondsOf(`${month}-01`))).slice(0, 7);
}

function missing(file: string): never {
  throw new Error(`The statement file ${file} is missing. Restore the bucket.`);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
