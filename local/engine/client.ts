import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { createStoreClient, Sha256 } from '../../core/dynamodb.ts';
import { accountsTable, addressesTable } from '../../core/tables.ts';
import { localAws } from './engine.ts';

/**
 * A client for the DynamoDB engine at `endpoint`. The caller has to destroy it.
 * @param accessKeyId the id that a guarded endpoint requires; engines themselves accept any
 */
export function localDynamoDb(
  endpoint: string,
  accessKeyId = localAws.credentials.accessKeyId,
): DynamoDBClient {
  const credentials = { ...localAws.credentials, accessKeyId };
  return new DynamoDBClient({ ...localAws, credentials, endpoint, sha256: Sha256 });
}

/** A client as the functions have it. The caller has to destroy it. */
export function localStoreClient(endpoint: string): DynamoDBClient {
  return createStoreClient({ ...localAws, endpoint });
}

/** An endpoint of a DynamoDB engine for other processes, which have to know its secret. */
export type GuardedEndpoint = {
  /** `http://127.0.0.1:41234` */
  readonly endpoint: string;
  /** The secret of this start: the access key id that requests have to be signed with. */
  readonly accessKeyId: string;
  stop(): Promise<void>;
};

/**
 * Forwards requests to an engine that checks no credentials, if they carry the secret access key
 * id, which AWS clients send with every request; the others get a 403. Web pages get no permission
 * to read a response.
 */
export async function guardEndpoint(engineEndpoint: string): Promise<GuardedEndpoint> {
  const accessKeyId = randomBytes(16).toString('hex');
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    forward(incoming, response).catch(() => response.destroy());
  });

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isSignedBy(accessKeyId, incoming)) {
      incoming.resume();
      response.writeHead(403, { 'content-type': 'application/x-amz-json-1.0' }).end(refusal);
      return;
    }
    const { method, headers } = incoming;
    const outgoing = request(new URL(incoming.url ?? '/', engineEndpoint), {
      method,
      headers,
      agent,
    });
    const [responded] = await Promise.all([
      once(outgoing, 'response'),
      pipeline(incoming, outgoing),
    ]);
    const answer = responded[0] as IncomingMessage;
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !name.startsWith('access-control-')) {
        response.setHeader(name, value);
      }
    }
    response.writeHead(answer.statusCode ?? 502);
    await pipeline(answer, response);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accessKeyId,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      agent.destroy();
    },
  };
}

const refusal = JSON.stringify({
  __type: 'com.amazon.coral.service#UnrecognizedClientException',
  message:
    'Sign requests with the accessKeyId that is in local.json in the data folder of "npm start".',
});

/**
 * The signature itself is not checked: the secret is the name of the key, and the request never
 * leaves this machine.
 */
function isSignedBy(accessKeyId: string, { headers }: IncomingMessage): boolean {
  const [, given = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  return (
    given.length === accessKeyId.length &&
    timingSafeEqual(Buffer.from(given), Buffer.from(accessKeyId))
  );
}

/** The names of the tables in an engine. */
export type TableNames = { readonly addresses: string; readonly accounts: string };

/** The keys of each table, as the data stack defines them. */
export const tableKeys = {
  addresses: [addressesTable.partitionKey],
  accounts: [accountsTable.partitionKey, accountsTable.sortKey],
} as const satisfies Record<keyof TableNames, readonly string[]>;

const keyTypes = ['HASH', 'RANGE'] as const;

/**
 * The SDK repeats a request whose answer is late, and the engine refuses the second: no other
 * process creates or deletes our tables.
 */
const unlessRepeated =
  (refusal: typeof ResourceInUseException | typeof ResourceNotFoundException) =>
  (error: unknown) => {
    if (!(error instanceof refusal)) throw error;
  };

/** Creates the tables that are not among the existing ones, and returns their names. */
export async function createMissingTables(
  client: DynamoDBClient,
  names: TableNames,
  existing: readonly string[],
): Promise<string[]> {
  const missing = (['addresses', 'accounts'] as const).filter(
    (table) => !existing.includes(names[table]),
  );
  const create = async (table: keyof TableNames) => {
    const TableName = names[table];
    const command = new CreateTableCommand({
      TableName,
      KeySchema: tableKeys[table].map((AttributeName, i) => ({
        AttributeName,
        KeyType: keyTypes[i],
      })),
      AttributeDefinitions: tableKeys[table].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      BillingMode: 'PAY_PER_REQUEST',
    });
    await client.send(command).catch(unlessRepeated(ResourceInUseException));
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
    return TableName;
  };
  return Promise.all(missing.map(create));
}

export async function deleteTables(
  client: DynamoDBClient,
  names: readonly string[],
): Promise<void> {
  for (const TableName of names) {
    const command = new DeleteTableCommand({ TableName });
    await client.send(command).catch(unlessRepeated(ResourceNotFoundException));
  }
}

/** The names of the tables that an engine has. */
export async function existingTables(client: DynamoDBClient): Promise<string[]> {
  const names: string[] = [];
  let start: string | undefined;
  do {
    const page = await client.send(new ListTablesCommand({ ExclusiveStartTableName: start }));
    names.push(...(page.TableNames ?? []));
    start = page.LastEvaluatedTableName;
  } while (start !== undefined);
  return names;
}
