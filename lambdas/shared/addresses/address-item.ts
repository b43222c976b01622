import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Line, parseLine } from '../../../loader/dataset/lines.ts';
import { addressesTable } from '../tables.ts';
import type { Place } from './address-key.ts';

/** An item as DynamoDB's own interface has it. */
export type Item = Record<string, AttributeValue>;

/** The key of an address in the addresses table. */
export function keyItem(key: string): Item {
  return { [addressesTable.partitionKey]: { S: key } };
}

/** The item of one line of a snapshot. */
export function addressItem(line: Line): Item {
  const { key, places } = parseLine(line);
  const L = places.map(({ straat, woonplaats }) => ({ M: { straat: { S: straat }, woonplaats: { S: woonplaats } } }));
  return { ...keyItem(key), [addressesTable.places]: { L } };
}

/** The places of an item that `addressItem` made. */
export function placesOf(item: Item): Place[] {
  const places = item[addressesTable.places]?.L ?? [];
  return places.map(({ M }) => ({ straat: M?.straat?.S ?? '', woonplaats: M?.woonplaats?.S ?? '' }));
}
