import { once } from 'node:events';
import { type Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { LocalState } from '../local/data-folder.ts';
import { localDynamoDb } from '../local/engine/client.ts';
import { type Admin, createAdmin } from '../packages/admin/admin.ts';

/** Administers the service of a running `npm start`, as `work` says. */
export async function administer<T>(
  { endpoint, accessKeyId, accountsTable: table }: LocalState,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const client = localDynamoDb(endpoint, accessKeyId);
  try {
    return await work(createAdmin({ client: DynamoDBDocumentClient.from(client), table }));
  } finally {
    client.destroy();
  }
}

/** A lookup that a server answers with 200. */
export type Lookup = { url: string; key: string };

/** Sends a lookup. @throws Error when the answer is not 200 */
export async function lookUp({ url, key }: Lookup, agent?: Agent): Promise<void> {
  const [response] = (await once(
    get(url, { agent, headers: { 'x-api-key': key } }),
    'response',
  )) as [IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) {
    throw new Error(`${url} was answered ${response.statusCode}: ${body}`);
  }
}
