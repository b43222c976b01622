import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  type AdminStore,
  createAdminStore,
  readNames,
  retryConflicts,
} from '../../../../packages/admin/accounts/admin-store.ts';

type Sent = { command: string; input: Record<string, unknown> };

/**
 * A store whose client answers each command in turn with one of `answers`, and what was sent to it.
 */
function storeThatAnswers(...answers: object[]): { store: AdminStore; sent: Sent[] } {
  const sent: Sent[] = [];
  const client: DynamoDBDocumentClient = Object.create(DynamoDBDocumentClient.prototype);
  client.send = async (command: { input: Sent['input'] }) => {
    sent.push({ command: command.constructor.name, input: { ...command.input } });
    return answers[sent.length - 1] ?? {};
  };
  return { store: createAdminStore(client, 'accounts', 'ann', () => 1_000_999), sent };
}

const query = { TableName: 'accounts', ExpressionAttributeValues: {} };
const keyOf = (account: string) => ({ account, item: 'access#0' });

describe('the store of the admin module', () => {
  it('reads what has been written, however recently', async () => {
    const { store, sent } = storeThatAnswers();
    await store.get(keyOf('a'));
    await store.getAll([keyOf('a')]);
    await store.query(query);
    for await (const _ of store.scan({})) throw new Error('an empty table has no items');
    const commands = sent.map(({ command }) => command);
    expect(commands).toEqual(['GetCommand', 'BatchGetCommand', 'QueryCommand', 'ScanCommand']);
    const reads = sent.map(
      ({ input }) => (input.RequestItems as Record<string, object> | undefined)?.accounts ?? input,
    );
    for (const read of reads) expect(read).toMatchObject({ ConsistentRead: true });
  });

  it('reads by key what a throttled table returned only in part', async () => {
    const { store, sent } = storeThatAnswers(
      {
        Responses: { accounts: [keyOf('a')] },
        UnprocessedKeys: { accounts: { Keys: [keyOf('b'), keyOf('c')] } },
      },
      {
        Responses: { accounts: [keyOf('b')] },
        UnprocessedKeys: { accounts: { Keys: [keyOf('c')] } },
      },
      { Responses: { accounts: [keyOf('c')] }, UnprocessedKeys: {} },
    );
    expect(await store.getAll(['a', 'b', 'c'].map(keyOf))).toEqual(['a', 'b', 'c'].map(keyOf));
    expect(sent).toHaveLength(3);
    expect(sent[2]?.input).toMatchObject({ RequestItems: { accounts: { Keys: [keyOf('c')] } } });
  });

  it('reads by key 100 at a time, those left out first', async () => {
    const { store, sent } = storeThatAnswers({
      UnprocessedKeys: { accounts: { Keys: [keyOf('7')] } },
    });
    await store.getAll(Array.from({ length: 102 }, (_, i) => keyOf(String(i))));
    const read = sent.map(
      ({ input }) => (input.RequestItems as { accounts: { Keys: object[] } }).accounts.Keys,
    );
    expect([read[0]?.length, read[1]]).toEqual([100, ['7', '100', '101'].map(keyOf)]);
  });

  it('reads nothing for no keys', async () => {
    const { store, sent } = storeThatAnswers();
    expect([await store.getAll([]), sent]).toEqual([[], []]);
  });

  const pages = [
    { Items: [keyOf('a'), keyOf('b')], LastEvaluatedKey: keyOf('b') },
    { Items: [], LastEvaluatedKey: keyOf('c') },
    { Items: [keyOf('d')], LastEvaluatedKey: keyOf('d') },
    { Items: [keyOf('e')] },
  ];

  it.each([
    [1, ['a'], 1],
    [2, ['a', 'b'], 1],
    [3, ['a', 'b', 'd'], 3],
    [9, ['a', 'b', 'd', 'e'], 4],
    [undefined, ['a', 'b', 'd', 'e'], 4],
  ])('reads as many pages as it takes for %p items', async (Limit, found, reads) => {
    const { store, sent } = storeThatAnswers(...pages);
    expect(await store.query({ ...query, ...(Limit && { Limit }) })).toEqual(found.map(keyOf));
    expect(sent.map(({ input }) => input.ExclusiveStartKey)).toEqual(
      [undefined, keyOf('b'), keyOf('c'), keyOf('d')].slice(0, reads),
    );
  });

  it('scans all pages', async () => {
    const { store } = storeThatAnswers(...pages);
    const found: unknown[] = [];
    for await (const item of store.scan({})) found.push(item);
    expect(found).toEqual(['a', 'b', 'd', 'e'].map(keyOf));
  });

  it.each([
    ['no values', {}, undefined],
    ['one value', { ':a': 1 }, { ':a': 1 }],
    ['two values', { ':a': 1, ':b': 2 }, { ':a': 1, ':b': 2 }],
  ])(
    'sends an update with %s, where DynamoDB refuses an empty map',
    async (_, values, expected) => {
      const { store, sent } = storeThatAnswers();
      const update = { TableName: 'accounts', Key: keyOf('a'), UpdateExpression: 'REMOVE x' };
      await store.update({ ...update, ExpressionAttributeValues: values });
      expect(sent[0]?.input.ExpressionAttributeValues).toEqual(expected);
    },
  );

  it('makes several writes in one transaction, and sends a single update by itself', async () => {
    const Update = { TableName: 'accounts', Key: keyOf('a'), UpdateExpression: 'REMOVE x' };
    const Delete = { TableName: 'accounts', Key: keyOf('a') };
    const { store, sent } = storeThatAnswers();
    for (const writes of [[], [{ Update }], [{ Delete }], [{ Update }, { Update }]]) {
      await store.writeAll(writes);
    }
    expect(sent.map(({ command, input }) => [command, input])).toEqual([
      ['UpdateCommand', Update],
      ['TransactWriteCommand', { TransactItems: [{ Delete }] }],
      ['TransactWriteCommand', { TransactItems: [{ Update }, { Update }] }],
    ]);
  });

  it('counts time in whole seconds, rounded down', () => {
    expect(storeThatAnswers().store.nowSeconds()).toBe(1_000);
  });
});

describe('a list of names', () => {
  it('reads one name more than the page has, to know whether there is another page', async () => {
    const { store, sent } = storeThatAnswers({
      Items: ['a', 'b', 'c'].map((item) => ({ account: 'account#', item })),
    });
    expect(await readNames(store, 'account', { limit: 2 })).toEqual({
      names: ['a', 'b'],
      cursor: 'b',
    });
    expect(sent[0]?.input.Limit).toBe(3);
  });

  it.each([
    ['account#', {}, 101, ['-', '~']],
    ['account#', { limit: 100 }, 101, ['-', '~']],
    ['account#', { limit: 1 }, 2, ['-', '~']],
    ['account#', { prefix: 'a', cursor: 'a1' }, 101, ['a', 'a~']],
  ])('is read from %s with %j', async (partition, options, Limit, [first, last]) => {
    const { store, sent } = storeThatAnswers();
    expect(await readNames(store, 'account', options)).toEqual({ names: [], cursor: null });
    expect(sent[0]?.input).toMatchObject({
      Limit,
      ExpressionAttributeValues: { ':partition': partition, ':first': first, ':last': last },
    });
  });
});

describe('a change that conflicts with others', () => {
  afterEach(() => void jest.restoreAllMocks());

  const conflict = new ConditionalCheckFailedException({ $metadata: {}, message: 'conflict' });

  /** A change that conflicts `conflicts` times, and is tried again without pauses. */
  function conflicting(conflicts: number) {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    let attempts = 0;
    return retryConflicts(async () => {
      if (++attempts <= conflicts) throw conflict;
      return attempts;
    });
  }

  it('is made by the 30th attempt', async () => {
    await expect(conflicting(29)).resolves.toBe(30);
  });

  it('is given up as a conflict after it', async () => {
    await expect(conflicting(30)).rejects.toMatchObject({
      name: 'AdminError',
      code: 'conflict',
      cause: conflict,
    });
  });

  it('is not repeated after any other error, which is thrown as it is', async () => {
    const error = new Error('no network');
    let attempts = 0;
    const change = async () => {
      attempts++;
      throw error;
    };
    await expect(retryConflicts(change)).rejects.toBe(error);
    expect(attempts).toBe(1);
  });
});
