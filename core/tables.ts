/**
 * The tables and the bucket of statements, as stacks, Lambdas, loader and administration name their
 * parts.
 */

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
