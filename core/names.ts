/** The names on which stacks, Lambdas, loader and admin module agree; `lib` imports this and `loader/names.ts` only. */

/**
 * One item a key: `address` = `1381AA#9#A`, `places` = the distinct `{straat, woonplaats}`, sorted. The item of a key
 * without a toevoeging, `1381AA#9#`, also lists the toevoegingen that exist at its postcode and huisnummer; it may have
 * no places.
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

/** Environment variables of the Lambdas and, on one machine, of the command line. */
export const environment = {
  addressesTable: 'ADDRESSES_TABLE',
  accountsTable: 'ACCOUNTS_TABLE',
  /** The secret that keys the checksum of an API key; any text. */
  keyChecksumSecret: 'KEY_CHECKSUM_SECRET',
  /** The secret before it, while keys that it issued are still accepted. */
  previousKeyChecksumSecret: 'KEY_CHECKSUM_SECRET_PREVIOUS',
  /** `off` if the test addresses do not exist. */
  testAddresses: 'TEST_ADDRESSES',
  /** `on` where addresses have their objects: loads read them, and `include` can name them. */
  objecten: 'DATASET_OBJECTEN',
  /** `off` if the deployment has no page at `/docs`. */
  referencePage: 'REFERENCE_PAGE',
  /** How the pages and the OpenAPI document present the operator, as JSON. */
  branding: 'BRANDING',
  /** The place from which a portal reads that secret. */
  keyChecksumSecretArn: 'KEY_CHECKSUM_SECRET_ARN',
  /** The settings of the portal, as JSON. */
  portal: 'PORTAL',
  /** The secrets of the portal: for its cookies, and for its client at the OpenID provider. */
  portalSessionSecret: 'PORTAL_SESSION_SECRET',
  portalClientSecret: 'PORTAL_CLIENT_SECRET',
  /** The bucket with the statements of closed months. */
  statementsBucket: 'STATEMENTS_BUCKET',
  /** The loader's bucket, from which the portal reads about the register. */
  snapshotBucket: 'SNAPSHOT_BUCKET',
  /** The state machine of the loader, which the portal starts when an operator approves a load. */
  loadMachine: 'LOAD_MACHINE_ARN',
} as const;

/** Environment variables of the job that records usage. */
export const usageEnvironment = {
  /** The deployment, `bag-adres-prod`, which its events name. */
  deployment: 'USAGE_DEPLOYMENT',
  months: 'USAGE_MONTHS',
  /** The used share of a limit that sends a message; 0 sends none. */
  messageAtShare: 'USAGE_MESSAGE_AT_SHARE',
} as const;

/** How many whole months the usage of a day is kept by default. */
export const defaultUsageMonths = 25;

/** Under which keys the bucket of statements has them. */
export const statementsPrefix = 'statements/';

/** Environment variables of the canary. */
export const canaryEnvironment = {
  /** The complete URL of the lookup. */
  url: 'CANARY_URL',
  /** The secret in Secrets Manager that has the API key. */
  keySecret: 'CANARY_KEY_SECRET',
} as const;

/** Environment variables of the job that looks after the copies of AWS Backup. */
export const copiesEnvironment = {
  plan: 'BACKUP_PLAN_ID',
  /** The ARN of the accounts table, and of the vault with the copies. */
  table: 'BACKUP_TABLE_ARN',
  vault: 'BACKUP_COPY_VAULT_ARN',
} as const;

/** The source of all events on EventBridge, and the version of their form (docs/events.md). */
export const eventSource = 'bag-adres';
export const eventVersion = 1;

/** The kinds of event, as their detail-type names them. */
export const eventTypes = {
  quotaThreshold: 'quota.threshold',
  loadPublished: 'load.published',
  loadRefused: 'load.refused',
  loadFailed: 'load.failed',
} as const;

/** The variables of a Lambda, or of one of several functions in a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that the stack always sets; a missing one stops the start, not a request. */
export function requireEnvironment(name: string, variables: Environment = process.env): string {
  const value = optionalEnvironment(name, variables);
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** A variable that the stack may set. @throws if CloudFormation left a dynamic reference in it */
export function optionalEnvironment(name: string, variables: Environment = process.env): string | undefined {
  const value = variables[name] || undefined;
  if (value?.startsWith('{{resolve:'))
    throw new Error(`The environment variable ${name} is an unresolved reference. Deploy the stack again.`);
  return value;
}

/** The namespace of a deployment: stages in one account have metrics of their own. */
export const metricNamespaceOf = (stage: string) => `BagAdres/${stage}`;

/** The variable with the namespace of a Lambda's deployment. */
export const metricNamespaceVariable = 'METRIC_NAMESPACE';

/** The namespace of a function's metrics. */
export function metricNamespaceIn(variables: Environment): string {
  return variables[metricNamespaceVariable] ?? 'BagAdres';
}

/** Dimensions of every metric of a request. */
export const requestDimensions = {
  /** `address`, `validate`, or `reference` for the pages that need no key. */
  service: 'service',
  /** `ok`, `not_found`, `ambiguous`, or the code of the refusal: `unauthorized`, `quota-exceeded`, ... */
  outcome: 'outcome',
} as const;

/** The dimension of the metric of the deployed version, besides `service`: `1.2.0`. */
export const versionDimension = 'version';

/** The dimension of `unknownCharges` besides `service`: `time-up`, `connection` or `server-error`. */
export const causeDimension = 'cause';

/** The variable that makes every outcome a metric, when it is `all`. */
export const requestMetricsVariable = 'REQUEST_METRICS';

/** The outcomes with an alarm, which are always metrics: a series costs 0.30 dollars a month. */
export const alarmedOutcomes: readonly string[] = ['unauthorized'];

/** The metrics, as log lines emit them and alarms and dashboards read them. */
export const metricNames = {
  requests: 'Requests',
  /** 1 for a charge that may have been made or not, by `service` alone and with its cause (decision 0103). */
  unknownCharges: 'UnknownCharges',
  /** 1 when a call of the canary failed, else 0; its only dimension is `service`. */
  canaryFailures: 'CanaryFailures',
  /** Milliseconds of the canary's lookup, measured by the canary. */
  canaryLatency: 'CanaryLatency',
  /** Days since the live peildatum, by `service` only; 10,000 for one in the future, when nothing is newer. */
  datasetAge: 'DatasetAgeDays',
  /** 1, with the deployed version as a dimension; emitted with the age. Once a day costs a cent a month. */
  deployedVersion: 'DeployedVersion',
  /** Addresses where mutations and the extract of the same date disagree, emitted where they were compared. */
  auditDifferences: 'AuditDifferences',
  /** How many of 200 sampled addresses differ between table and live snapshot; emitted with the age. */
  tableDifferences: 'TableDifferences',
  /** Addresses of objects that mutations did not match and that are not settled; emitted with the age, as it is. */
  setAside: 'SetAsideAddresses',
  /** Hours since the accounts table was last copied to the other vault; its only dimension is `service`. */
  backupCopyAge: 'BackupCopyAgeHours',
} as const;

/** The languages of the reference and of the portal. */
export const languages = ['en', 'nl'] as const;
export type Language = (typeof languages)[number];
