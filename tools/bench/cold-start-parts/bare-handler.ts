import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';

/**
 * The reference: a handler with only the bare client, which makes the two calls of a lookup and
 * nothing else.
 */
const client = new DynamoDBClient({});

export async function handler(): Promise<{ statusCode: number; body: string }> {
  const Key = { account: { S: 'bare' }, item: { S: 'access#0' } };
  await client.send(
    new UpdateItemCommand({
      TableName: process.env.ACCOUNTS_TABLE,
      Key,
      UpdateExpression: 'ADD #used :one',
      ExpressionAttributeNames: { '#used': 'used' },
      ExpressionAttributeValues: { ':one': { N: '1' } },
    }),
  );
  const { Item } = await client.send(
    new GetItemCommand({
      TableName: process.env.ADDRESSES_TABLE,
      Key: { address: { S: '1381AA#9#A' } },
    }),
  );
  return { statusCode: 200, body: JSON.stringify(Item) };
}
