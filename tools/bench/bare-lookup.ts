import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { findApiKey } from '../../core/accounts/api-key.ts';
import { attemptAt } from '../../core/accounts/charge/charge.ts';
import { chargeCommand } from '../../core/accounts/charge/charge-command.ts';
import { environment } from '../../core/environment.ts';

const variable = (name: string) => process.env[name] ?? '';

/**
 * The reference of lookups: the write and the read of a charged lookup, sent by a client without
 * any setting alone, one after the other. The tables are those of the environment variables.
 */
export async function bareLookup(client: DynamoDBClient, key: string) {
  const { claim } = findApiKey(key) ?? {};
  if (!claim) throw new Error('the key is valid');
  const charge = attemptAt(claim, 1, Date.now() / 1000);
  const {
    Key,
    ExpressionAttributeValues: values,
    ...rest
  } = chargeCommand(variable(environment.accountsTable), charge, { windows: {}, keys: {} });
  await client.send(
    new UpdateItemCommand({
      ...rest,
      Key: marshall(Key),
      ExpressionAttributeValues: marshall(values),
    }),
  );
  return bareRead(client);
}

/** The read of a lookup alone: what it would be without keys. */
export async function bareRead(client: DynamoDBClient) {
  const Get = {
    TableName: variable(environment.addressesTable),
    Key: { address: { S: '1381AA#9#A' } },
  };
  return (await client.send(new GetItemCommand(Get))).Item;
}
