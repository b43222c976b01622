import {
  daySeconds,
  forEachWindow,
  type WindowName,
  windowNames,
  windows,
} from '../../calendar.ts';
import type { Update } from '../../dynamodb.ts';
import { keyCode, type UnitsByKey } from '../account.ts';
import { accessItem, accessKey, storedLimit, windowItem } from '../account-item.ts';
import { expiringKeyBounds } from '../api-key.ts';
import type { Limits } from '../quota.ts';
import type { ChargeAttempt } from './charge.ts';

/** The limits of an account and of its keys, by code, as they were last seen. */
export type KnownLimits = { windows: Limits; keys: UnitsByKey };

/**
 * The one write of a request. Its condition compares attributes of the item with each other, so it
 * needs no read before:
 *
 *   the key's hash is stored and the key has not expired, and account and plan are active
 *   and each window is the current one and has so many units left, or is not configured
 *   and the key has so many units left on the account's day, or has no limit
 *
 * A condition can't add, so more than one unit is compared with the `limits` that were seen last:
 * if a limit is still that one, the count may be at most `limit - units`. The windows in
 * `restarts` must have passed, and restart with these units. Every window's count and the key's go
 * up, or nothing changes and the old item is returned.
 */
export function chargeCommand(table: string, attempt: ChargeAttempt, limits: KnownLimits): Update {
  const { claim, units, now, starts, returned, restarts } = attempt;
  const { low, high } = expiringKeyBounds(claim.hash, now);
  const code = keyCode(claim.keyId);
  const names: Record<string, string> = { ...namesOfAll, '#keyId': claim.keyId, '#keyCode': code };
  const values: Record<string, unknown> = {
    ':hash': claim.hash,
    ':low': low,
    ':high': high,
    ':active': 'active',
    ':units': units,
  };
  const conditions = [keyIsValid, accountIsActive, planIsActive];
  const sets: string[] = [];
  const adds: string[] = [];

  for (const window of windowNames) {
    values[`:${window}Start`] = starts[window];
    if (restarts.includes(window)) {
      conditions.push(passedAndAdmits[window]);
      sets.push(`#${window}Start = :${window}Start`, `#${window}Used = :units`);
      continue;
    }
    adds.push(`#${window}Used :units`);
    if (units === 1) conditions.push(hasOneLeft[window]);
    else {
      const { [window]: limit } = limits.windows;
      const most = limit === undefined ? never : storedLimit(limit);
      Object.assign(values, { [`:${window}Limit`]: most, [`:${window}Most`]: most - units });
      conditions.push(hasUnitsLeft[window]);
    }
  }
  const before = restarts.includes('day') ? returned?.quota.day?.start : undefined;
  if (before !== undefined) {
    // The count of the day that has passed is its usage.
    Object.assign(names, namesOfNewDay, { '#dayBefore': String(before / daySeconds) });
    Object.assign(values, { ':dayBefore': before, ':byKey': { [code]: units } });
    conditions.push('#dayStart = :dayBefore', keyAdmits);
    sets.push('#days.#dayBefore = #dayUsed', '#daysByKey.#dayBefore = #byKey', '#byKey = :byKey');
  } else {
    values[':zero'] = 0;
    if (units === 1) conditions.push(keyHasOneLeft);
    else {
      const most = limits.keys[code] ?? never;
      Object.assign(values, { ':keyLimit': most, ':keyMost': most - units });
      conditions.push(keyHasUnitsLeft);
    }
    sets.push('#byKey.#keyCode = if_not_exists(#byKey.#keyCode, :zero) + :units');
  }
  return {
    TableName: table,
    Key: accessKey(claim.account),
    UpdateExpression: `SET ${sets.join(', ')}${adds.length > 0 ? ` ADD ${adds.join(', ')}` : ''}`,
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

const namesOfAll: Readonly<Record<string, string>> = {
  '#keys': accessItem.keys,
  '#state': accessItem.state,
  '#planState': accessItem.planState,
  '#byKey': accessItem.byKey,
  '#keyLimits': accessItem.keyLimits,
  ...Object.fromEntries(
    windowNames.flatMap((window) => [
      [`#${window}Start`, windowItem[window].start],
      [`#${window}Used`, windowItem[window].used],
      [`#${window}Limit`, windowItem[window].limit],
    ]),
  ),
};

const namesOfNewDay = { '#days': accessItem.days, '#daysByKey': accessItem.daysByKey };

/** The condition that `isValidKey` checks in code. */
const keyIsValid = '(#keys.#keyId = :hash OR #keys.#keyId BETWEEN :low AND :high)';
const accountIsActive = '#state = :active';
const planIsActive = '#planState = :active';

const isNotConfigured = (window: WindowName) => `attribute_not_exists(#${window}Limit)`;

/**
 * A start after the current one was set by an instance whose clock is ahead; the window never moves
 * backwards.
 */
function isCurrent(window: WindowName, hasUnits: string): string {
  const current = `#${window}Start >= :${window}Start`;
  return windows[window].isAlwaysCounted
    ? `${current} AND (${isNotConfigured(window)} OR ${hasUnits})`
    : `(${isNotConfigured(window)} OR (${current} AND ${hasUnits}))`;
}

const hasOneLeft = forEachWindow((window) => isCurrent(window, `#${window}Used < #${window}Limit`));

/**
 * If the limit is another one by now, or none was seen, the write is refused, and the old item
 * tells it.
 */
const hasUnitsLeft = forEachWindow((window) =>
  isCurrent(window, `(#${window}Limit = :${window}Limit AND #${window}Used <= :${window}Most)`),
);

/** Compared with the limit of a window or key if none was seen: no limit equals it. */
const never = -1;

const passedAndAdmits = forEachWindow(
  (window) =>
    `(attribute_not_exists(#${window}Start) OR #${window}Start < :${window}Start) AND ` +
    `(${isNotConfigured(window)} OR #${window}Limit >= :units)`,
);

const keyHasNoLimit = 'attribute_not_exists(#keyLimits.#keyCode)';

const keyLimitAdmits = '#keyLimits.#keyCode >= :units';

/** On a day without a lookup with the key. */
const keyAdmits = `(${keyHasNoLimit} OR ${keyLimitAdmits})`;

const keyHasOneLeft = isWithinKeyLimit('#byKey.#keyCode < #keyLimits.#keyCode');

/** As for a window, the limit must not have changed since it was seen. */
const keyHasUnitsLeft = isWithinKeyLimit(
  '(#keyLimits.#keyCode = :keyLimit AND #byKey.#keyCode <= :keyMost)',
);

/** The counts of the keys begin and end with the account's day, which is the current one. */
function isWithinKeyLimit(hasUnits: string): string {
  const isUnused = 'attribute_not_exists(#byKey.#keyCode)';
  return `(${keyHasNoLimit} OR (${isUnused} AND ${keyLimitAdmits}) OR ${hasUnits})`;
}
