import { createHash } from 'node:crypto';
import { dateOf, datesOf, daySeconds, instant, monthOf, secondsOf, windowEnd } from '../../calendar.ts';
import { forEachConcurrently } from '../../concurrency.ts';
import { statementsPrefix } from '../../names.ts';
import { accessKey, readAccess } from '../account-item.ts';
import { AdminError, checkAccountId } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { planOfDeleted } from './delete-account.ts';
import {
  type DayUsage,
  firstKeptDay,
  namesPage,
  readAccounts,
  readRetention,
  recordUsage,
  usageKeptSince,
} from './usage.ts';

/**
 * What an account used in a closed month: the days with lookups, in order, and their sum. `plan` is the one it was on
 * when the month was closed, or when the account was deleted. `sha256` is the hash of the other members, as JSON in
 * this order without spaces.
 */
export type Statement = {
  month: string;
  account: string;
  plan: string | null;
  lookups: number;
  days: DayUsage[];
  sha256: string;
};

/** The statement of an account in a month, from all of its days. */
export function statementOf(
  month: string,
  { account, days }: { account: string; days: readonly DayUsage[] },
  plan: string | null,
): Statement {
  const used = days.filter(({ lookups }) => lookups > 0);
  const lookups = used.reduce((sum, day) => sum + day.lookups, 0);
  const content = { month, account, plan, lookups, days: used };
  return { ...content, sha256: sha256Of(JSON.stringify(content)) };
}

/** Every day of the month of a statement, also those without lookups. */
export function daysOf({ month, days }: Pick<Statement, 'month' | 'days'>): DayUsage[] {
  const byDate = new Map(days.map(({ date, lookups }) => [date, lookups]));
  return datesOf(rangeOfMonth(month)).map((date) => ({ date, lookups: byDate.get(date) ?? 0 }));
}

/** The CSV of statements of one month: a row for each account, a column for each day. */
export function statementsCsv(month: string, statements: readonly Statement[]): string {
  const dates = datesOf(rangeOfMonth(month));
  const rows = statements.map((statement) => {
    const { account, plan, lookups, sha256 } = statement;
    return [account, plan ?? '', month, lookups, sha256, ...daysOf(statement).map((day) => day.lookups)];
  });
  return [['account', 'plan', 'month', 'lookups', 'sha256', ...dates], ...rows]
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
 * `open`: lookups are still counted in it. `closing`: it has ended, and its last days may not be recorded yet.
 * `closed`: its statement is written and never changes.
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
 * The object that closes a month, with the places of its files, and the position of every hundredth account in the
 * first of them.
 */
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
  /** The keys that begin with `prefix`. */
  list(prefix: string): Promise<string[]>;
};

/** The calls on statements. */
export type Statements = {
  /** The months since the first account, the newest first, as far as they are closed or their usage is kept. */
  months(): Promise<UsageMonth[]>;
  /** The state of one month. */
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
  'statements.months': never;
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

export function statementsOf(store: AdminStore, files: StatementStore): Statements {
  const find = async (month: string): Promise<ClosedMonth | null> => {
    const bytes = await files.read(marker(month));
    return bytes && JSON.parse(text(bytes));
  };

  /** The state of a month of which anything is known, with its marker if it is closed. @throws AdminError `invalid` */
  const look = async (month: string): Promise<{ view: UsageMonth; closed: ClosedMonth | null }> => {
    const { from } = rangeOfMonth(month);
    const closed = await find(month);
    if (closed) return { view: viewOf(closed), closed };
    const today = dateOf(store.nowSeconds());
    if (from > today) throw notBegun(month, today);
    if (from < (await usageKeptSince(store))) throw expired(month);
    return { view: notClosed(month, month === today.slice(0, 7) ? 'open' : 'closing'), closed };
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

  const linesOf = async (closed: ClosedMonth, first: number, last: number): Promise<Statement[]> => {
    const bytes = last < first ? null : await files.read(closed.file, { first, last });
    return text(bytes ?? missing(closed.file))
      .trimEnd()
      .split('\n')
      .map((line): Statement => JSON.parse(line));
  };

  /** The part of the file that begins with entry `i` of the index. */
  const partOf = (closed: ClosedMonth, i: number) => {
    const end = closed.index[i + 1]?.position ?? closed.bytes;
    return linesOf(closed, closed.index[i]?.position ?? 0, end - 1);
  };

  const close = async (month: string): Promise<UsageMonth> => {
    const { from, to } = rangeOfMonth(month);
    const found = await find(month);
    if (found) return viewOf(found);
    const due = dueAt(month);
    if (store.nowSeconds() < due) {
      throw new AdminError('invalid', `${month} can be closed from ${instant(due)} on.`);
    }
    if (from < (await usageKeptSince(store))) throw expired(month);
    const made = await writeFiles(store, files, month, { from, to });
    // The marker is the only object of a fixed name: of two that close a month, one writes it, and both return that
    // one.
    if (await files.create(marker(month), Buffer.from(JSON.stringify(made)))) return viewOf(made);
    const first = await find(month);
    if (!first) throw new AdminError('conflict', `${month} is being closed; retry.`);
    return viewOf(first);
  };

  const months = async (): Promise<UsageMonth[]> => {
    const names = (await files.list(statementsPrefix)).flatMap((key) => {
      return /^(\d{4}-\d\d)\.json$/.exec(key.slice(statementsPrefix.length))?.[1] ?? [];
    });
    const closed = new Set(names);
    const { months: kept, since } = await readRetention(store);
    const now = store.nowSeconds();
    const current = dateOf(now).slice(0, 7);
    const first = [firstKeptDay(kept, now).slice(0, 7), since ?? previous(current)].toSorted().at(-1) as string;
    const all = new Set(names);
    for (let month = current; month >= first; month = previous(month)) all.add(month);
    const views: UsageMonth[] = [];
    for (const month of [...all].toSorted().reverse()) {
      const found = closed.has(month) ? await find(month) : null;
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
      const closed = await get(month);
      const part = closed.index.findLastIndex((entry) => entry.account <= account);
      const found = part === -1 ? [] : await partOf(closed, part);
      const statement = found.find((one) => one.account === account);
      if (statement) return statement;
      throw new AdminError('not_found', `Account "${account}" has no statement for ${month}.`);
    },
    async *each(month) {
      const closed = await get(month);
      for (const i of closed.index.keys()) yield* await partOf(closed, i);
    },
    async csv(month) {
      const { csv } = await get(month);
      return (await files.read(csv)) ?? missing(csv);
    },
    async closeNext() {
      const due = (await months()).filter(
        ({ month, state }) => state === 'closing' && dueAt(month) <= store.nowSeconds(),
      );
      const oldest = due.at(-1);
      return oldest ? close(oldest.month) : null;
    },
  };
}

/**
 * Records every day of the month of all accounts, and writes the files. Each access item is moved on to today first:
 * from then on no lookup can be counted in the month, whatever an instance's clock says.
 */
async function writeFiles(
  store: AdminStore,
  files: StatementStore,
  month: string,
  range: { from: string; to: string },
): Promise<ClosedMonth> {
  const { months } = await readRetention(store);
  const end = windowEnd('month', secondsOf(range.from));
  const lines: Buffer[] = [];
  const rows: string[] = [];
  const index: ClosedMonth['index'] = [];
  let [bytes, lookups, count] = [0, 0, 0];
  let cursor: string | undefined;
  do {
    const page = await namesPage(store, 100, cursor);
    const access = (await store.getAll(page.names.map((id) => accessKey(id)))).map(readAccess);
    await forEachConcurrently(
      access,
      concurrency,
      async (one) => void (await recordUsage(store, one, months, { movesIdle: true })),
    );
    const created = new Map(access.map((one) => [one.account, one.created]));
    const statements: Statement[] = [];
    for (const usage of await readAccounts(store, page.names, range)) {
      const statement = statementOf(month, usage, usage.plan ?? (await planOfDeleted(store, usage.account)));
      // An account without lookups has a statement if it existed.
      if (statement.lookups > 0 || (created.get(usage.account) ?? end) < end) statements.push(statement);
    }
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

function previous(month: string): string {
  return dateOf(secondsOf(`${month}-01`) - daySeconds).slice(0, 7);
}

function notBegun(month: string, today: string): AdminError {
  return new AdminError('invalid', `${month} has not begun yet; the current month is ${today.slice(0, 7)}.`);
}

function expired(month: string): AdminError {
  return new AdminError('invalid', `${month} was never closed, and its usage is no longer kept.`);
}

function missing(file: string): never {
  throw new Error(`The statement file ${file} is missing. Restore the bucket.`);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
