import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { compareTexts, type Place, placeAttribute, placeOfAttribute } from '../place-fields.ts';
import { addressesTable } from '../tables.ts';

/** An item in DynamoDB's own format. */
export type AddressItem = Record<string, AttributeValue>;

/** An item of the addresses table. */
export type StoredAddress = {
  /** The address key, made by `addressKey`. */
  key: string;
  /**
   * The distinct places, sorted by `comparePlaces`. Empty if the item only has a list of
   * toevoegingen.
   */
  places: Place[];
  /**
   * Under a key without a toevoeging: all toevoegingen that exist at its postcode and huisnummer,
   * sorted by `compareToevoegingen`, at most `maxToevoegingen`. Absent if there is only the address
   * itself (decision 0121).
   */
  toevoegingen?: Toevoeging[];
};

/** A toevoeging as in keys, in upper case; `null` is the address without one. */
export type Toevoeging = string | null;

/** The most toevoegingen of an item and a response: an item stays below 4 KB, half a read unit. */
export const maxToevoegingen = 400;

/** The item of an address. */
export function addressItem({ key, places, toevoegingen }: StoredAddress): AddressItem {
  const item = keyItem(key);
  if (places.length > 0) item[addressesTable.places] = { L: places.map(placeAttribute) };
  if (toevoegingen) {
    item[addressesTable.toevoegingen] = {
      L: toevoegingen.map((toevoeging) =>
        toevoeging === null ? { NULL: true } : { S: toevoeging },
      ),
    };
  }
  return item;
}

/** The address of an item that `addressItem` made. */
export function storedAddress(item: AddressItem): StoredAddress {
  const places = item[addressesTable.places]?.L ?? [];
  const toevoegingen = item[addressesTable.toevoegingen]?.L;
  return {
    key: keyOfItem(item),
    places: places.map(placeOfAttribute),
    ...(toevoegingen && { toevoegingen: toevoegingen.map(({ S }) => S ?? null) }),
  };
}

/** The primary key of an item. */
export function keyItem(key: string): AddressItem {
  return { [addressesTable.partitionKey]: { S: key } };
}

/** The key of an item, or of its primary key alone. */
export function keyOfItem(item: AddressItem): string {
  return item[addressesTable.partitionKey]?.S ?? '';
}

/** Orders toevoegingen by code unit, after `null`. */
export function compareToevoegingen(a: Toevoeging, b: Toevoeging): number {
  return compareTexts(a ?? '', b ?? '');
}
