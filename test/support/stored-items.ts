import { isDeepStrictEqual } from 'node:util';
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';

/** An item of an accounts table. */
export type StoredItem = { account: string; item: string } & Record<string, unknown>;

/** All items of an accounts table, or those of one of its partitions. */
export async function storedItems(
  client: DynamoDBDocumentClient,
  table: string,
  account?: string,
): Promise<StoredItem[]> {
  const all = { TableName: table, ConsistentRead: true };
  const of = {
    KeyConditionExpression: 'account = :account',
    ExpressionAttributeValues: { ':account': account },
  };
  const command =
    account === undefined ? new ScanCommand(all) : new QueryCommand({ ...all, ...of });
  const { Items, LastEvaluatedKey } = await client.send(command as QueryCommand);
  if (LastEvaluatedKey) throw new Error(`${table} has more items than one page`);
  return Items as StoredItem[];
}

/** Brings a table, or one of its partitions, back to what `storedItems` returned of it. */
export async function restoreItems(
  client: DynamoDBDocumentClient,
  table: string,
  before: StoredItem[],
  account?: string,
): Promise<void> {
  const now = new Map(
    (await storedItems(client, table, account)).map((item) => [nameOf(item), item]),
  );
  const changed = before.filter((item) => !isDeepStrictEqual(now.get(nameOf(item)), item));
  for (const item of before) now.delete(nameOf(item));
  const added = Array.from(now.values(), ({ account, item }) => ({ account, item }));
  await writeItems(client, table, changed, added);
}

/** Puts items and deletes others. */
export async function writeItems(
  client: DynamoDBDocumentClient,
  table: string,
  puts: Record<string, unknown>[],
  deletes: Record<string, unknown>[] = [],
): Promise<void> {
  const writes = [
    ...puts.map((Item) => ({ PutRequest: { Item } })),
    ...deletes.map((Key) => ({ DeleteRequest: { Key } })),
  ];
  for (let first = 0; first < writes.length; first += 25) {
    const RequestItems = { [table]: writes.slice(first, first + 25) };
    await client.send(new BatchWriteCommand({ RequestItems }));
  }
}

const nameOf = ({ account, item }: StoredItem) => `${account} ${item}`;
