import { accessItem } from '../account-item.ts';
import { accountIdPattern } from '../api-key.ts';
import { type Limits, type WindowName, windowNames, windowStart } from '../quota.ts';
import { AdminError, type Changes } from './updates.ts';

/** Own limits to set, by window; `'plan'` gives the window back to the plan. */
export type OwnLimitChanges = Partial<Record<WindowName, number | null | 'plan'>>;

/** The same limits, the shortest window first. */
export function inWindowOrder<Limit>(limits: Partial<Record<WindowName, Limit>>): Partial<Record<WindowName, Limit>> {
  return Object.fromEntries(windowNames.flatMap((name) => (name in limits ? [[name, limits[name]]] : [])));
}

/**
 * The account's own limits after `changes`. Throws `invalid` for a window that the plan does not configure. An own limit
 * that a later plan does not configure stays, asleep, until a plan configures its window again.
 */
export function changeOwnLimits(own: Limits, changes: OwnLimitChanges, plan: { code: string; limits: Limits }): Limits {
  const changed: Limits = { ...own };
  for (const window of windowNames) {
    const limit = changes[window];
    if (limit === undefined) continue;
    if (limit === 'plan') delete changed[window];
    else if (plan.limits[window] === undefined) throw notConfigured(window, plan);
    else changed[window] = limit;
  }
  return inWindowOrder(changed);
}

function notConfigured(window: WindowName, plan: { code: string; limits: Limits }): AdminError {
  const configured = Object.keys(plan.limits).join(', ');
  return new AdminError(
    'invalid',
    `Plan "${plan.code}" does not configure the window "${window}" (it has ${configured}), so an account on it can't ` +
      'have a limit of its own there. Add the window to the plan, as unlimited if need be, or leave it out.',
  );
}

/** The limit in force: `null` is unlimited, `undefined` is not configured. */
export function effectiveLimit(window: WindowName, planLimits: Limits, own: Limits): number | null | undefined {
  return planLimits[window] === undefined || own[window] === undefined ? planLimits[window] : own[window];
}

/**
 * What changes in an access item whose windows have the starts `starts` when `planLimits` and `own` apply to it. A
 * window that stays configured keeps its start and count, which belong to the requests; a new one starts now, at 0.
 */
export function windowChanges(starts: Limits, planLimits: Limits, own: Limits, atSeconds: number): Changes {
  const changes: Changes = { set: {}, remove: [] };
  for (const window of windowNames) {
    const limit = effectiveLimit(window, planLimits, own);
    if (planLimits[window] === undefined) {
      changes.remove.push(accessItem.start(window), accessItem.limit(window));
      continue;
    }
    if (typeof limit === 'number') changes.set[accessItem.limit(window)] = limit;
    else changes.remove.push(accessItem.limit(window));
    if (typeof starts[window] !== 'number') {
      changes.set[accessItem.start(window)] = windowStart(window, atSeconds);
      changes.set[accessItem.used(window)] = 0;
    }
  }
  return changes;
}

/** The highest limit: as good as none, and it keeps the access item small. */
export const maxLimit = 1e12;

/** The most quota shards: 20,000 requests a second, and few enough to be read together in a moment. */
export const maxShards = 20;

const maxLabelLength = 64;
const keyIdPattern = /^[0-9A-Za-z]{8}$/;
const nameRule = '1 to 32 letters, digits, ".", "_" or "-", of which the first is a letter or digit';

/** Throws `invalid` unless `id` can be an account's. */
export function checkAccountId(id: string): void {
  if (!isText(id) || !accountIdPattern.test(id)) throw new AdminError('invalid', `An account id is ${nameRule}.`);
}

/** Throws `invalid` unless `code` can be a plan's. */
export function checkPlanCode(code: string): void {
  if (!isText(code) || !accountIdPattern.test(code)) throw new AdminError('invalid', `A plan code is ${nameRule}.`);
}

/** Throws `invalid` unless `keyId` can be a key's; the message does not repeat it, for it may be a whole key. */
export function checkKeyId(keyId: string): void {
  if (isText(keyId) && keyIdPattern.test(keyId)) return;
  throw new AdminError(
    'invalid',
    'A key id is 8 letters or digits, as "key list" shows it. Never give the key itself.',
  );
}

/** Throws `invalid` unless `label` is 1 to 64 characters on one line. */
export function checkLabel(label: string): void {
  const length = isText(label) ? [...label].length : 0;
  // Control and format characters, line separators and lone surrogates: nothing that upsets a terminal or a page.
  if (
    length >= 1 &&
    length <= maxLabelLength &&
    label.trim() !== '' &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(label)
  ) {
    return;
  }
  throw new AdminError('invalid', `A label is 1 to ${maxLabelLength} characters, without control characters.`);
}

/** Throws `invalid` unless `shards` can be a number of quota shards. */
export function checkShards(shards: number): void {
  if (Number.isInteger(shards) && shards >= 1 && shards <= maxShards) return;
  throw new AdminError('invalid', `The number of quota shards is a whole number from 1 to ${maxShards}.`);
}

/** Throws `invalid` unless each member is a window with a whole limit of 0 to `maxLimit`, or `null` for unlimited. */
export function checkLimits(limits: Partial<Record<string, unknown>>): void {
  for (const [window, limit] of Object.entries(limits)) {
    checkWindow(window);
    if (limit === null) continue;
    if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 && limit <= maxLimit) continue;
    throw new AdminError('invalid', `The limit of "${window}" is a whole number, 0 to ${maxLimit}, or unlimited.`);
  }
}

/** As `checkLimits`, with `'plan'` for a window that goes back to the plan's limit. */
export function checkOwnLimits(limits: Partial<Record<string, unknown>>): void {
  checkLimits(
    Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit === 'plan' ? null : limit])),
  );
}

/** Throws `invalid` unless `name` is a time window. */
export function checkWindow(name: string): asserts name is WindowName {
  if (windowNames.some((window) => window === name)) return;
  throw new AdminError('invalid', `"${name}" is no time window; there are ${windowNames.join(', ')}.`);
}

/** Callers without types exist. */
function isText(value: unknown): boolean {
  return typeof value === 'string';
}
