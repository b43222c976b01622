import type { Update } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import { accessItem } from './account-item.ts';
import type { ChargeAttempt } from './charge.ts';
import { type WindowName, windowNames, windowStart } from './quota.ts';

/**
 * The one write of a lookup. Its condition compares attributes of the item with each other, so it needs no read before:
 *
 *   the key's hash is stored and account and plan are active
 *   and each window is not configured, or is the current one and below its limit
 *
 * With `roll`, the windows that have passed must still be the ones seen; they restart with this unit. Every window's
 * count goes up by one, or nothing happens and the old item comes back.
 */
export function chargeCommand(table: string, attempt: ChargeAttempt): Update {
  const { claim, now, roll } = attempt;
  const names = new Map(Object.entries(accessNames(claim.keyId)));
  const values: Record<string, unknown> = { ':hash': claim.hash, ':active': 'active', ':one': 1 };
  const conditions = [keyIsActive, accountIsActive, planIsActive];
  const sets: string[] = [];
  const adds: string[] = [];

  for (const window of windowNames) {
    names.set(`#${window}Start`, accessItem.start(window));
    names.set(`#${window}Used`, accessItem.used(window));
    names.set(`#${window}Limit`, accessItem.limit(window));
    values[`:${window}Start`] = windowStart(window, Math.floor(now));
    if (roll?.windows.includes(window)) {
      values[`:${window}Seen`] = roll.seen.quota[window]?.start;
      conditions.push(passedAndAdmitsOne(window));
      sets.push(`#${window}Start = :${window}Start`, `#${window}Used = :one`);
    } else {
      conditions.push(notConfiguredOrAdmitsOne(window));
      adds.push(`#${window}Used :one`);
    }
  }
  return {
    TableName: table,
    Key: { [accountsTable.partitionKey]: claim.account, [accountsTable.sortKey]: accessItem.sortKey(attempt.shard) },
    UpdateExpression: [sets.length > 0 && `SET ${sets.join(', ')}`, adds.length > 0 && `ADD ${adds.join(', ')}`]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names),
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

const keyIsActive = '#keys.#keyId = :hash';
const accountIsActive = '#state = :active';
const planIsActive = '#planState = :active';

/** A start after the current one was set by an instance whose clock is ahead; the window never moves backwards. */
function notConfiguredOrAdmitsOne(window: WindowName): string {
  const isCurrent = `#${window}Start >= :${window}Start`;
  const isBelowLimit = `(attribute_not_exists(#${window}Limit) OR #${window}Used < #${window}Limit)`;
  return `(attribute_not_exists(#${window}Start) OR (${isCurrent} AND ${isBelowLimit}))`;
}

function passedAndAdmitsOne(window: WindowName): string {
  return `#${window}Start = :${window}Seen AND (attribute_not_exists(#${window}Limit) OR #${window}Limit >= :one)`;
}

function accessNames(keyId: string): Record<string, string> {
  return {
    '#keys': accessItem.keys,
    '#keyId': keyId,
    '#state': accessItem.state,
    '#planState': accessItem.planState,
  };
}
