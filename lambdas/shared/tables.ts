/**
 * The names that the stacks, the Lambdas, the loader and the admin module agree on. The one runtime file that `lib`
 * imports, so a table and its readers can't drift apart.
 */

/**
 * One item a key: `address` = `1381AA#9#A`, `places` = the distinct `{straat, woonplaats}`, sorted. The item of a key without a
 * toevoeging, `1381AA#9#`, also lists the toevoegingen that exist at its postcode and huisnummer; it may have no places.
 */
export const addressesTable = {
  partitionKey: 'address',
  places: 'places',
  toevoegingen: 'toevoegingen',
  /** The key of the item that describes the live dataset; no address key can begin like this. */
  datasetKey: '#dataset',
  /** On that item: the snapshot date, `2021-10-15`. */
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

/** Environment variables of the Lambdas and, on one machine, of the command line. */
export const environment = {
  addressesTable: 'ADDRESSES_TABLE',
  accountsTable: 'ACCOUNTS_TABLE',
  /** The secret that keys the checksum of an API key; any text. */
  keyChecksumSecret: 'KEY_CHECKSUM_SECRET',
  /** The secret before it, while keys that it issued are still accepted. */
  previousKeyChecksumSecret: 'KEY_CHECKSUM_SECRET_PREVIOUS',
  /** `off` where the deployment has no page at `/docs`. */
  referencePage: 'REFERENCE_PAGE',
  /** Where a portal reads that secret. */
  keyChecksumSecretArn: 'KEY_CHECKSUM_SECRET_ARN',
  /** The settings of the portal, as JSON. */
  portal: 'PORTAL',
  /** The secret that seals the cookies of the portal, and the one of its client at the OpenID provider. */
  portalSessionSecret: 'PORTAL_SESSION_SECRET',
  portalClientSecret: 'PORTAL_CLIENT_SECRET',
  /** The bucket of the loader, where the portal reads of the register. */
  snapshotBucket: 'SNAPSHOT_BUCKET',
  /** The state machine of the loader, which the portal starts when an operator approves a load. */
  loadMachine: 'LOAD_MACHINE_ARN',
} as const;

/** Environment variables of the job that records usage. */
export const usageEnvironment = {
  /** The topic of the messages about limits. */
  topic: 'USAGE_TOPIC_ARN',
  /** How many whole months records are kept. */
  months: 'USAGE_MONTHS',
  /** The share of a limit from which a message is sent; 0 sends none. */
  messageAtShare: 'USAGE_MESSAGE_AT_SHARE',
} as const;
