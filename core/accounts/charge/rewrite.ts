import { windowNames } from '../../calendar.ts';
import type { Item, Update } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import { accessItem, firstLayout, noDateForOlderVersions, rolledByThisVersion } from '../access-layout.ts';
import { nothingCounted, planAttributes, readAccess } from '../account-item.ts';

const plain = ['moves', 'planVersion', 'version', 'created', 'total', 'mark'] as const;
const perWindow = ['start', 'dropped', 'used', 'limit', 'windowTotal', 'exhausted'] as const;

/** The attributes of the first layout that keep their values, with their names in the current one. */
const renamed: [from: string, to: string][] = [
  ...plain.map((name): [string, string] => [firstLayout[name], accessItem[name]]),
  ...windowNames.flatMap((window) =>
    perWindow.map((name): [string, string] => [firstLayout[name](window), accessItem[name](window)]),
  ),
];

/**
 * The update that gives an access item of the first layout the current one; `undefined` for any other. DynamoDB copies
 * the counts as they are at that moment, so a charge that comes in between is neither lost nor refused. It fails if
 * attributes came or went since, or an administrator changed the account, or the day (decision 0152).
 */
export function rewriteCommand(table: string, item: Item): Update | undefined {
  const { layout, account, shard, usage, ...access } = readAccess(item);
  if (layout !== firstLayout || usage.date === null) return undefined;
  const own = planAttributes(accessItem, {
    plan: { code: access.plan, state: access.planState, limits: {}, version: access.planVersion },
    ownLimits: access.ownLimits,
  })[accessItem.ownLimits];
  const days = Object.entries(usage.days).map(([date, units]) => [String(accessItem.storedDate(date)), units]);
  const set: Item = {
    ...nothingCounted,
    ...noDateForOlderVersions,
    [accessItem.ownLimits]: own,
    [accessItem.date]: accessItem.storedDate(usage.date),
    [accessItem.days]: Object.fromEntries(days),
  };
  const found = renamed.filter(([from]) => from in item);
  const absent = renamed.filter(([from]) => !(from in item));
  const removed = [...found.map(([from]) => from), firstLayout.ownLimits, firstLayout.days, rolledByThisVersion];
  const names: Record<string, string> = {};
  const alias = (name: string) => {
    const made = `#a${Object.keys(names).length}`;
    const known = Object.entries(names).find(([, value]) => value === name)?.[0] ?? made;
    names[known] = name;
    return known;
  };
  const values: Item = {
    ':version': access.version,
    ':date': item[firstLayout.date],
    ':days': item[firstLayout.days],
  };
  const sets = [
    ...found.map(([from, to]) => `${alias(to)} = ${alias(from)}`),
    ...Object.entries(set).map(([name, value], i) => {
      values[`:set${i}`] = value;
      return `${alias(name)} = :set${i}`;
    }),
  ];
  const conditions = [
    `${alias(firstLayout.version)} = :version`,
    `${alias(firstLayout.date)} = :date`,
    `${alias(firstLayout.days)} = :days`,
    ...found.map(([from]) => `attribute_exists(${alias(from)})`),
    ...absent.map(([from]) => `attribute_not_exists(${alias(from)})`),
  ];
  return {
    TableName: table,
    Key: {
      [accountsTable.partitionKey]: account,
      [accountsTable.sortKey]: item[accountsTable.sortKey],
    },
    UpdateExpression: `SET ${sets.join(', ')} REMOVE ${removed.map(alias).join(', ')}`,
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
