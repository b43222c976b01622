import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { settledSecret } from '../../core/accounts/checksum-secret.ts';
import { accountsTable, addressesTable } from '../../core/tables.ts';
import { localAws, startEngine } from '../../local/engine/engine.ts';

/** The headers of a signature that the embedded engine requires; it ignores what they say. */
export const placeholderSignature = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20260101T000000Z',
};

/**
 * A client for the embedded engine at `endpoint` that sends the same signature with every request:
 * computing one is over a third of the CPU of a call, and the tests make hundreds of thousands of
 * calls. The caller has to destroy it.
 */
export function testDynamoDb(
  endpoint: string,
  requestHandler?: DynamoDBClient['config']['requestHandler'],
): DynamoDBClient {
  const sign = async <R extends { headers: Record<string, string> }>(request: R): Promise<R> => {
    Object.assign(request.headers, placeholderSignature);
    return request;
  };
  const signer = async () => ({ sign });
  return new DynamoDBClient({
    ...localAws,
    endpoint,
    signer,
    ...(requestHandler && { requestHandler }),
  });
}

/** A real engine for one test file, empty at first. */
export type TestDynamoDb = {
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  stop(): Promise<void>;
};

/** The engine of this worker; undefined outside of Jest. */
const sharedEndpoint = process.env.TEST_ENGINES?.split(' ')[Number(process.env.JEST_WORKER_ID) - 1];
let isSharedInUse = false;

/**
 * An empty engine: that of this worker (shared-engines.ts), or a new one while it is in use. `stop`
 * in `afterAll`.
 * @param file its database; in memory if absent
 */
export async function startDynamoDb(file?: string): Promise<TestDynamoDb> {
  const shared = isSharedInUse || file !== undefined ? undefined : sharedEndpoint;
  isSharedInUse ||= shared !== undefined;
  const engine =
    shared === undefined
      ? await startEngine(file)
      : { endpoint: shared, stop: async () => undefined };
  const client = testDynamoDb(engine.endpoint);
  if (shared !== undefined) await deleteTables(client); // those of the test files before
  return {
    endpoint: engine.endpoint,
    client,
    stop: async () => {
      client.destroy();
      await engine.stop();
      if (shared !== undefined) isSharedInUse = false;
    },
  };
}

async function deleteTables(client: DynamoDBClient): Promise<void> {
  for (;;) {
    const { TableNames = [] } = await client.send(new ListTablesCommand());
    if (TableNames.length === 0) return;
    for (const TableName of TableNames) await client.send(new DeleteTableCommand({ TableName }));
  }
}

/** Makes the two tables under the names given, with the keys that the stacks give them. */
export async function createTables(
  client: DynamoDBClient,
  { addresses, accounts }: { addresses: string; accounts: string },
): Promise<void> {
  await createAddressesTable(client, addresses);
  await createAccountsTable(client, accounts);
}

/** Signs the keys in every table of the tests. */
export const testChecksumSecret = 'the secret of the tests';

/** Makes a table of accounts, with the keys that the stack gives it and the secret of the tests. */
export async function createAccountsTable(client: DynamoDBClient, name: string): Promise<void> {
  await createTable(client, name, [accountsTable.partitionKey, accountsTable.sortKey]);
  await client.send(
    new PutItemCommand({ TableName: name, Item: marshall(settledSecret(testChecksumSecret)) }),
  );
}

/** Makes a table of addresses, with the key that the stack gives it. */
export async function createAddressesTable(client: DynamoDBClient, name: string): Promise<void> {
  await createTable(client, name, [addressesTable.partitionKey]);
}

async function createTable(client: DynamoDBClient, name: string, keys: string[]): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: keys.map((key, index) => ({
        AttributeName: key,
        KeyType: index === 0 ? 'HASH' : 'RANGE',
      })),
    }),
  );
}
