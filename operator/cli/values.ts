import { instant, monthOf } from '../../core/calendar.ts';
import { dutchTime } from '../../core/dutch-time.ts';
import {
  AdminError,
  checkAccountId,
  checkDetails,
  checkKeyId,
  checkLabel,
  checkOwnLimits,
  checkPerson,
  checkPlanCode,
  checkRole,
  checkWindow,
  type OwnLimitChanges,
} from '../../packages/admin/accounts/admin-error.ts';
import { UsageError } from '../deployment/errors.ts';

/**
 * These read an argument or an option: they return a value that the admin module accepts, or throw
 * `UsageError`.
 */
export const accountId = checked(checkAccountId);
export const planCode = checked(checkPlanCode);
export const keyId = checked(checkKeyId);
export const label = checked(checkLabel);
export const person = checked(checkPerson);
export const memberRole = checked((role: string) => checkRole(role));
export const checkedDetails = checked(checkDetails);

/**
 * Reads an option that takes a last day, `2027-01-31`, which ends in the Netherlands, or
 * `2027-01-31T12:00:00Z`.
 */
export function until(option: string): (text: string) => Date {
  return (text) => {
    const time = Date.parse(text) / 1000;
    const date = time >= 0 && instant(time) === text ? new Date(text) : dutchTime.endOfDay(text);
    if (date) return date;
    throw new UsageError(
      `${option} takes a last day, like 2027-01-31, or a time in UTC, like 2027-01-31T12:00:00Z, not "${text}".`,
    );
  };
}

/** The first and the last day of a month that an option names. @throws UsageError */
export function monthRange(option: string, month: string): { from: string; to: string } {
  const range = monthOf(month);
  if (range) return range;
  throw new UsageError(`${option} takes a month, like 2026-11, not "${month}".`);
}

/** Reads `--month`. @throws UsageError */
export function month(text: string): string {
  monthRange('--month', text);
  return text;
}

/**
 * Reads `--limit minute=60 --limit month=unlimited`; `day=plan` only for the limits of an account.
 */
export function limits(
  of: 'plan' | 'account',
): (text: string, previous?: OwnLimitChanges) => OwnLimitChanges {
  return (text, previous = {}) => {
    const [, window, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (!window || !value) {
      throw new UsageError(`--limit takes WINDOW=NUMBER, like day=5000, not "${text}".`);
    }
    const name = checked((given: string) => checkWindow(given))(window) as keyof OwnLimitChanges;
    if (name in previous) {
      throw new UsageError(`--limit ${name}=... is given twice. Give each window once.`);
    }
    return checked(checkOwnLimits)({ ...previous, [name]: limitIn(value, of, text) });
  };
}

/** The limit of a key, which it can only have for a day. */
export type KeyLimit = { day: number | null };

/** Reads `--limit day=500` of a key; `day=unlimited` is `null`. @throws UsageError */
export function keyLimit(text: string, previous?: KeyLimit): KeyLimit {
  const { day, ...others } = limits('plan')(text, previous) as Record<string, number | null>;
  if (day !== undefined && Object.keys(others).length === 0) return { day };
  throw new UsageError(`--limit takes day=NUMBER or day=unlimited for a key, not "${text}".`);
}

function limitIn(value: string, of: 'plan' | 'account', text: string): number | null | 'plan' {
  if (value === 'unlimited') return null;
  if (value === 'plan' && of === 'account') return 'plan';
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const also =
    of === 'account' ? ', "unlimited", or "plan" for the limit of the plan' : ' or "unlimited"';
  throw new UsageError(`--limit ${text}: a limit is a whole number of requests${also}.`);
}

function checked<T>(check: (value: T) => void): (value: T) => T {
  return (value) => {
    try {
      check(value);
    } catch (error) {
      if (error instanceof AdminError) throw new UsageError(error.message, { cause: error });
      throw error;
    }
    return value;
  };
}

/** Reads `1012RJ 147` or `1381AA 9 a`. @throws UsageError */
export function writtenAddress(text: string): {
  postcode: string;
  huisnummer: number;
  toevoeging: string;
} {
  const [, postcode, huisnummer, toevoeging = ''] =
    /^([1-9]\d{3} ?[a-z]{2}) +(\d{1,5})(?: *(\w{1,5}))?$/i.exec(text.trim()) ?? [];
  if (postcode) {
    return {
      postcode: postcode.replace(' ', '').toUpperCase(),
      huisnummer: Number(huisnummer),
      toevoeging,
    };
  }
  throw new UsageError(
    `--address takes a postcode, huisnummer and toevoeging, like "1012RJ 147", not "${text}".`,
  );
}
