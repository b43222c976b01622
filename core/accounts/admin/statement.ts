import { createHash } from 'node:crypto';
import { datesOf, monthOf } from '../../calendar.ts';
import { AdminError } from './admin-error.ts';
import type { DayUsage } from './usage.ts';

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
