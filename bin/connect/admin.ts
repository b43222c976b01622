import { hostname, userInfo } from 'node:os';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Admin, createAdmin } from '../../lambdas/shared/accounts/admin.ts';
import { environment } from '../../lambdas/shared/tables.ts';
import { localDynamoDb } from '../../local/engine/tables.ts';
import { readLocalState } from '../../local/state.ts';
import { CommandError, type ConnectionOptions, type Terminal, UsageError } from '../cli/arguments.ts';
import { printResult, type Result } from '../cli/output.ts';
import { findDeployment, patience } from './deployment.ts';

/** Opens the admin module where `options` say, prints the result of `work`, and closes it whatever happens. */
export async function useAdmin(
  terminal: Terminal,
  options: ConnectionOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<void> {
  if (options.data !== undefined && !options.local) throw new UsageError('--data says which --local run; add --local.');
  // Loaded here, since the AWS clients take longer to load than `--help` may take.
  const { openAdmin } = await import('./admin.ts');
  const { admin, close } = await openAdmin(options, terminal.env);
  try {
    printResult(terminal, options, await work(admin));
  } finally {
    close();
  }
}

/** The text of a secret in Secrets Manager. */
export async function readSecret(arn: string): Promise<string> {
  const client = new SecretsManagerClient();
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    if (SecretString) return SecretString;
    throw new CommandError('no_secret', `The secret ${arn} is empty; the stack must have made it with a text.`);
  } finally {
    client.destroy();
  }
}

/** Where the project's data is. Whoever asked for it destroys the client. */
export type Tables = {
  client: DynamoDBClient;
  accountsTable: string;
  /** Absent where only the accounts table was named. */
  addressesTable: string | undefined;
  /** Fetched when it is needed, since most commands and most operators have no business with it. */
  checksumSecret: () => Promise<string>;
};

/** Finds the tables: the local run, the named table, or the data stack of a deployment. Throws `CommandError`, `UsageError`. */
export async function findTables(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<Tables> {
  if (options.local) return localTables(options.data);
  if (options.stack !== undefined) return stackTables(options.stack);
  const accountsTable = options.accountsTable ?? env[environment.accountsTable];
  if (accountsTable) return namedTables(accountsTable, env);
  throw new UsageError(
    'Say where the tables are: --local for the running "npm start", --stack NAME for a deployment, ' +
      `or --accounts-table NAME (or ${environment.accountsTable} in the environment).`,
  );
}

async function localTables(dataFolder: string | undefined): Promise<Tables> {
  const { endpoint, accountsTable, addressesTable, checksumSecret } = await readLocalState(dataFolder);
  return { client: localDynamoDb(endpoint), accountsTable, addressesTable, checksumSecret: async () => checksumSecret };
}

async function stackTables(stack: string): Promise<Tables> {
  const { output } = await findDeployment(stack, ['data']);
  return {
    client: new DynamoDBClient(patience),
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
      'A key needs the checksum secret of the deployment: name it with --stack, which finds it, ' +
        `or put it into ${environment.keyChecksumSecret} in the environment.`,
    );
  };
  const addressesTable = env[environment.addressesTable];
  return { client: new DynamoDBClient(patience), accountsTable, addressesTable, checksumSecret };
}

/**
 * Whom the audit names for a change by command line: `ann@laptop`. The operator's machine says so, and nothing proves
 * it; CloudTrail has the AWS identity behind each write where its data events are on.
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

/** The admin module on the tables that `options` and `env` say. Throws `CommandError`, `UsageError`. */
export async function openAdmin(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<{ admin: Admin; close: () => void }> {
  const { client, accountsTable: table, checksumSecret } = await findTables(options, env);
  const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table, checksumSecret, actor: operator() });
  return { admin, close: () => client.destroy() };
}
