import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from '../../core/environment.ts';
import { callersFolder, defaultDataFolder, readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { statementFolder } from '../../local/statement-folder.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import {
  type StatementStore,
  type Statements,
  statementsOf,
} from '../../packages/admin/accounts/monthly-statements.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { announceWith } from '../../packages/admin/events.ts';
import { clientConfig, deploymentStacks, findDeployment } from './deployed-stacks.ts';
import { UsageError } from './errors.ts';

/** The options that locate the tables of a command. */
export type ConnectionOptions = {
  local?: true;
  data?: string;
  stage?: string;
  accountsTable?: string;
};

/** The tables and their client. */
export type Tables = {
  client: DynamoDBClient;
  accountsTable: string;
  /** Absent when only the accounts table was named. */
  addressesTable: string | undefined;
  /** Where statements are; `undefined` where only the table was named. */
  statements: () => Promise<StatementStore | undefined>;
};

/** Finds the tables: of the local run, of a deployment, or by name. @throws UsageError */
export async function findTables(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<Tables> {
  if (options.local) return localTables(options.data);
  if (options.stage !== undefined) return stageTables(options.stage);
  const accountsTable = options.accountsTable ?? env[environment.accountsTable];
  if (accountsTable) return namedTables(accountsTable, env);
  throw new UsageError(
    'Name the tables: --local for the running "npm start", --stage NAME for a deployment, ' +
      `or --accounts-table NAME (or ${environment.accountsTable} in the environment).`,
  );
}

async function localTables(dataFolder: string | undefined): Promise<Tables> {
  const { endpoint, accessKeyId, accountsTable, addressesTable } = await readLocalState(dataFolder);
  const client = localDynamoDb(endpoint, accessKeyId);
  const statements = async () => statementFolder(resolve(callersFolder(), dataFolder ?? defaultDataFolder));
  return { client, accountsTable, addressesTable, statements };
}

async function stageTables(stage: string): Promise<Tables> {
  const { output } = await findDeployment(stage, ['data']);
  return {
    client: new DynamoDBClient(clientConfig),
    accountsTable: output('AccountsTableName'),
    addressesTable: output('AddressesTableName'),
    statements: () => bucketNamed(output('StatementsBucketName')),
  };
}

function namedTables(accountsTable: string, env: NodeJS.ProcessEnv): Tables {
  const addressesTable = env[environment.addressesTable];
  const statements = () => bucketNamed(env[environment.statementsBucket]);
  return { client: new DynamoDBClient(clientConfig), accountsTable, addressesTable, statements };
}

async function bucketNamed(bucket: string | undefined): Promise<StatementStore | undefined> {
  if (!bucket) return undefined;
  // Imported here because most commands need no client of S3.
  const [{ S3Client }, { s3Statements }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('../../packages/admin/accounts/s3-statements.ts'),
  ]);
  return s3Statements(new S3Client(clientConfig), bucket);
}

/**
 * The actor in the audit entry of a change by command line: the identity that AWS sees, the ARN of a role and its
 * session. If STS can't be asked, this machine's user, marked as such: an emergency must not wait.
 */
export async function callerIdentity(): Promise<string> {
  const client = new STSClient({ ...clientConfig, maxAttempts: 2 });
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand());
    return Arn ?? `${localUser()} (not confirmed by AWS)`;
  } catch {
    return `${localUser()} (not confirmed by AWS)`;
  }
}

/** The actor of a change in an engine on this machine, which has no identities. */
export function localUser(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a user id without a name, as in some containers
  }
}

/** The tools of a command on accounts. */
export type OpenAdmin = {
  admin: Admin;
  /** The accounts table, for work that the admin module has no call for. */
  client: DynamoDBDocumentClient;
  table: string;
  /** Who makes the changes, for the audit. */
  actor: string;
  /** The statements of closed months; `undefined` if the options name no bucket. */
  statements: () => Promise<Statements | undefined>;
};

/** The admin module on the tables that `options` or `env` name. @throws UsageError */
export async function openAdmin(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<OpenAdmin> {
  const [{ client, accountsTable: table, statements }, actor] = await Promise.all([
    findTables(options, env),
    options.local ? localUser() : callerIdentity(),
  ]);
  // It builds an entry of every call for a logger that the client doesn't have: a quarter of the time of an export of
  // usage.
  client.middlewareStack.remove('loggerMiddleware');
  const documents = DynamoDBDocumentClient.from(client);
  const announce = options.stage === undefined ? undefined : announceIn(deploymentStacks(options.stage).name);
  return {
    admin: createAdmin({ client: documents, table, actor, announce }),
    client: documents,
    table,
    actor,
    async statements() {
      const store = await statements();
      return store && statementsOf(createAdminStore(documents, table, actor, Date.now), store);
    },
  };
}

/** Sends the events of changes in a deployment. Its client is loaded with the first one: most commands change none. */
function announceIn(deployment: string) {
  return announceWith(deployment, async (event) => {
    const { EventBridgeClient, PutEventsCommand } = await import('@aws-sdk/client-eventbridge');
    const client = new EventBridgeClient({ ...clientConfig, maxAttempts: 2 });
    await client.send(new PutEventsCommand({ Entries: [event] }));
  });
}
