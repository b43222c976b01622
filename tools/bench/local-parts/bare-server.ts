import { createServer } from 'node:http';
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { attemptId } from '../../../core/accounts/charge/charge.ts';
import { chargeCommand } from '../../../core/accounts/charge/charge-command.ts';
import { environment } from '../../../core/names.ts';

/**
 * The reference of `npm run bench -- local`, in a process of its own: a server of Node's with nothing but the two SDK
 * calls of a lookup. The engine, the tables and the credentials are those of its environment. Prints its port.
 */
const client = new DynamoDBClient();
const variable = (name: string) => process.env[name] ?? '';
const addresses = variable(environment.addressesTable);
const accounts = variable(environment.accountsTable);
const secret = variable(environment.keyChecksumSecret);

const server = createServer(async ({ headers }, response) => {
  const claim = readApiKey(String(headers['x-api-key']), secret);
  if (!claim) throw new Error('the key is valid');
  const charge = chargeCommand(accounts, { claim, units: 1, id: attemptId(), now: Date.now() / 1000 });
  const { Key, ExpressionAttributeValues: values, ...rest } = charge;
  await client.send(
    new UpdateItemCommand({ ...rest, Key: marshall(Key), ExpressionAttributeValues: marshall(values) }),
  );
  const { Item } = await client.send(
    new GetItemCommand({ TableName: addresses, Key: { address: { S: '1381AA#9#A' } } }),
  );
  response.setHeader('content-type', 'application/json').end(JSON.stringify(Item));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Listening on port ${(server.address() as { port: number }).port}.`);
});
