import { randomBytes } from 'node:crypto';
import { dateOf, type WindowName, windowNames, windowStart } from '../../calendar.ts';
import type { Update } from '../../dynamodb.ts';
import {
  accessItem,
  attemptIdBytes,
  attemptSlots,
  firstLayout,
  keyCode,
  keyCounts,
  rolledByThisVersion,
} from '../access-layout.ts';
import { type Access, dayHasPassed, hasNoSpace } from '../account.ts';
import { accessKey } from '../account-item.ts';
import { expiringKeyBounds } from '../api-key.ts';
import { configured } from '../quota.ts';
import type { ChargeAttempt, SeenShard } from './charge-port.ts';

/** The limits of one shard: its shares of them, if the account has several, with what it has gained since. */
export function seenShard({ layout, quota }: Access, gains: Partial<Record<WindowName, number>> = {}): SeenShard {
  const limits = configured(quota).map(([name, { limit }]) => [
    name,
    limit === null ? null : limit + (gains[name] ?? 0),
  ]);
  return { layout, limits: Object.fromEntries(limits) };
}

/** A new id: of 48 bits, since it is compared with a few others only. */
export function attemptId(): Uint8Array {
  return randomBytes(attemptIdBytes);
}

/**
 * The one write of a request. Its condition compares attributes of the item with each other, so it needs no read
 * before:
 *
 *   the key's hash is stored and the key has not expired, and account and plan are active
 *   and each window is not configured, or is the current one and has so many units left
 *   and the day of usage is the current one
 *   and this request is not one of the last that were counted
 *
 * A condition can't add, so more than one unit is compared with the limit that was seen: if the limit is still that
 * one, the count may be at most `limit - units`. With `roll`, the windows that have passed must still be the ones seen;
 * they restart with these units. Every window's count and the key's go up, or nothing changes and the old item is
 * returned.
 */
export function chargeCommand(table: string, attempt: ChargeAttempt): Update {
  const { claim, units, id, now, at = now, roll, shard } = attempt;
  const { layout, limits } = roll ? seenShard(roll.seen) : (attempt.seen ?? nothingSeen);
  const names: Record<string, string> = {
    '#keys': layout.keys,
    '#keyId': claim.keyId,
    '#state': layout.state,
    '#planState': layout.planState,
  };
  const { low, high } = expiringKeyBounds(claim.hash, now);
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
    names[`#${window}Start`] = layout.start(window);
    names[`#${window}Used`] = layout.used(window);
    names[`#${window}Limit`] = layout.limit(window);
    values[`:${window}Start`] = windowStart(window, Math.floor(at));
    if (roll?.windows.includes(window)) {
      values[`:${window}Seen`] = roll.seen.quota[window]?.start;
      conditions.push(passedAndAdmits(window));
      sets.push(`#${window}Start = :${window}Start`, `#${window}Used = :units`);
    } else {
      const limit = limits[window] ?? null;
      const hasUnits = units === 1 ? hasOneLeft(window) : hasUnitsLeft(window, limit);
      if (units > 1 && limit !== null) Object.assign(values, unitsLeftValues(window, limit, units));
      conditions.push(notConfiguredOrCurrent(window, hasUnits));
      adds.push(`#${window}Used :units`);
    }
  }
  names['#date'] = layout.date;
  names['#total'] = layout.total;
  values[':date'] = layout.storedDate(dateOf(Math.floor(at)));
  adds.push('#total :units');
  const beginsDay = roll !== undefined && dayHasPassed(roll.seen.usage, at) && !hasNoSpace(roll.seen);
  if (beginsDay) {
    names['#mark'] = layout.mark;
    names['#days'] = layout.days;
    const { date } = roll.seen.usage;
    if (date === null) {
      Object.assign(values, { ':none': {}, ':zero': 0 });
      conditions.push('attribute_not_exists(#date)');
      sets.push('#date = :date', '#mark = if_not_exists(#total, :zero)', '#days = :none');
    } else {
      const dateSeen = layout.storedDate(date);
      names['#dateSeen'] = String(dateSeen);
      values[':dateSeen'] = dateSeen;
      conditions.push('#date = :dateSeen');
      sets.push('#days.#dateSeen = #total - #mark', '#mark = #total', '#date = :date');
    }
    if (layout === firstLayout) {
      names['#rolled'] = rolledByThisVersion;
      values[':rolled'] = accessItem.storedDate(dateOf(Math.floor(at)));
      sets.push('#rolled = :rolled');
    }
  } else conditions.push('#date >= :date');
  if (layout === accessItem) {
    Object.assign(names, attemptNames);
    values[':attempt'] = id;
    conditions.push(isNoneOfTheLast);
    sets.push(...listAttempt);
    const code = keyCode(claim.keyId);
    names['#byKey'] = keyCounts.today;
    if (beginsDay) {
      values[':byKey'] = { [code]: units };
      sets.push('#byKey = :byKey');
      if (roll.seen.usage.date !== null) {
        names['#daysByKey'] = keyCounts.days;
        sets.push('#daysByKey.#dateSeen = #byKey');
      }
    } else {
      names['#keyCode'] = code;
      values[':zero'] = 0;
      sets.push('#byKey.#keyCode = if_not_exists(#byKey.#keyCode, :zero) + :units');
    }
  }
  return {
    TableName: table,
    Key: accessKey(claim.account, shard),
    UpdateExpression: [sets.length > 0 && `SET ${sets.join(', ')}`, `ADD ${adds.join(', ')}`].filter(Boolean).join(' '),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

const nothingSeen: SeenShard = { layout: accessItem, limits: {} };

/** As `isValidKey` decides. */
const keyIsValid = '(#keys.#keyId = :hash OR #keys.#keyId BETWEEN :low AND :high)';
const accountIsActive = '#state = :active';
const planIsActive = '#planState = :active';

/** A start after the current one was set by an instance whose clock is ahead; the window never moves backwards. */
function notConfiguredOrCurrent(window: WindowName, hasUnits: string): string {
  const isCurrent = `#${window}Start >= :${window}Start`;
  return `(attribute_not_exists(#${window}Start) OR (${isCurrent} AND ${hasUnits}))`;
}

function hasOneLeft(window: WindowName): string {
  return `(attribute_not_exists(#${window}Limit) OR #${window}Used < #${window}Limit)`;
}

/** `limit` as it was seen; `null` if it was unlimited, or never seen. Others are refused, and the old item tells it. */
function hasUnitsLeft(window: WindowName, limit: number | null): string {
  const isUnlimited = `attribute_not_exists(#${window}Limit)`;
  if (limit === null) return isUnlimited;
  return `(${isUnlimited} OR (#${window}Limit = :${window}Limit AND #${window}Used <= :${window}Most))`;
}

function unitsLeftValues(window: WindowName, limit: number, units: number): Record<string, number> {
  return { [`:${window}Limit`]: limit, [`:${window}Most`]: limit - units };
}

function passedAndAdmits(window: WindowName): string {
  return `#${window}Start = :${window}Seen AND (attribute_not_exists(#${window}Limit) OR #${window}Limit >= :units)`;
}

/** The last attempts that were counted, the latest first; each charge moves them by one. */
const attemptNames = Object.fromEntries(attemptSlots.map((slot) => [`#last${slot}`, slot]));
const isNoneOfTheLast = `NOT (:attempt IN (${Object.keys(attemptNames).join(', ')}))`;
const listAttempt = Object.keys(attemptNames).map((name, i, all) => `${name} = ${i === 0 ? ':attempt' : all[i - 1]}`);
