import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { accountsTable, addressesTable } from '../../lambdas/shared/tables.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { startEngine } from '../../local/engine/engine.ts';

/** A real engine for one test file, in memory and empty. */
export interface TestDynamoDb {
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  stop(): Promise<void>;
}

/** Starts an empty engine on a free port; `stop` in `afterAll`. */
export async function startDynamoDb(): Promise<TestDynamoDb> {
  const engine = await startEngine();
  const client = localDynamoDb(engine.endpoint);
  return {
    endpoint: engine.endpoint,
    client,
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };
}

/** Makes the two tables under the names given, with the keys that the stacks give them. */
export async function createTables(
  client: DynamoDBClient,
  { addresses, accounts }: { addresses: string; accounts: string },
): Promise<void> {
  await createTable(client, addresses, [addressesTable.partitionKey]);
  await createTable(client, accounts, [accountsTable.partitionKey, accountsTable.sortKey]);
}

async function createTable(client: DynamoDBClient, name: string, keys: string[]): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: keys.map((key, index) => ({ AttributeName: key, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    }),
  );
}
