import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import {
  accessItem,
  attemptSlots,
  firstLayout,
  keyCounts,
  rolledByThisVersion,
} from '../../core/accounts/access-layout.ts';
import { windowNames } from '../../core/calendar.ts';
import type { AddressService } from './address-service.ts';

const plain = ['moves', 'planVersion', 'version', 'created', 'total', 'mark', 'date', 'days', 'ownLimits'] as const;
const perWindow = ['start', 'dropped', 'used', 'limit', 'windowTotal', 'exhausted'] as const;

/** By the long name of the first layout, in which tests read and write items: the current name. */
const currentNames = new Map<string, string>([
  ...plain.map((name): [string, string] => [firstLayout[name], accessItem[name]]),
  ...windowNames.flatMap((window) =>
    perWindow.map((name): [string, string] => [firstLayout[name](window), accessItem[name](window)]),
  ),
]);
const longNames = new Map([...currentNames].map(([long, current]) => [current, long]));

type Attributes = Record<string, unknown>;

/** An access item with its attributes under long names, whichever layout it has. */
export function withLongNames(item: Attributes): Attributes {
  if (firstLayout.version in item) {
    const { [rolledByThisVersion]: _, ...older } = item;
    return older;
  }
  const { [firstLayout.date]: _, ...rest } = item;
  const named = Object.entries(rest)
    .filter(([name]) => ![...attemptSlots, ...Object.values(keyCounts)].some((current) => current === name))
    .map(([name, value]) => [longNames.get(name) ?? name, value] as const);
  const long: Attributes = Object.fromEntries(named);
  const days = Object.entries((long.days ?? {}) as Attributes);
  const own = Object.entries((long.own ?? {}) as Attributes);
  return {
    ...long,
    ...(long.date !== undefined && { date: accessItem.readDate(Number(long.date)) }),
    days: Object.fromEntries(days.map(([date, units]) => [accessItem.readDate(date), units])),
    own: Object.fromEntries(
      own.map(([code, limit]) => [windowNames.find((name) => accessItem.ownLimit(name) === code) ?? code, limit]),
    ),
  };
}

/** Attributes with long names, as an item of the current layout names them. */
export function withCurrentNames<Value>(attributes: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [currentNames.get(name) ?? name, value]));
}

/** Gives an access item the layout of the first release, as if that had made it. */
export async function toFirstLayout(
  { client }: Pick<AddressService, 'client'>,
  TableName: string,
  account: string,
  shard = 0,
): Promise<void> {
  const Key = { account, item: `access#${shard}` };
  const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  await client.send(new PutCommand({ TableName, Item: withLongNames(Item ?? {}) }));
}
