import {
  AdminError,
  type AdminRefusals,
  checkAccountId,
  checkDate,
  checkDetails,
  checkKeyId,
  checkLabel,
  checkLimits,
  checkLoad,
  checkOwnLimits,
  checkPerson,
  checkPlanCode,
  checkRole,
  checkToken,
  checkWindow,
  type LoadsRefusals,
  rangeOfMonth,
  type StatementsRefusals,
} from './admin-error.ts';
import { checkPage } from './admin-store.ts';
import type { Backup } from './backup.ts';

/**
 * The fault in a value called `name`, without the value, which may be a key; `undefined` if it is
 * valid.
 * @throws AdminError for a value of the right type that breaks a rule
 */
type Shape = (value: unknown, name: string) => string | undefined;

const shape =
  (isOne: (value: unknown) => boolean, what: string): Shape =>
  (value, name) =>
    isOne(value)
      ? undefined
      : `${name} ${value === undefined ? 'is missing: it ' : ''}must be ${what}`;

/** Also an instance of a class of the caller, but no `Date` or `Map`. */
const isObject = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === '[object Object]';

// DynamoDB refuses half of a surrogate pair.
const text = shape(
  (value) => typeof value === 'string' && value.isWellFormed(),
  'a string of valid Unicode',
);
const number = shape(Number.isFinite, 'a number');
const flag = shape((value) => typeof value === 'boolean', 'true or false');
const instant = shape(
  (value) => typeof value === 'string' || value instanceof Date,
  'a Date or a string',
);
const bytes = shape((value) => value instanceof Uint8Array, 'a Uint8Array');
const planState = shape(
  (value) => value === 'active' || value === 'inactive',
  'active or inactive',
);
const accountState = shape(
  (value) => value === 'active' || value === 'suspended',
  'active or suspended',
);
const count = shape(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  'a whole number, 0 or more',
);
const anObject = shape(isObject, 'an object');
const aList = shape(Array.isArray, 'an array');

const unless =
  (absent: null | undefined) =>
  (shape: Shape): Shape =>
  (value, name) =>
    value === absent ? undefined : shape(value, name);
const optional = unless(undefined);
const nullable = unless(null);
const each =
  (whole: Shape) =>
  (of: Shape): Shape =>
  (value, name) =>
    whole(value, name) ??
    firstFault(Object.values(value as object).map((member) => [of, member, `each of ${name}`]));
const list = each(aList);
const record = each(anObject);
const object =
  (members: Record<string, Shape>): Shape =>
  (value, name) =>
    anObject(value, name) ??
    firstFault(
      Object.entries(members).map(([member, of]) => [of, (value as never)[member], `"${member}"`]),
    );

/** An object without other members: a misspelt one must not be lost. */
const exactly =
  (members: Record<string, Shape>): Shape =>
  (value, name) => {
    const unknown =
      isObject(value) && Object.keys(value).find((member) => !Object.hasOwn(members, member));
    return typeof unknown === 'string'
      ? `"${unknown}" is unknown in ${name}`
      : object(members)(value, name);
  };

function firstFault(checks: readonly [Shape, unknown, string][]): string | undefined {
  for (const [shape, value, name] of checks) {
    const fault = shape(value, name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A value of a shape that also keeps a rule. */
const ruled =
  (shape: Shape, check: (value: never, name: string) => unknown): Shape =>
  (value, name) => {
    const fault = shape(value, name);
    if (fault === undefined) check(value as never, name);
    return fault;
  };

const accountId = ruled(text, checkAccountId);
const planCode = ruled(text, checkPlanCode);
const keyId = ruled(text, checkKeyId);
const label = ruled(text, checkLabel);
const token = ruled(text, checkToken);
const person = ruled(text, checkPerson);
const role = ruled(text, checkRole);
const date = ruled(text, checkDate);
const month = ruled(text, rangeOfMonth);
const load = ruled(text, checkLoad);
const limits = ruled(anObject, checkLimits);
const ownLimits = ruled(anObject, checkOwnLimits);
const limitPerDay = ruled(number, (limit) => checkLimits({ day: limit }));

const page = { limit: optional(number), cursor: optional(text) };
const pageWith = (more: Record<string, Shape>) =>
  optional(ruled(object({ ...page, prefix: optional(text), ...more }), checkPage));
const range = { from: optional(date), to: optional(date) };
const nullableText = nullable(text);
const details = {
  name: optional(nullableText),
  contact: optional(nullableText),
  note: optional(nullableText),
};
const terms = { plan: optional(planCode), limits: optional(ownLimits), ...details };
const seenAccount = object({
  plan: optional(text),
  ownLimits: optional(ownLimits),
  details: optional(object(details)),
});
const accountFilter = {
  plan: optional(text),
  state: optional(accountState),
  createdSince: optional(instant),
};
const plan = {
  code: planCode,
  limits: optional(limits),
  state: optional(planState),
  seen: optional(nullable(object({ limits, state: planState }))),
};
const aBrowser = { name: optional(text), browser: optional(text), claims: optional(record(text)) };
const session = object({ ...aBrowser, people: optional(list(person)) });
const aKey = { account: accountId, keyId };
const keyLimit = { limitPerDay: nullable(limitPerDay) };
const decision = [object({ load, proposal: text })];
const ofPerson = object({ person });
const ofAccount = object({ account: accountId });
const scope: Shape = (value, name) => {
  if (value === 'all') return undefined;
  return isObject(value) && 'person' in value ? ofPerson(value, name) : ofAccount(value, name);
};
const planBackup = exactly({ code: planCode, state: planState, limits });
const ofWindows = (used: object) => Object.keys(used).forEach(checkWindow);
const keyTimes = { created: nullable(count), revoked: nullable(count) };
const keyBackup = exactly({
  ...keyTimes,
  keyId,
  label: nullableText,
  secret: optional(text),
  limitPerDay: optional(limitPerDay),
  hash: nullable(bytes),
});
const accountBackup = exactly({
  id: accountId,
  state: accountState,
  plan: planCode,
  plans: record(planCode),
  created: count,
  ownLimits,
  ...details,
  usage: ruled(record(exactly({ start: count, used: count })), ofWindows),
  keys: list(keyBackup),
  members: list(exactly({ person, role, added: count })),
  days: list(exactly({ date, lookups: count, expires: count, byKey: optional(record(count)) })),
});
const backup = exactly({
  plans: list(planBackup),
  accounts: list(ruled(accountBackup, checkDetails)),
});

/** @throws AdminError `invalid` unless a value is a backup, or a part of one */
export function checkBackup(value: unknown): asserts value is Backup {
  const fault = backup(value, 'it');
  if (fault !== undefined) throw new AdminError('invalid', `${fault}.`);
}

/**
 * The arguments of each call, for callers without TypeScript. The code behind a call relies on
 * them.
 */
const shapes: Record<keyof (AdminRefusals & LoadsRefusals & StatementsRefusals), readonly Shape[]> =
  {
    'plans.put': [object(plan)],
    'plans.begin': [object(plan)],
    'plans.follow': [planCode, optional(object({ accounts: optional(number) }))],
    'plans.list': [pageWith({})],
    'plans.counts': [],
    'plans.audit': [planCode, optional(object(page))],
    'accounts.create': [ruled(object({ ...terms, id: accountId, plan: planCode }), checkDetails)],
    'accounts.set': [
      ruled(object({ ...terms, id: accountId, seen: optional(seenAccount) }), checkDetails),
    ],
    'accounts.suspend': [accountId],
    'accounts.activate': [accountId],
    'accounts.delete': [accountId],
    'accounts.show': [accountId],
    'accounts.list': [
      pageWith({ ...accountFilter, usedShare: optional(number), search: optional(text) }),
    ],
    'accounts.audit': [accountId, optional(object(page))],
    'accounts.usage': [accountId, optional(object(range))],
    'accounts.usageByKey': [accountId, optional(object(range))],
    'accounts.eachUsage': [
      optional(object({ ...range, after: optional(accountId), last: optional(accountId) })),
    ],
    'accounts.usageParts': [number],
    'accounts.usageKeptSince': [optional(accountId)],
    'backup.export': [],
    'backup.import': [backup, optional(object({ checkOnly: optional(flag) }))],
    'keys.create': [
      object({
        account: accountId,
        label,
        expires: optional(instant),
        limitPerDay: optional(nullable(limitPerDay)),
        token: optional(token),
      }),
    ],
    'keys.rotate': [
      object({ ...aKey, label: optional(label), ends: optional(instant), token: optional(token) }),
    ],
    'keys.rename': [object({ ...aKey, label })],
    'keys.set': [object({ ...aKey, ...keyLimit, seen: optional(object(keyLimit)) })],
    'keys.list': [accountId],
    'keys.find': [text, optional(object({ accounts: optional(list(accountId)) }))],
    'keys.revoke': [object(aKey)],
    'members.add': [object({ account: accountId, person, role })],
    'members.remove': [object({ account: accountId, person })],
    'members.list': [accountId],
    'members.roleIn': [accountId, list(person)],
    'members.accountsOf': [list(person)],
    'sessions.start': [person, number, optional(session)],
    'sessions.find': [text],
    'sessions.confirm': [text, person, optional(session)],
    'sessions.end': [text, text],
    'sessions.endAll': [scope],
    'sessions.list': [scope, optional(object({ cursor: optional(text) }))],
    'sessions.refuse': [object({ reason: text, identity: text })],
    'sessions.audit': [optional(object(page))],
    'loads.register': [optional(number)],
    'loads.running': [],
    'loads.waiting': [],
    'loads.show': [load],
    'loads.changes': [object({ load, file: number })],
    'loads.approve': decision,
    'loads.reject': decision,
    'loads.audit': [optional(object(page))],
    'statements.months': [optional(object({ account: optional(accountId) }))],
    'statements.month': [month],
    'statements.show': [object({ account: accountId, month })],
    'statements.each': [month],
    'statements.csv': [month],
    'statements.close': [month],
    'statements.closeNext': [],
  };

/**
 * Names in errors for arguments that are no objects; members of objects have names of their own.
 */
const ordinals = ['the first argument', 'the second argument', 'the third argument'];

/**
 * The same calls of a group, each refusing invalid arguments with an `AdminError` before it does
 * anything. A call that returns a generator throws the error, all others reject with it.
 */
export function checkArguments<Calls extends object>(group: string, calls: Calls): Calls {
  const checked = Object.entries(calls as Record<string, (...given: unknown[]) => unknown>).map(
    ([name, call]) => {
      const path = `${group}.${name}` as keyof typeof shapes;
      function direct(...given: unknown[]): unknown {
        const fault = firstFault(
          shapes[path].map((shape, i) => [shape, given[i], ordinals[i] ?? '']),
        );
        if (fault !== undefined) throw new AdminError('invalid', `${path}: ${fault}.`);
        return call(...given);
      }
      return [
        name,
        name.startsWith('each') ? direct : async (...given: unknown[]) => direct(...given),
      ];
    },
  );
  return Object.fromEntries(checked) as Calls;
}
