import { createServer } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { bareLookup, bareRead } from '../bare-lookup.ts';

/**
 * The reference of `npm run bench -- local`, in a process of its own: a server of Node's with
 * nothing but the two SDK calls of a lookup, or the second alone where no key is sent. The engine,
 * the tables and the credentials are those of its environment. Prints its port.
 */
const client = new DynamoDBClient();
const server = createServer(async ({ headers }, response) => {
  const key = headers['x-api-key'];
  const item = await (key === undefined ? bareRead(client) : bareLookup(client, String(key)));
  response.setHeader('content-type', 'application/json').end(JSON.stringify(item));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Listening on port ${(server.address() as { port: number }).port}.`);
});
