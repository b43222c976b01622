import { hostname, userInfo } from 'node:os';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Admin, createAdmin } from '../../lambdas/shared/accounts/admin.ts';
import { environment } from '../../lambdas/shared/tables.ts';
import { localDynamoDb } from '../../local/engine/tables.ts';
import { readLocalState } from '../../local/state.ts';
import { clientConfig, findDeployment } from './deployment.ts';
import { CommandError, UsageError } from './errors.ts';

/** Where a command finds the tables, as its options say. */
export type ConnectionOptions = {
  local?: true;
  data?: string;
  stack?: string;
  accountsTable?: string;
};

/** The text of a secret in Secrets Manager. */
export async function readSecret(arn: string): Promise<string> {
  const client = new SecretsManagerClient();
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    if (SecretString) return SecretString;
    throw new CommandError(
      'no_secret',
      `The secret ${arn} is empty. Restore its value, or deploy the data stack again.`,
    );
  } finally {
    client.destroy();
  }
}

/** The tables and their client, which the caller destroys. */
export type Tables = {
  client: DynamoDBClient;
  accountsTable: string;
  /** Absent when only the accounts table was named. */
  addressesTable: string | undefined;
  /** Fetched only when needed: most commands, and most operators, have no access to it. */
  checksumSecret: () => Promise<string>;
};

/** Finds the tables: of the local run, of a deployment, or by name. Throws `CommandError`, `UsageError`. */
export async function findTables(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<Tables> {
  if (options.local) return localTables(options.data);
  if (options.stack !== undefined) return stackTables(options.stack);
  const accountsTable = options.accountsTable ?? env[environment.accountsTable];
  if (accountsTable) return namedTables(accountsTable, env);
  throw new UsageError(
    'Name the tables: --local for the running "npm start", --stack NAME for a deployment, ' +
      `or --accounts-table NAME (or ${environment.accountsTable} in the environment).`,
  );
}

async function localTables(dataFolder: string | undefined): Promise<Tables> {
  const { endpoint, accessKeyId, accountsTable, addressesTable, checksumSecret } = await readLocalState(dataFolder);
  const client = localDynamoDb(endpoint, accessKeyId);
  return { client, accountsTable, addressesTable, checksumSecret: async () => checksumSecret };
}

async function stackTables(stack: string): Promise<Tables> {
  const { output } = await findDeployment(stack, ['data']);
  return {
    client: new DynamoDBClient(clientConfig),
    accountsTable: output('AccountsTableName'),
    addressesTable: output('AddressesTableName'),
    checksumSecret: () => readSecret(output('KeyChecksumSecretArn')),
  };
}

function namedTables(accountsTable: string, env: NodeJS.ProcessEnv): Tables {
  const checksumSecret = async () => {
    const secret = env[environment.keyChecksumSecret];
    if (secret) return secret;
    throw new CommandError(
      'no_secret',
      'Creating a key needs the checksum secret of the deployment. Use --stack NAME, which finds it, ' +
        `or set ${environment.keyChecksumSecret} in the environment.`,
    );
  };
  const addressesTable = env[environment.addressesTable];
  return { client: new DynamoDBClient(clientConfig), accountsTable, addressesTable, checksumSecret };
}

/**
 * The actor in the audit entry of a change by command line: `ann@laptop`. It is what the operator's machine says and
 * proves nothing; CloudTrail data events, if enabled, record the AWS identity of each write.
 */
export function operator(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a user id without a name, as in some containers
  }
}

/** The admin module on the tables that `options` or `env` name. Throws `CommandError`, `UsageError`. */
export async function openAdmin(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<{ admin: Admin; close: () => void }> {
  const { client, accountsTable: table, checksumSecret } = await findTables(options, env);
  const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table, checksumSecret, actor: operator() });
  return { admin, close: () => client.destroy() };
}
