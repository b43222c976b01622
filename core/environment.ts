/** The environment variables that stacks set and functions read. */

/** Environment variables of the Lambdas and, on one machine, of the command line. */
export const environment = {
  addressesTable: 'ADDRESSES_TABLE',
  accountsTable: 'ACCOUNTS_TABLE',
  /** `off` if the test addresses do not exist. */
  testAddresses: 'TEST_ADDRESSES',
  /** `on` if addresses have their objects: loads read them, and `include` can name them. */
  objecten: 'DATASET_OBJECTEN',
  /** The URL that published documents name instead of the host in the request. */
  publicUrl: 'PUBLIC_URL',
  /** `off` if the deployment has no page at `/docs`. */
  referencePage: 'REFERENCE_PAGE',
  /** How the pages and the OpenAPI document present the operator, as JSON. */
  branding: 'BRANDING',
  /** The settings of the portal, as JSON. */
  portal: 'PORTAL',
  /** The secrets of the portal: for its cookies, and for its client at the OpenID provider. */
  portalSessionSecret: 'PORTAL_SESSION_SECRET',
  portalClientSecret: 'PORTAL_CLIENT_SECRET',
  /** The bucket with the statements of closed months. */
  statementsBucket: 'STATEMENTS_BUCKET',
  /** The loader's bucket, which the portal reads for the register's page. */
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

/** The variables of a Lambda, or of one function in a process with others. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that the stack always sets; a missing one stops the start, not a request. */
export function requireEnvironment(name: string, variables: Environment = process.env): string {
  const value = optionalEnvironment(name, variables);
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** A variable that the stack may set. */
export function optionalEnvironment(
  name: string,
  variables: Environment = process.env,
): string | undefined {
  return variables[name] || undefined;
}
