import { createHash } from 'node:crypto';
import { dateOf, datesOf, daySeconds, instant, secondsOf, windowEnd } from '../../core/calendar.ts';
import { forEachConcurrently, mapConcurrently } from '../../core/concurrency.ts';
import { pagesOf } from '../../core/pages.ts';
import { statementsPrefix } from '../../core/tables.ts';
import { ObjectChangedError, type Storage } from '../../loader/storage/storage.ts';
import { AdminError, noAccount, rangeOfMonth } from './accounts/admin-error.ts';
import { type AdminStore, findAccessOf } from './accounts/admin-store.ts';
import { checkArguments } from './accounts/arguments.ts';
import {
  type PlanHistory,
  type PlanPeriod,
  planHistories,
  planHistoryOf,
  planPeriods,
} from './accounts/plan-history.ts';
import {
  type AccountUsage,
  createdIn,
  type DayUsage,
  firstMonthOf,
  namesPage,
  readAccounts,
  readRetention,
  recordUsage,
  tooEarly,
  tooLate,
} from './accounts/usage.ts';

/**
 * An account's use in a closed month: the periods under each plan and the days with lookups, in
 * order, each with their sum. `sha256` is the hash of the other members, as JSON in this order
 * without spaces.
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
  { account, days }: AccountUsage,
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

/**
 * The CSV of statements of one month: a row for each period of an account under a plan, a column
 * for each day.
 */
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

/** The statements of a file that `statementsCsv` made. */
function statementsIn(csv: string): Statement[] {
  const [head = [], ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  const dates = head.slice(7);
  const statements = new Map<string, Statement>();
  for (const [
    account = '',
    plan = '',
    month = '',
    from = '',
    to = '',
    lookups,
    sha256 = '',
    ...used
  ] of rows) {
    const { plans, days, ...before } = statements.get(account) ?? {
      plans: [],
      days: [],
      lookups: 0,
    };
    const added = dates.flatMap((date, i) =>
      Number(used[i]) > 0 ? [{ date, lookups: Number(used[i]) }] : [],
    );
    statements.set(account, {
      month,
      account,
      plans: [...plans, { plan, from, to, lookups: Number(lookups) }],
      lookups: before.lookups + Number(lookups),
      days: [...days, ...added],
      sha256,
    });
  }
  return [...statements.values()];
}

/** In hexadecimal digits. */
export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/**
 * `open`: still counted in. `closing`: ended, not yet written. `closed`: its statement is written
 * and never changes.
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

/**
 * The object that closes a month: the sums, and the file of all its statements with its SHA-256.
 */
type ClosedMonth = {
  month: string;
  closed: string;
  accounts: number;
  lookups: number;
  csv: string;
  sha256: string;
};

/** Where statements are kept. An object is never replaced. */
export type StatementFiles = Pick<Storage, 'get' | 'put'>;

/** Creates the object; `false` if it exists. */
async function create(files: StatementFiles, key: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await files.put(key, bytes, null);
    return true;
  } catch (error) {
    if (error instanceof ObjectChangedError) return false;
    throw error;
  }
}

export type Statements = {
  /**
   * The months since the first account, or since this one, newest first, that are closed or whose
   * usage is kept.
   */
  months(scope?: { account?: string | undefined }): Promise<UsageMonth[]>;
  month(month: string): Promise<UsageMonth>;
  /** One account's use in a closed month. */
  show(input: { account: string; month: string }): Promise<Statement>;
  /** The same for every account, by id. */
  each(month: string): AsyncGenerator<Statement>;
  /** The same as CSV in UTF-8: the file that was written when the month was closed. */
  csv(month: string): Promise<Uint8Array>;
  /** Closes a month that has ended. One that is closed stays as it is. */
  close(month: string): Promise<UsageMonth>;
  /** Closes the oldest month that is due; `null` if none is due. */
  closeNext(): Promise<UsageMonth | null>;
};

/**
 * How long after its end a month is closed: more than clocks differ. Lookups of slower ones count
 * on the next day.
 */
const graceSeconds = 3600;

const marker = (month: string) => `${statementsPrefix}${month}.json`;
/** Some file systems don't distinguish "acme" and "Acme": the hash does. */
const statementKey = (month: string, account: string) =>
  `${statementsPrefix}${month}/${account}-${sha256Of(account).slice(0, 8)}.json`;
const concurrency = 16;

export function statementsOf(store: AdminStore, files: StatementFiles): Statements {
  const find = async (month: string): Promise<ClosedMonth | null> => {
    const bytes = await files.get(marker(month));
    return bytes && JSON.parse(text(bytes));
  };
  const csv = async ({ csv }: ClosedMonth): Promise<Uint8Array> =>
    (await files.get(csv)) ?? missing(csv);
  const currentMonth = () => dateOf(store.nowSeconds()).slice(0, 7);

  /**
   * The state of a month that there is, with its marker if it is closed. @throws AdminError
   * `invalid`
   */
  const stateOf = async (
    month: string,
  ): Promise<{ view: UsageMonth; closed: ClosedMonth | null }> => {
    const closed = await find(month);
    if (closed) return { view: viewOf(closed), closed };
    const current = currentMonth();
    if (month > current) throw tooLate(month, current);
    const first = await firstMonthOf(store);
    if (month < first.month) {
      throw tooEarly(first.month, `${first.why} Choose ${first.month} or later.`);
    }
    return { view: notClosed(month, month === current ? 'open' : 'closing'), closed };
  };

  /** @throws AdminError `invalid`, `not_found` */
  const get = async (month: string): Promise<ClosedMonth> => {
    const { view, closed } = await stateOf(month);
    if (closed) return closed;
    const why =
      view.state === 'open'
        ? `${month} is open. Its statement is written when the month has ended.`
        : `${month} has ended, but is not closed yet. It is closed within hours, by the job that records usage.`;
    throw new AdminError('not_found', why, { subject: 'statement' });
  };

  const close = async (month: string): Promise<UsageMonth> => {
    const { view } = await stateOf(month);
    if (view.state === 'closed') return view;
    const due = dueAt(month);
    if (store.nowSeconds() < due) {
      throw new AdminError('invalid', `${month} can be closed from ${instant(due)} on.`);
    }
    const made = await writeFiles(store, files, month);
    // Only this object has a fixed name: of two that close a month, one writes it, and both return
    // that one.
    const closed = (await create(files, marker(month), Buffer.from(JSON.stringify(made))))
      ? made
      : await find(month);
    if (!closed) throw new AdminError('conflict', `${month} is being closed; retry.`);
    return viewOf(closed);
  };

  const months = async ({
    account,
  }: {
    account?: string | undefined;
  } = {}): Promise<UsageMonth[]> => {
    const current = currentMonth();
    const { month: kept } = await firstMonthOf(store);
    const all = async () => ({ from: (await readRetention(store)).since ?? kept, to: current });
    const { from, to } =
      account === undefined ? await all() : await monthsOfAccount(store, account);
    const wanted: string[] = [];
    for (let month = from; month <= current && month <= to; month = next(month)) {
      wanted.unshift(month);
    }
    const found = await mapConcurrently(wanted, concurrency, async (month) => {
      const closed = await find(month);
      if (closed) return [viewOf(closed)];
      return month < kept ? [] : [notClosed(month, month === current ? 'open' : 'closing')];
    });
    return found.flat();
  };

  return checkArguments('statements', {
    months,
    month: async (month) => (await stateOf(month)).view,
    close,
    async show({ account, month }) {
      const { from } = await monthsOfAccount(store, account);
      if (month < from) {
        throw tooEarly(from, `${createdIn(from, account)} Choose ${from} or later.`);
      }
      await get(month);
      const statement = await files.get(statementKey(month, account));
      if (statement) return JSON.parse(text(statement));
      throw new AdminError('not_found', `Account "${account}" has no statement for ${month}.`);
    },
    async *each(month) {
      yield* statementsIn(text(await csv(await get(month))));
    },
    csv: async (month) => csv(await get(month)),
    async closeNext() {
      const isDue = ({ month, state }: UsageMonth) =>
        state === 'closing' && dueAt(month) <= store.nowSeconds();
      const oldest = (await months()).findLast(isDue);
      return oldest ? close(oldest.month) : null;
    },
  });
}

/**
 * The first and last months of an account's existence. @throws AdminError `invalid`, `not_found`
 */
async function monthsOfAccount(
  store: AdminStore,
  account: string,
): Promise<{ from: string; to: string }> {
  const history = [...(await planHistoryOf(store, account))];
  const first = history[0];
  const last = history.at(-1);
  if (!first || !last) throw noAccount(account);
  const from = first[0].slice(0, 7);
  const deleted = last[1] === null ? dateOf(secondsOf(last[0]) - daySeconds) : '~';
  return { from, to: deleted.slice(0, 7) };
}

/**
 * Records every day of the month of all accounts, and writes the files. Each access item is moved
 * on to today first: from then on no lookup can be counted in the month, whatever an instance's
 * clock says.
 */
async function writeFiles(
  store: AdminStore,
  files: StatementFiles,
  month: string,
): Promise<ClosedMonth> {
  const { months } = await readRetention(store);
  const range = rangeOfMonth(month);
  const rows: string[] = [];
  let lookups = 0;
  let accounts = 0;
  for await (const { names } of pagesOf(({ cursor }) => namesPage(store, 100, cursor))) {
    await forEachConcurrently(
      await findAccessOf(store, names),
      concurrency,
      async (account) => void (await recordUsage(store, account, months, { movesIdle: true })),
    );
    const histories = await planHistories(store, names);
    const statements = (await readAccounts(store, names, range))
      .map((usage) => statementOf(month, usage, histories.get(usage.account) ?? new Map()))
      // An account without lookups has a statement if it existed.
      .filter(({ plans }) => plans.length > 0);
    const kept = await mapConcurrently(statements, concurrency, (statement) =>
      keep(files, statement),
    );
    lookups += kept.reduce((sum, statement) => sum + statement.lookups, 0);
    accounts += kept.length;
    const [head = '', ...added] = statementsCsv(month, kept).split(/(?<=\n)/);
    rows.push(...(rows.length === 0 ? [head] : []), ...added);
  }
  const bytes = Buffer.from(rows.join(''));
  const sha256 = sha256Of(bytes);
  // Named by its contents, so that the file of another attempt is never taken for this one.
  const csv = `${statementsPrefix}${month}/${sha256.slice(0, 16)}.csv`;
  await create(files, csv, bytes);
  return { month, closed: instant(store.nowSeconds()), accounts, lookups, csv, sha256 };
}

/**
 * Writes the statement of an account, or returns the statement from an earlier attempt: an object
 * never changes.
 */
async function keep(files: StatementFiles, statement: Statement): Promise<Statement> {
  const key = statementKey(statement.month, statement.account);
  if (await create(files, key, Buffer.from(JSON.stringify(statement)))) return statement;
  return JSON.parse(text((await files.get(key)) ?? missing(key)));
}

function viewOf({ month, closed, accounts, lookups, sha256 }: ClosedMonth): UsageMonth {
  return { month, state: 'closed', closed, accounts, lookups, sha256 };
}

function notClosed(month: string, state: MonthState): UsageMonth {
  return { month, state, closed: null, accounts: null, lookups: null, sha256: null };
}

const dueAt = (month: string): number =>
  windowEnd('month', secondsOf(`${month}-01`)) + graceSeconds;

const next = (month: string): string =>
  dateOf(windowEnd('month', secondsOf(`${month}-01`))).slice(0, 7);

function missing(file: string): never {
  throw new Error(`The statement file ${file} is missing. Restore the bucket.`);
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
