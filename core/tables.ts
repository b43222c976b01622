/**
 * The tables and the bucket of statements, as stacks, Lambdas, loader and administration name their
 * parts.
 */

/**
 * The number of the layout of everything that is stored: the items of both tables, the objects of
 * loads and statements, and the data folder of `npm start`. It rises only when this version can't
 * read the data of the last release, or the last release can't read the data of this version
 * (decision 0173). The specimens in `test/releases` hold it.
 */
export const storedLayout = 1;

/**
 * How the layout of stored data differs from `storedLayout`, as the end of a sentence about the
 * data; `undefined` if it does not. `found` is the number beside the data, `undefined` without one.
 */
export function layoutFault(found: unknown): string | undefined {
  if (found === storedLayout) return undefined;
  const what = found === undefined ? 'no layout number' : `layout ${JSON.stringify(found)}`;
  return `has ${what}, but this version of bag-adres reads and writes layout ${storedLayout}`;
}

/**
 * One item a key: `address` = `1381AA#9#A`, `places` = the distinct `{straat, woonplaats}`, sorted.
 * The item of a key without a toevoeging, `1381AA#9#`, also lists the toevoegingen that exist at
 * its postcode and huisnummer; it may have no places.
 */
export const addressesTable = {
  partitionKey: 'address',
  places: 'places',
  toevoegingen: 'toevoegingen',
  /** The key of the item that describes the live dataset; no address key can begin like this. */
  datasetKey: '#dataset',
  /** On that item: the peildatum, `2021-10-15`. */
  datasetDate: 'date',
} as const;

/** All items of an account are in one partition; each plan has its own partition. */
export const accountsTable = {
  partitionKey: 'account',
  sortKey: 'item',
  /** The partition of a plan is this and its code; no account id has a `#`. */
  planPartitionPrefix: 'plan#',
  /** When DynamoDB deletes an item automatically (TTL), in seconds since 1970. */
  expires: 'expires',
} as const;

/** Under which keys the bucket of statements has them. */
export const statementsPrefix = 'statements/';
