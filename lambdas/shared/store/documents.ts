import {
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { marshall, type NativeAttributeValue, unmarshall } from '@aws-sdk/util-dynamodb';

export type StoreClient = Pick<DynamoDBClient, 'send'>;
export type Item = Record<string, NativeAttributeValue>;
type Key = Record<string, string>;

/** The inputs of commands, with plain values. */
export type Get = Omit<GetItemCommandInput, 'Key'> & { Key: Key };
export type Query = Omit<QueryCommandInput, 'ExpressionAttributeValues'> & { ExpressionAttributeValues: Item };
export type Update = Omit<UpdateItemCommandInput, 'Key' | 'ExpressionAttributeValues'> & {
  UpdateExpression: string;
  Key: Key;
  ExpressionAttributeValues: Item;
};

/**
 * The calls that a request may make, with plain values in and out. The document client does the same for every command
 * there is, by middleware of its own, which shows in the CPU of a lookup and of a cold start (`npm run bench`).
 */
export function documents(client: StoreClient) {
  return {
    async get(get: Get, abortSignal?: AbortSignal): Promise<Item | undefined> {
      const command = new GetItemCommand({ ...get, Key: marshall(get.Key) });
      const { Item } = await client.send(command, { abortSignal });
      return Item && unmarshall(Item);
    },

    /** Gives the attributes that `ReturnValues` asks for. */
    async update(update: Update, abortSignal?: AbortSignal): Promise<Item> {
      const { Attributes = {} } = await client.send(new UpdateItemCommand(marshalled(update)), { abortSignal });
      return unmarshall(Attributes);
    },

    /** Makes all of the updates or none. */
    async updateAll(updates: Update[], abortSignal?: AbortSignal): Promise<void> {
      const TransactItems = updates.map((update) => ({ Update: marshalled(update) }));
      await client.send(new TransactWriteItemsCommand({ TransactItems }), { abortSignal });
    },

    async query(query: Query, abortSignal?: AbortSignal): Promise<Item[]> {
      const values = marshall(query.ExpressionAttributeValues);
      const command = new QueryCommand({ ...query, ExpressionAttributeValues: values });
      const { Items = [] } = await client.send(command, { abortSignal });
      return Items.map((item) => unmarshall(item));
    },
  };
}

function marshalled({ Key, ExpressionAttributeValues, ...rest }: Update) {
  return { ...rest, Key: marshall(Key), ExpressionAttributeValues: marshall(ExpressionAttributeValues) };
}
