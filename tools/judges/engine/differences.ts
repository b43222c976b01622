import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

const TableName = 'probes';
const key = (id: number | string) => ({ id: { S: String(id) } });
const bytes = (size: number) => ({ S: 'x'.repeat(size) });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const put = (id: number | string, value = bytes(1)) => ({ TableName, Item: { ...key(id), value } });
const nested = (depth: number): { M: Record<string, never> } =>
  numbers(depth).reduce((inner: object) => ({ M: { m: inner } }), { M: {} }) as { M: Record<string, never> };

/** What an engine is asked, by what the answer shows; each answer is a short text, or the error. */
const probes: Readonly<Record<string, (client: DynamoDBClient) => Promise<unknown>>> = {
  'a table that is not there': (client) => client.send(new GetItemCommand({ TableName: 'none', Key: key(1) })),
  'a table that is there already': (client) => client.send(new CreateTableCommand(table)),
  'a condition that fails': (client) =>
    client.send(new PutItemCommand({ ...put(1), ConditionExpression: 'attribute_exists(nothing)' })),
  'an empty key': (client) => client.send(new PutItemCommand(put(''))),
  'a key of another type': (client) => client.send(new GetItemCommand({ TableName, Key: { id: { N: '1' } } })),
  'a key of 2,049 bytes': (client) => client.send(new PutItemCommand(put('k'.repeat(2_049)))),
  'an item of 400 KB': async (client) =>
    stored(await client.send(new PutItemCommand(put('large', bytes(409_600 - 2 - 5 - 5))))),
  'an item of one byte more': (client) => client.send(new PutItemCommand(put('large', bytes(409_600 - 2 - 5 - 5 + 1)))),
  'a map of 33 levels': (client) =>
    client.send(new PutItemCommand({ TableName, Item: { ...key(1), value: nested(33) } })),
  'a number of 39 digits': (client) =>
    client.send(new PutItemCommand({ TableName, Item: { ...key(1), value: { N: '1'.repeat(39) } } })),
  'an empty set': (client) => client.send(new PutItemCommand({ TableName, Item: { ...key(1), value: { SS: [] } } })),
  'an expression of 4,097 bytes': (client) =>
    client.send(new PutItemCommand({ ...put(1), ConditionExpression: `attribute_not_exists(${'a'.repeat(4_075)})` })),
  'a reserved word in an expression': (client) =>
    client.send(new PutItemCommand({ ...put(1), ConditionExpression: 'attribute_not_exists(usage)' })),
  'a path whose parent is missing': (client) =>
    client.send(new UpdateItemCommand({ TableName, Key: key(1), UpdateExpression: 'SET a.b = id' })),
  'a name of an expression that is not used': (client) =>
    client.send(
      new PutItemCommand({
        ...put(1),
        ExpressionAttributeNames: { '#a': 'a' },
        ConditionExpression: 'attribute_exists(id)',
      }),
    ),
  '26 writes in a batch': (client) => client.send(batchOf(numbers(26))),
  'a batch with a key twice': (client) => client.send(batchOf([1, 1])),
  '101 reads in a batch': (client) =>
    client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: numbers(101).map(key) } } })),
  '101 writes in a transaction': (client) => client.send(transactionOf(numbers(101))),
  'a transaction with a key twice': (client) => client.send(transactionOf([1, 1])),
  'a transaction of over 4 MB': (client) => client.send(transactionOf(numbers(12), bytes(400_000))),
  'a transaction whose second condition fails': async (client) => {
    const [first, second] = [0, 1].map((id) => ({
      Put: { ...put(id), ConditionExpression: 'attribute_exists(nothing)' },
    }));
    return client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: put(2) }, second ?? first ?? {}] }));
  },
  'a page of a scan of items of 1.2 MB': async (client) => {
    await client.send(batchOf([1, 2, 3], bytes(400_000)));
    const { Count } = await client.send(new ScanCommand({ TableName, ProjectionExpression: 'id' }));
    return `${Count} items`;
  },
  'the order of a scan': async (client) => {
    await client.send(batchOf(numbers(6)));
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    return Items.flatMap(({ id }) => (/^\d$/.test(id?.S ?? '') ? [id?.S] : [])).join(' ');
  },
  'the order of a batch of reads': async (client) => {
    await client.send(batchOf(numbers(6)));
    const Keys = [3, 1, 5, 0].map(key);
    const { Responses } = await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }));
    return Responses?.[TableName]?.map(({ id }) => id?.S).join(' ');
  },
  'the order of the attributes of an item': async (client) => {
    await client.send(new PutItemCommand({ TableName, Item: { z: bytes(1), ...key(1), a: bytes(1) } }));
    const orders = new Set<string>();
    for (let time = 0; time < 10; time++) {
      const { Item = {} } = await client.send(new GetItemCommand({ TableName, Key: key(1) }));
      orders.add(Object.keys(Item).join(' '));
    }
    return orders.size === 1 ? [...orders].join() : 'another each time';
  },
  'units of a write of 1,025 bytes': async (client) =>
    stored(await client.send(new PutItemCommand({ ...put(7, bytes(1_018)), ...total }))),
  'units of a consistent read of 4,097 bytes': async (client) => {
    await client.send(new PutItemCommand(put(8, bytes(4_091))));
    return stored(await client.send(new GetItemCommand({ TableName, Key: key(8), ConsistentRead: true, ...total })));
  },
  'units of a read of nothing': async (client) =>
    stored(await client.send(new GetItemCommand({ TableName, Key: key('nothing'), ...total }))),
  'units of a transaction of two': async (client) => {
    const { ConsumedCapacity } = await client.send(
      new TransactWriteItemsCommand({ TransactItems: [{ Put: put(1) }, { Put: put(2) }], ...total }),
    );
    return ConsumedCapacity?.[0]?.CapacityUnits;
  },
  'a string added to a number': async (client) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key: key(1),
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': { S: 'x' } },
      }),
    ),
  'the size of a table': async (client) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table?.TableSizeBytes === 0 ? 'none' : 'that of now';
  },
  'a query without a key condition': (client) => client.send(new QueryCommand({ TableName })),
  'tables that it lists': async (client) => (await client.send(new ListTablesCommand())).TableNames?.join(),
};

const total = { ReturnConsumedCapacity: 'TOTAL' } as const;
const stored = ({ ConsumedCapacity }: { ConsumedCapacity?: { CapacityUnits?: number } | undefined }) =>
  ConsumedCapacity?.CapacityUnits ?? 'stored';
const table = {
  TableName,
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  BillingMode: 'PAY_PER_REQUEST' as const,
};

function batchOf(ids: readonly number[], value = bytes(1)): BatchWriteItemCommand {
  return new BatchWriteItemCommand({
    RequestItems: { [TableName]: ids.map((id) => ({ PutRequest: { Item: { ...key(id), value } } })) },
  });
}

function transactionOf(ids: readonly number[], value = bytes(1)): TransactWriteItemsCommand {
  return new TransactWriteItemsCommand({ TransactItems: ids.map((id) => ({ Put: put(id, value) })) });
}

/** Every answer of an engine without tables, by what was asked. */
async function answersOf(client: DynamoDBClient): Promise<Map<string, string>> {
  await client.send(new CreateTableCommand(table));
  await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
  const answers = new Map<string, string>();
  for (const [name, probe] of Object.entries(probes)) answers.set(name, await probe(client).then(String, textOf));
  return answers;
}

/** Long lists and repeated characters of messages are cut, and what differs by run. */
function textOf(error: unknown): string {
  const { name, message } = error as Error;
  return `${name}: ${message}`
    .replace(/(.)\1{20,}/g, '$1...')
    .replaceAll('|', '/')
    .replace(/\s+/g, ' ')
    .slice(0, 110);
}

/** A row for each answer in which two engines differ by more than the text of an error, and the names of the others. */
export async function differences(first: DynamoDBClient, second: DynamoDBClient): Promise<string> {
  const [one, other] = [await answersOf(first), await answersOf(second)];
  const errorOf = (answer = '') => /^\w+(?:Exception|Error)(?=: )/.exec(answer)?.[0] ?? answer;
  const {
    alike = [],
    texts = [],
    rows = [],
  } = Object.groupBy(one.keys(), (name) => {
    if (one.get(name) === other.get(name)) return 'alike';
    return errorOf(one.get(name)) === errorOf(other.get(name)) ? 'texts' : 'rows';
  });
  return [
    '| | Dynoxide 1.2.1 | DynamoDB Local 3.3.1 |',
    '|---|---|---|',
    ...rows.map((name) => `| ${name} | ${one.get(name)} | ${other.get(name)} |`),
    '',
    `They answer with the same error in other words: ${texts.join(', ')}.`,
    '',
    `They answer alike: ${alike.join(', ')}.`,
  ].join('\n');
}
