import { AdminError, type AdminRefusals } from './accounts/admin-error.ts';
import type { StatementsRefusals } from './accounts/monthly-statements.ts';
import type { LoadsRefusals } from './load-approvals.ts';

/** The fault in a value called `name`, without the value, which may be a key; `undefined` if it is valid. */
type Shape = (value: unknown, name: string) => string | undefined;

const shape =
  (isOne: (value: unknown) => boolean, what: string): Shape =>
  (value, name) =>
    isOne(value) ? undefined : `${name} ${value === undefined ? 'is missing: it ' : ''}must be ${what}`;

/** Also an instance of a class of the caller, but no `Date` or `Map`. */
const isObject = (value: unknown): value is object => Object.prototype.toString.call(value) === '[object Object]';

// DynamoDB refuses half of a surrogate pair.
const text = shape((value) => typeof value === 'string' && value.isWellFormed(), 'a string of valid Unicode');
const number = shape(Number.isFinite, 'a number');
const flag = shape((value) => typeof value === 'boolean', 'true or false');
const instant = shape((value) => typeof value === 'string' || value instanceof Date, 'a Date or a string');
const bytes = shape((value) => value instanceof Uint8Array, 'a Uint8Array');
const limit = shape((value) => value === null || value === 'plan' || Number.isFinite(value), 'a number or null');
const planState = shape((value) => value === 'active' || value === 'inactive', 'active or inactive');
const anObject = shape(isObject, 'an object');
const aList = shape(Array.isArray, 'an array');

const optional =
  (one: Shape): Shape =>
  (value, name) =>
    value === undefined ? undefined : one(value, name);
const nullable =
  (one: Shape): Shape =>
  (value, name) =>
    value === null ? undefined : one(value, name);
const list =
  (of: Shape): Shape =>
  (value, name) =>
    aList(value, name) ?? firstFault((value as unknown[]).map((one) => [of, one, `each of ${name}`]));
const record =
  (of: Shape): Shape =>
  (value, name) =>
    anObject(value, name) ?? firstFault(Object.values(value as object).map((one) => [of, one, `each of ${name}`]));
const object =
  (members: Record<string, Shape>): Shape =>
  (value, name) =>
    anObject(value, name) ??
    firstFault(Object.entries(members).map(([member, of]) => [of, (value as never)[member], `"${member}"`]));

function firstFault(checks: readonly [Shape, unknown, string][]): string | undefined {
  for (const [one, value, name] of checks) {
    const fault = one(value, name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const page = { limit: optional(number), cursor: optional(text) };
const range = { from: optional(text), to: optional(text) };
const nullableText = nullable(text);
const details = { name: optional(nullableText), contact: optional(nullableText), note: optional(nullableText) };
const terms = { plan: optional(text), limits: optional(record(limit)), ...details };
const accountFilter = {
  ...{ plan: optional(text), createdSince: optional(instant), usedShare: optional(number) },
  state: optional(shape((value) => value === 'active' || value === 'suspended', 'active or suspended')),
};
const plan = {
  code: text,
  limits: optional(record(limit)),
  state: optional(planState),
  seen: optional(nullable(object({ limits: record(limit), state: planState }))),
};
const session = object({
  people: optional(list(text)),
  name: optional(text),
  browser: optional(text),
  claims: optional(record(text)),
});
const aKey = { account: text, keyId: text };
const decision = [object({ load: text, proposal: text })];
const ofPerson = object({ person: text });
const ofAccount = object({ account: text });
const scope: Shape = (value, name) => {
  if (value === 'all') return undefined;
  return isObject(value) && 'person' in value ? ofPerson(value, name) : ofAccount(value, name);
};
const backup = object({
  plans: list(object({ code: text, state: planState, limits: record(limit) })),
  accounts: list(
    object({
      ...{ id: text, state: text, plan: text, plans: record(text), created: number, ...details },
      ownLimits: record(limit),
      usage: record(object({ start: number, used: number })),
      keys: list(
        object({
          ...{ keyId: text, label: nullableText, created: nullable(number), revoked: nullable(number) },
          secret: optional(text),
          hash: nullable(bytes),
        }),
      ),
      members: list(object({ person: text, role: text, added: number })),
      days: list(object({ date: text, lookups: number, expires: number, byKey: optional(record(number)) })),
    }),
  ),
});

/** The arguments of each call, for callers without TypeScript. Code that uses a text or number checks its content. */
const shapes: Record<keyof (AdminRefusals & LoadsRefusals & StatementsRefusals), readonly Shape[]> = {
  'plans.put': [object(plan)],
  'plans.begin': [object(plan)],
  'plans.follow': [text, optional(object({ accounts: optional(number) }))],
  'plans.list': [optional(object({ ...page, prefix: optional(text) }))],
  'plans.counts': [],
  'plans.audit': [text, optional(object(page))],
  'accounts.create': [object({ ...terms, id: text, plan: text })],
  'accounts.set': [
    object({
      ...{ ...terms, id: text },
      seen: optional(
        object({ plan: optional(text), ownLimits: optional(record(limit)), details: optional(object(details)) }),
      ),
    }),
  ],
  'accounts.suspend': [text],
  'accounts.activate': [text],
  'accounts.delete': [text],
  'accounts.show': [text],
  'accounts.list': [optional(object({ ...page, ...accountFilter, prefix: optional(text), search: optional(text) }))],
  'accounts.audit': [text, optional(object(page))],
  'accounts.usage': [text, optional(object(range))],
  'accounts.usageByKey': [text, optional(object(range))],
  'accounts.eachUsage': [optional(object({ ...range, after: optional(text), last: optional(text) }))],
  'accounts.usageParts': [number],
  'accounts.usageKeptSince': [optional(text)],
  'backup.export': [],
  'backup.import': [backup, optional(object({ checkOnly: optional(flag) }))],
  'keys.create': [object({ account: text, label: text, expires: optional(instant), token: optional(text) })],
  'keys.rotate': [object({ ...aKey, label: optional(text), ends: optional(instant), token: optional(text) })],
  'keys.rename': [object({ ...aKey, label: text })],
  'keys.list': [text],
  'keys.find': [text, optional(object({ accounts: optional(list(text)) }))],
  'keys.revoke': [object(aKey)],
  'members.add': [object({ account: text, person: text, role: text })],
  'members.remove': [object({ account: text, person: text })],
  'members.list': [text],
  'members.roleIn': [text, list(text)],
  'members.accountsOf': [list(text)],
  'sessions.start': [text, number, optional(session)],
  'sessions.find': [text],
  'sessions.confirm': [text, text, optional(session)],
  'sessions.end': [text, text],
  'sessions.endAll': [scope],
  'sessions.list': [scope, optional(object({ cursor: optional(text) }))],
  'sessions.refuse': [object({ reason: text, identity: text })],
  'sessions.audit': [optional(object(page))],
  'loads.register': [optional(number)],
  'loads.running': [],
  'loads.waiting': [],
  'loads.show': [text],
  'loads.changes': [object({ load: text, file: number })],
  'loads.approve': decision,
  'loads.reject': decision,
  'loads.audit': [optional(object(page))],
  'statements.months': [optional(object({ account: optional(text) }))],
  'statements.month': [text],
  'statements.show': [object({ account: text, month: text })],
  'statements.each': [text],
  'statements.csv': [text],
  'statements.close': [text],
  'statements.closeNext': [],
};

/** Names in errors for arguments that are no objects; members of objects have names of their own. */
const ordinals = ['the first argument', 'the second argument', 'the third argument'];

/**
 * The same calls of a group, each refusing invalid arguments with an `AdminError` before it does anything. A call that
 * returns a generator throws the error, all others reject with it.
 */
export function checkArguments<Calls extends object>(group: string, calls: Calls): Calls {
  const checked = Object.entries(calls as Record<string, (...given: unknown[]) => unknown>).map(([name, call]) => {
    const path = `${group}.${name}` as keyof typeof shapes;
    function direct(...given: unknown[]): unknown {
      const fault = firstFault(shapes[path].map((one, i) => [one, given[i], ordinals[i] ?? '']));
      if (fault !== undefined) throw new AdminError('invalid', `${path}: ${fault}.`);
      return call(...given);
    }
    return [name, name.startsWith('each') ? direct : async (...given: unknown[]) => direct(...given)];
  });
  return Object.fromEntries(checked) as Calls;
}
