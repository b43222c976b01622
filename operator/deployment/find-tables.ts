import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from '../../core/environment.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { callersFolder, defaultDataFolder, readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { type AdminStore, createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { announceWith } from '../../packages/admin/events.ts';
import { type Statements, statementsOf } from '../../packages/admin/monthly-statements.ts';
import { clientConfig, deploymentStacks, findDeployment } from './deployed-stacks.ts';
import { UsageError } from './errors.ts';

export type ConnectionOptions = {
  local?: true;
  data?: string;
  stage?: string;
  accountsTable?: string;
};

/**
 * The accounts table and its client, and the storage of statements; `undefined` if only the table
 * was named.
 */
type AccountsTable = {
  client: DynamoDBClient;
  table: string;
  statements: () => string | undefined;
};

/** Finds the table: of the local run, of a deployment, or by name. @throws UsageError */
async function findTable(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<AccountsTable> {
  const { local, data, stage, accountsTable = env[environment.accountsTable] } = options;
  if (local) {
    const { endpoint, accessKeyId, accountsTable: table } = await readLocalState(data);
    const statements = () => resolve(callersFolder(), data ?? defaultDataFolder);
    return { client: localDynamoDb(endpoint, accessKeyId), table, statements };
  }
  if (stage === undefined && !accountsTable) {
    throw new UsageError(
      'Name the tables: --local for the running "npm start", --stage NAME for a deployment, or ' +
        `--accounts-table NAME (or ${environment.accountsTable} in the environment).`,
    );
  }
  const client = new DynamoDBClient(clientConfig);
  const bucket = env[environment.statementsBucket];
  if (stage === undefined) {
    return {
      client,
      table: `${accountsTable}`,
      statements: () => (bucket ? `s3://${bucket}` : undefined),
    };
  }
  const { output } = await findDeployment(stage, ['data']);
  const statements = () => `s3://${output('StatementsBucketName')}`;
  return { client, table: output('AccountsTableName'), statements };
}

/**
 * The actor in the audit entry of a change by command line: the identity that AWS sees, the ARN of
 * a role and its session. If STS can't be asked, this machine's user, marked as such: an emergency
 * must not wait.
 */
export async function callerIdentity(): Promise<string> {
  const client = new STSClient({ ...clientConfig, maxAttempts: 2 });
  const { Arn } = await client
    .send(new GetCallerIdentityCommand())
    .catch(() => ({ Arn: undefined }));
  return Arn ?? `${localUser()} (not confirmed by AWS)`;
}

/** The actor of a change in an engine on this machine, which has no identities. */
export function localUser(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `unknown@${hostname()}`; // a user id without a name, as in some containers
  }
}

/** An accounts table and its client, for work that the admin module has no call for. */
export type AccountsAt = { client: DynamoDBDocumentClient; table: string };

export type OpenAdmin = AccountsAt & {
  admin: Admin;
  /** The same table for changes that the admin module has no call for; they are no events. */
  store: AdminStore;
  /** The statements of closed months; `undefined` if the options name no bucket. */
  statements: () => Promise<Statements | undefined>;
};

/** The admin module on the tables that `options` or `env` name. @throws UsageError */
export async function openAdmin(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<OpenAdmin> {
  const [{ client, table, statements }, actor] = await Promise.all([
    findTable(options, env),
    options.local ? localUser() : callerIdentity(),
  ]);
  // It builds an entry of every call for a logger that the client doesn't have: a quarter of the
  // time of an export of usage.
  client.middlewareStack.remove('loggerMiddleware');
  const documents = DynamoDBDocumentClient.from(client);
  const announce =
    options.stage === undefined ? undefined : announceIn(deploymentStacks(options.stage).name);
  const store = createAdminStore(documents, table, actor, Date.now);
  return {
    admin: createAdmin({ client: documents, table, actor, announce }),
    client: documents,
    table,
    store,
    async statements() {
      const location = statements();
      return location === undefined ? undefined : statementsOf(store, await openStorage(location));
    },
  };
}

/**
 * Sends the events of changes in a deployment. Its client is loaded with the first one: most
 * commands change none.
 */
function announceIn(deployment: string) {
  return announceWith(deployment, async (event) => {
    const { EventBridgeClient, PutEventsCommand } = await import('@aws-sdk/client-eventbridge');
    const client = new EventBridgeClient({ ...clientConfig, maxAttempts: 2 });
    await client.send(new PutEventsCommand({ Entries: [event] }));
  });
}
