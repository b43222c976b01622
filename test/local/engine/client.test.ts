import { GetItemCommand, ListTablesCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  createMissingTables,
  deleteTables,
  existingTables,
  guardEndpoint,
  localDynamoDb,
} from '../../../local/engine/client.ts';
import { createAddressesTable, startDynamoDb } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const engine = startForTests(startDynamoDb);
const guarded = startForTests(() => guardEndpoint(engine.endpoint));

beforeAll(() => createAddressesTable(engine.client, 'addresses'));

/** Sends a request as a web page or any other program could. */
const listTables = (endpoint: string, headers: Record<string, string> = {}) =>
  fetch(endpoint, {
    method: 'POST',
    headers: {
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-date': '20260108T120000Z',
      ...headers,
    },
    body: '{}',
  });
const signedBy = (accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260108/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
});

describe('tables', () => {
  it('are created and deleted by requests that the SDK repeats, as their answers are late', async () => {
    const client = localDynamoDb(engine.endpoint);
    const names = { addresses: 'late-addresses', accounts: 'late-accounts' };
    client.middlewareStack.add(
      (next) => async (request) => {
        await next(request);
        return next(request);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    expect(await createMissingTables(client, names, [])).toEqual(Object.values(names));
    expect(await existingTables(client)).toEqual(expect.arrayContaining(Object.values(names)));
    await deleteTables(client, Object.values(names));
    expect(await existingTables(client)).toEqual(['addresses']);
    client.destroy();
  });
});

describe('the endpoint of the embedded engine for other processes', () => {
  it('serves a client that has its access key id', async () => {
    const client = localDynamoDb(guarded.endpoint, guarded.accessKeyId);
    const Item = { address: { S: 'a' }, large: { S: 'x'.repeat(300_000) } };
    await client.send(new PutItemCommand({ TableName: 'addresses', Item }));
    const found = await client.send(
      new GetItemCommand({ TableName: 'addresses', Key: { address: { S: 'a' } } }),
    );
    expect(found.Item).toEqual(Item);
    client.destroy();
  });

  it('refuses every other client, and says what to use', async () => {
    for (const headers of [{}, signedBy('local'), signedBy(''), signedBy('0'.repeat(32))]) {
      const response = await listTables(guarded.endpoint, headers);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('local.json');
    }
    const client = localDynamoDb(guarded.endpoint);
    await expect(client.send(new ListTablesCommand())).rejects.toThrow(
      /accessKeyId that is in local.json/,
    );
    client.destroy();
  });

  it('lets no web page read a response or send a signed request', async () => {
    const origin = { origin: 'https://example.org' };
    const served = await listTables(guarded.endpoint, {
      ...signedBy(guarded.accessKeyId),
      ...origin,
    });
    const refused = await listTables(guarded.endpoint, origin);
    const preflight = await fetch(guarded.endpoint, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-headers': 'authorization' },
    });
    expect([served.status, refused.status, preflight.status]).toEqual([200, 403, 403]);
    for (const { headers } of [served, refused, preflight]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('is the only one on 127.0.0.1: the engine itself is at a random loopback address', () => {
    expect(new URL(guarded.endpoint).hostname).toBe('127.0.0.1');
    if (process.platform === 'linux') {
      expect(new URL(engine.endpoint).hostname).not.toBe('127.0.0.1');
    }
  });
});
