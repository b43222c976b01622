import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { environment } from '../../lambdas/shared/tables.ts';
import { localDynamoDb } from '../../local/dynamodb-client.ts';
import { readLocalState } from '../../local/local-state.ts';
import { CommandError, UsageError } from '../commands/command-error.ts';
import type { ConnectionOptions } from '../commands/connection-options.ts';
import { findDeployment } from './find-deployment.ts';
import { patience } from './patience.ts';
import { readSecret } from './read-secret.ts';

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
