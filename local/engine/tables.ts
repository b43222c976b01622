import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { TableSettings } from '../template/local-app.ts';

/** Creates the tables that the engine does not have yet, and returns their names. */
export async function createMissingTables(client: DynamoDBClient, tables: readonly TableSettings[]): Promise<string[]> {
  const existing = await tableNames(client);
  const missing = tables.filter(({ TableName }) => !existing.has(TableName));
  for (const table of missing) {
    await client.send(new CreateTableCommand({ ...table, BillingMode: 'PAY_PER_REQUEST' }));
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: table.TableName });
  }
  return missing.map(({ TableName }) => TableName);
}

/** Deletes those of the tables that exist. */
export async function deleteTables(client: DynamoDBClient, tables: readonly TableSettings[]): Promise<void> {
  const existing = await tableNames(client);
  for (const { TableName } of tables) {
    if (existing.has(TableName)) await client.send(new DeleteTableCommand({ TableName }));
  }
}

async function tableNames(client: DynamoDBClient): Promise<Set<string>> {
  const names = new Set<string>();
  let start: string | undefined;
  do {
    const page = await client.send(new ListTablesCommand({ ExclusiveStartTableName: start }));
    for (const name of page.TableNames ?? []) names.add(name);
    start = page.LastEvaluatedTableName;
  } while (start !== undefined);
  return names;
}

/** Region and credentials for an engine on this machine; the SDK requires them, engines ignore them. */
export const localAws = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

/**
 * A client for the DynamoDB engine at `endpoint`. The caller has to destroy it.
 * @param accessKeyId the one that a guarded endpoint asks for; engines themselves accept any
 */
export function localDynamoDb(endpoint: string, accessKeyId = localAws.credentials.accessKeyId): DynamoDBClient {
  return new DynamoDBClient({ ...localAws, credentials: { ...localAws.credentials, accessKeyId }, endpoint });
}
