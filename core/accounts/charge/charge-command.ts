import { daySeconds, forEachWindow, type WindowName, windowNames, windowStart } from '../../calendar.ts';
import { attemptValue, type Update } from '../../dynamodb.ts';
import { dayHasPassed, hasNoSpace } from '../account.ts';
import { accessItem, accessKey, attemptSlots, dayNumber, keyCode, windowItem } from '../account-item.ts';
import { expiringKeyBounds } from '../api-key.ts';
import type { ChargeAttempt } from './charge.ts';
import { seenLimits } from './shards.ts';

/**
 * After so many milliseconds a write no longer counts on an item that others charged: fewer than 45 come in that time.
 */
const expiresAfter = 300;

/** A write that waits for a connection of its own instance is late for no fault of the store. */
const expiresAfterWaiting = 60_000;

/**
 * The one write of a request. Its condition compares attributes of the item with each other, so it needs no read
 * before:
 *
 *   the key's hash is stored and the key has not expired, and account and plan are active
 *   and this request is not one of the last that were counted, and none that was sent long after it was
 *   and each window is not configured, or is the current one and has so many units left
 *   and the day of usage is the current one
 *
 * A condition can't add, so more than one unit is compared with the limit that was seen: if the limit is still that
 * one, the count may be at most `limit - units`. With `roll`, the windows that have passed must still be the ones seen;
 * they restart with these units. Every window's count and the key's go up, or nothing changes and the old item is
 * returned.
 *
 * `waits` says that the write may not be sent at once.
 */
export function chargeCommand(table: string, attempt: ChargeAttempt, waits = false): Update {
  const { claim, units, id, now, at = now, roll, shard } = attempt;
  const limits = roll ? seenLimits(roll.seen) : (attempt.limits ?? {});
  const seconds = Math.floor(at);
  const sent = Date.now();
  const { low, high } = expiringKeyBounds(claim.hash, now);
  const code = keyCode(claim.keyId);
  const names: Record<string, string> = { ...namesOfAll, '#keyId': claim.keyId };
  const values: Record<string, unknown> = {
    ':hash': claim.hash,
    ':low': low,
    ':high': high,
    ':active': 'active',
    ':units': units,
    ':date': Math.floor(seconds / daySeconds),
    [attemptValue]: id,
    ':sent': sent,
    // The item that was seen may have been charged by an instance whose clock is ahead.
    ':latest': Math.max(sent, roll?.seen.sent ?? 0) + (waits ? expiresAfterWaiting : expiresAfter),
  };
  const conditions = [keyIsValid, accountIsActive, planIsActive, isNoneOfTheLast, isNotLate];
  const sets = [listAttempt];
  const adds = ['#total :units'];

  for (const window of windowNames) {
    values[`:${window}Start`] = windowStart(window, seconds);
    if (roll?.windows.includes(window)) {
      values[`:${window}Seen`] = roll.seen.quota[window]?.start;
      conditions.push(passedAndAdmits[window]);
      sets.push(`#${window}Start = :${window}Start`, `#${window}Used = :units`);
      continue;
    }
    adds.push(`#${window}Used :units`);
    const limit = limits[window] ?? null;
    if (units === 1) conditions.push(hasOneLeft[window]);
    else if (limit === null) conditions.push(isUnlimited[window]);
    else {
      conditions.push(hasUnitsLeft[window]);
      Object.assign(values, { [`:${window}Limit`]: limit, [`:${window}Most`]: limit - units });
    }
  }
  if (roll && dayHasPassed(roll.seen.usage, at) && !hasNoSpace(roll.seen)) {
    const dateSeen = dayNumber(roll.seen.usage.date);
    Object.assign(names, namesOfNewDay, { '#dateSeen': String(dateSeen) });
    Object.assign(values, { ':dateSeen': dateSeen, ':byKey': { [code]: units } });
    conditions.push('#date = :dateSeen');
    sets.push('#days.#dateSeen = #total - #mark', '#mark = #total', '#date = :date');
    sets.push('#daysByKey.#dateSeen = #byKey', '#byKey = :byKey');
  } else {
    names['#keyCode'] = code;
    values[':zero'] = 0;
    conditions.push('#date >= :date');
    sets.push('#byKey.#keyCode = if_not_exists(#byKey.#keyCode, :zero) + :units');
  }
  return {
    TableName: table,
    Key: accessKey(claim.account, shard),
    UpdateExpression: `SET ${sets.join(', ')} ADD ${adds.join(', ')}`,
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
  '#date': accessItem.date,
  '#total': accessItem.total,
  '#byKey': accessItem.byKey,
  ...Object.fromEntries(
    windowNames.flatMap((window) => [
      [`#${window}Start`, windowItem[window].start],
      [`#${window}Used`, windowItem[window].used],
      [`#${window}Limit`, windowItem[window].limit],
    ]),
  ),
};

const namesOfNewDay = { '#mark': accessItem.mark, '#days': accessItem.days, '#daysByKey': accessItem.daysByKey };

/** The condition that `isValidKey` checks in code. */
const keyIsValid = '(#keys.#keyId = :hash OR #keys.#keyId BETWEEN :low AND :high)';
const accountIsActive = '#state = :active';
const planIsActive = '#planState = :active';

/** The last attempts that were counted, the latest first; each charge moves them by one. */
const isNoneOfTheLast = `NOT (${attemptValue} IN (${attemptSlots.join(', ')}))`;

/**
 * A write that arrives late may have been repeated, and its repetition may have left the list since. So it no longer
 * counts where others have charged the item meanwhile; if none has, the list still has the repetition.
 */
const isNotLate = `${accessItem.sent} <= :latest`;

const listAttempt = [
  ...attemptSlots.map((slot, i) => `${slot} = ${i === 0 ? attemptValue : attemptSlots[i - 1]}`),
  `${accessItem.sent} = :sent`,
].join(', ');

/** A start after the current one was set by an instance whose clock is ahead; the window never moves backwards. */
function notConfiguredOrCurrent(window: WindowName, hasUnits: string): string {
  const isCurrent = `#${window}Start >= :${window}Start`;
  return `(attribute_not_exists(#${window}Start) OR (${isCurrent} AND ${hasUnits}))`;
}

const hasOneLeft = forEachWindow((window) =>
  notConfiguredOrCurrent(window, `(attribute_not_exists(#${window}Limit) OR #${window}Used < #${window}Limit)`),
);

/** The condition for several units of a window that was unlimited when it was last seen, or was never seen. */
const isUnlimited = forEachWindow((window) => notConfiguredOrCurrent(window, `attribute_not_exists(#${window}Limit)`));

/** The same where it had a limit. If that is another one by now, the write is refused, and the old item tells it. */
const hasUnitsLeft = forEachWindow((window) =>
  notConfiguredOrCurrent(
    window,
    `(attribute_not_exists(#${window}Limit) OR (#${window}Limit = :${window}Limit AND #${window}Used <= :${window}Most))`,
  ),
);

const passedAndAdmits = forEachWindow(
  (window) =>
    `#${window}Start = :${window}Seen AND (attribute_not_exists(#${window}Limit) OR #${window}Limit >= :units)`,
);
