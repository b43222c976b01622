import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Place } from '../contract.ts';
import { addressesTable } from '../tables.ts';

export type { Place };

/** An item as DynamoDB's own interface has it. */
export type Item = Record<string, AttributeValue>;

/** What the addresses table holds under one key. */
export type StoredAddress = {
  /** As `addressKey` makes it. */
  key: string;
  /** The distinct places, sorted by `comparePlaces`. */
  places: Place[];
};

/** The item of an address. */
export function addressItem({ key, places }: StoredAddress): Item {
  const L = places.map(({ straat, woonplaats }) => ({ M: { straat: { S: straat }, woonplaats: { S: woonplaats } } }));
  return { ...keyItem(key), [addressesTable.places]: { L } };
}

/** The address of an item that `addressItem` made; an item without places has none. */
export function storedAddress(item: Item): StoredAddress {
  const places = item[addressesTable.places]?.L ?? [];
  return {
    key: item[addressesTable.partitionKey]?.S ?? '',
    places: places.map(({ M }) => ({ straat: M?.straat?.S ?? '', woonplaats: M?.woonplaats?.S ?? '' })),
  };
}

/** The primary key of an item. */
export function keyItem(key: string): Item {
  return { [addressesTable.partitionKey]: { S: key } };
}

/** Orders places by woonplaats, then straat, by code unit: the same on every machine and in every locale. */
export function comparePlaces(a: Place, b: Place): number {
  return compare(a.woonplaats, b.woonplaats) || compare(a.straat, b.straat);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
