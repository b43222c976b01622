import { accountIdPattern, containsApiKey, maxExpiry } from '../../../core/accounts/api-key.ts';
import { isDate, monthOf, type WindowName, windowNames } from '../../../core/calendar.ts';

/** Stable: a portal may branch on them. */
export type AdminErrorCode = AdminRefusals[keyof AdminRefusals];

/** The refusal codes of each call of the admin module, by its path in `Admin`. */
export type AdminRefusals = {
  'plans.put': 'invalid' | 'conflict';
  'plans.begin': 'invalid' | 'conflict';
  'plans.follow': 'invalid' | 'not_found' | 'conflict';
  'plans.list': 'invalid';
  'plans.counts': never;
  'plans.audit': 'invalid' | 'not_found';
  'accounts.create': 'invalid' | 'not_found' | 'exists' | 'conflict';
  'accounts.set': 'invalid' | 'not_found' | 'conflict';
  'accounts.suspend': 'invalid' | 'not_found' | 'conflict';
  'accounts.activate': 'invalid' | 'not_found' | 'conflict';
  'accounts.delete': 'invalid' | 'not_found' | 'not_suspended' | 'conflict';
  'accounts.show': 'invalid' | 'not_found';
  'accounts.list': 'invalid';
  'accounts.audit': 'invalid' | 'not_found';
  'accounts.usage': 'invalid' | 'not_found' | 'conflict';
  'accounts.usageByKey': 'invalid' | 'not_found' | 'conflict';
  'accounts.eachUsage': 'invalid' | 'conflict';
  'accounts.usageParts': 'invalid';
  'accounts.usageKeptSince': 'invalid';
  'backup.export': never;
  'backup.import': 'invalid' | 'not_found' | 'exists' | 'too_many_keys' | 'conflict';
  'keys.create': 'invalid' | 'not_found' | 'too_many_keys' | 'already_created' | 'conflict';
  'keys.rotate':
    | 'invalid'
    | 'not_found'
    | 'too_many_keys'
    | 'already_created'
    | 'already_replaced'
    | 'conflict';
  'keys.rename': 'invalid' | 'not_found';
  'keys.set': 'invalid' | 'not_found' | 'conflict';
  'keys.list': 'invalid' | 'not_found';
  'keys.find': 'invalid';
  'keys.revoke': 'invalid' | 'not_found' | 'conflict';
  'members.add': 'invalid' | 'not_found' | 'too_many_members' | 'conflict';
  'members.remove': 'invalid' | 'not_found' | 'conflict';
  'members.list': 'invalid' | 'not_found';
  'members.roleIn': 'invalid';
  'members.accountsOf': 'invalid';
  'sessions.start': 'invalid';
  'sessions.find': 'invalid';
  'sessions.confirm': 'invalid';
  'sessions.end': 'invalid';
  'sessions.endAll': 'invalid' | 'not_found' | 'conflict';
  'sessions.list': 'invalid' | 'not_found';
  'sessions.refuse': 'invalid';
  'sessions.audit': 'invalid';
};

export type StatementsRefusals = {
  'statements.months': 'invalid' | 'not_found';
  'statements.month': 'invalid';
  'statements.show': 'invalid' | 'not_found';
  'statements.each': 'invalid' | 'not_found';
  'statements.csv': 'invalid' | 'not_found';
  'statements.close': 'invalid' | 'conflict';
  'statements.closeNext': 'conflict';
};

/** The refusal codes of each call of `Loads`; `conflict` also while another load is running. */
export type LoadsRefusals = {
  'loads.register': 'invalid';
  'loads.running': never;
  'loads.waiting': never;
  'loads.show': 'invalid' | 'not_found';
  'loads.changes': 'invalid' | 'not_found';
  'loads.approve': 'invalid' | 'not_found' | 'conflict';
  'loads.reject': 'invalid' | 'not_found' | 'conflict';
  'loads.audit': 'invalid';
};

/**
 * A refusal of the admin module; its message says what to do, names no command, and never holds a
 * key. Nothing was changed, except that after `conflict` a change of a plan may have reached some
 * of its accounts: run it again.
 */
export class AdminError extends Error {
  readonly code: AdminErrorCode;
  /**
   * The key that an earlier call with the same token made, for `already_created`, or that already
   * replaces the key, for `already_replaced`.
   */
  readonly keyId?: string;
  /** The kind of thing that does not exist, for `not_found`. */
  readonly subject?: 'account' | 'plan' | 'key' | 'statement';
  /**
   * Tells the meanings of a code apart: with `invalid`, `last_admin` and `month` (a month without
   * any data); with `too_many_keys`, `day`.
   */
  readonly reason?: 'last_admin' | 'month' | 'day';
  /** The first month that there is, `2026-11`, for a month or a day before it. */
  readonly firstMonth?: string;

  constructor(
    code: AdminErrorCode,
    message: string,
    {
      cause,
      ...more
    }: ErrorOptions & Pick<AdminError, 'keyId' | 'subject' | 'reason' | 'firstMonth'> = {},
  ) {
    super(message, { cause });
    Object.assign(this, more);
    this.name = 'AdminError';
    this.code = code;
  }
}

export const noAccount = (id: string): AdminError =>
  new AdminError('not_found', `There is no account "${id}".`, { subject: 'account' });

/**
 * Used instead of `instanceof`: a program that both imports and requires the package has two such
 * classes.
 */
export function isAdminError(error: unknown): error is AdminError {
  return error instanceof Error && error.name === 'AdminError' && 'code' in error;
}

/** The highest limit: practically unlimited, and small enough for the access item. */
export const maxLimit = 1e12;

export const maxLabelLength = 64;
export const keyIdPattern = /^[0-9A-Za-z]{8}$/;
const nameRule = '1 to 32 letters, digits, ".", "_" or "-", and starts with a letter or digit';

/**
 * A check that throws `invalid` unless a text fits. Its sentence never repeats the text, which may
 * be a key.
 */
const rule = (form: { test: (text: string) => boolean }, sentence: string) => {
  return (text: string): void => {
    if (!form.test(text)) throw new AdminError('invalid', sentence);
  };
};

export const checkAccountId = rule(accountIdPattern, `An account id is ${nameRule}.`);
export const checkPlanCode = rule(accountIdPattern, `A plan code is ${nameRule}.`);
export const checkKeyId = rule(
  keyIdPattern,
  'A key id is 8 letters or digits, as the list of keys shows it. Never pass the key itself.',
);

/** @throws AdminError `invalid` unless `label` is 1 to 64 characters on one line, and no API key */
export const checkLabel = (label: string): void => checkOneLine(label, 'A label', maxLabelLength);

/** The most characters of each text that an operator writes about an account. */
export const longestDetails = { name: 100, contact: 200, note: 200 } as const;
export const detailFields = Object.keys(longestDetails) as (keyof typeof longestDetails)[];

/** Details to set: `null` removes a detail, and absent details stay. */
export type DetailsChanges = Partial<
  Record<'name' | 'contact' | 'note', string | null | undefined>
>;

/** @throws AdminError `invalid` unless each is `null`, or a text on one line that is no API key */
export function checkDetails(changes: DetailsChanges): void {
  for (const field of detailFields) {
    const text = changes[field];
    if (text === undefined || text === null) continue;
    checkOneLine(text, `The ${field} of an account`, longestDetails[field]);
  }
}

/**
 * @throws AdminError `invalid` unless `text` is 1 to `longest` characters on one line, and no API
 * key
 */
export function checkOneLine(text: string, what: string, longest: number): void {
  const { length } = [...text];
  // No control and format characters, line separators or lone surrogates, which could corrupt a
  // terminal or a page.
  if (
    length < 1 ||
    length > longest ||
    text.trim() === '' ||
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)
  ) {
    throw new AdminError(
      'invalid',
      `${what} is 1 to ${longest} characters, without control characters.`,
    );
  }
  if (containsApiKey(text)) {
    throw new AdminError(
      'invalid',
      `${what} looks like an API key. It is stored and shown: use a name instead.`,
    );
  }
}

export const checkToken = rule(
  /^[\x21-\x7e]{16,128}$/,
  'An idempotency token is 16 to 128 ASCII characters without spaces, such as a UUID.',
);

/**
 * An instant: a `Date`, or ISO 8601 with a time zone, `2027-01-31T12:00:00Z`, as the calls return
 * it.
 */
export type Instant = Date | string;

const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/**
 * When a key expires, in whole seconds. @throws AdminError `invalid` unless that is after
 * `nowSeconds`, before 2106
 */
export function readExpiry(expires: Instant, nowSeconds: number): number {
  const date =
    typeof expires === 'string' && instantPattern.test(expires) ? new Date(expires) : expires;
  const seconds = date instanceof Date ? Math.floor(date.getTime() / 1000) : Number.NaN;
  if (Number.isNaN(seconds)) {
    throw new AdminError(
      'invalid',
      'A key expires at a Date, or at an instant like 2027-01-31T12:00:00Z.',
    );
  }
  if (seconds > nowSeconds && seconds <= maxExpiry) return seconds;
  throw new AdminError('invalid', 'A key expires in the future, and before 2106.');
}

/**
 * A member's rights in a portal: view usage and statements, view everything, or also change keys
 * and members.
 */
export type Role = 'finance' | 'viewer' | 'admin';

/** Each role may do what those before it may. */
export const roles: readonly Role[] = ['finance', 'viewer', 'admin'];

export const checkRole = rule(
  { test: (role) => roles.some((known) => known === role) },
  `A role is ${roles.join(', ')}.`,
);

/**
 * An e-mail address that can be written in only one way: ASCII, without quotes, comments or spaces.
 * It has no colon, so `sub:` and a subject never match. Nothing is trimmed, and lowercasing adds no
 * letter to the allowed ones.
 */
const emailForm = /^[A-Za-z0-9!$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9.-]{1,190}$/;
const subjectForm = /^sub:[\x21-\x7e]{1,255}$/;

/**
 * Whether a text can identify a person: an e-mail address, or `sub:` and a subject of the OpenID
 * provider.
 */
export function isPerson(person: string): boolean {
  return (
    typeof person === 'string' &&
    (subjectForm.test(person) || emailForm.test(person)) &&
    !containsApiKey(person)
  );
}

export const checkPerson = rule(
  { test: isPerson },
  'A member is an e-mail address of ASCII letters, digits and marks without spaces or quotes, or "sub:" and the ' +
    'subject that the OpenID provider gives.',
);

/**
 * @throws AdminError `invalid` unless each member is a window with a limit of 0 to `maxLimit`, or
 * `null`: unlimited
 */
export function checkLimits(limits: Partial<Record<string, unknown>>): void {
  for (const [window, limit] of Object.entries(limits)) {
    checkWindow(window);
    if (limit === null) continue;
    if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 && limit <= maxLimit) {
      continue;
    }
    throw new AdminError(
      'invalid',
      `The limit of "${window}" is a whole number from 0 to ${maxLimit}, or unlimited.`,
    );
  }
}

/** Own limits to set, by window; `'plan'` removes the own limit. */
export type OwnLimitChanges = Partial<Record<WindowName, number | null | 'plan'>>;

/** Like `checkLimits`, and takes `'plan'` for a window that follows the plan again. */
export function checkOwnLimits(limits: Partial<Record<string, unknown>>): void {
  checkLimits(
    Object.fromEntries(
      Object.entries(limits).map(([name, limit]) => [name, limit === 'plan' ? null : limit]),
    ),
  );
}

/** @throws AdminError `invalid` unless `name` is a time window */
export function checkWindow(name: string): void {
  if (windowNames.some((window) => window === name)) return;
  throw new AdminError('invalid', `"${name}" is not a time window; use ${windowNames.join(', ')}.`);
}

/** @throws AdminError `invalid` unless `date` is a UTC date of this century */
export function checkDate(date: string, name: string): void {
  if (isDate(date)) return;
  throw new AdminError('invalid', `${name} is a UTC date, for instance 2026-11-21.`);
}

/** The first and the last day of a month. @throws AdminError `invalid` unless it is one */
export function rangeOfMonth(month: string): { from: string; to: string } {
  const range = monthOf(month);
  if (range) return range;
  throw new AdminError('invalid', 'A month is a UTC month of this century, for instance 2026-11.');
}

/** A load's id is part of the names of objects in the storage. */
export const checkLoad = rule(
  /^\d{4}-\d\d-\d\d-[0-9a-f]{10}$/,
  'A load has an id like 2026-11-08-0123456789, as the list of loads shows it.',
);
