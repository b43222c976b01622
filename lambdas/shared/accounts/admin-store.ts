import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type Item, isConflict, type Query, type Update } from '../dynamodb.ts';
import { retryWithBackoff } from '../retry.ts';
import type { Access } from './account.ts';
import { accessItem, accessKey, readAccess } from './account-item.ts';
import { AdminError } from './admin-error.ts';

/**
 * The attributes of an item to set, to raise, to copy and to remove; the others stay, also while a request is counted at
 * the same time. An attribute that is raised or copied exists.
 */
export type Changes = {
  set: Item;
  raise?: Record<string, number>;
  /** By the attribute to set: the one whose value it gets, which may be removed by the same write. */
  copy?: Record<string, string>;
  remove: string[];
};

/** What an attribute must be for a change to happen. */
export type Guard =
  | { attribute: string; is: '=' | '<='; value: Item[string] }
  | { attribute: string; is: 'absent' | 'there' };

/**
 * The parts of an `UpdateItem` for `changes`. Each attribute `a` is aliased `#a` and its value `:a`, since many of our
 * names are reserved words; attribute names are lower case letters and `_`.
 */
export function updateChanges({ set, raise = {}, copy = {}, remove }: Changes) {
  const sets = [
    ...Object.entries(copy).map(([name, from]) => `#${name} = #${from}`),
    ...Object.keys(set).map((name) => `#${name} = :${name}`),
    ...Object.keys(raise).map((name) => `#${name} = #${name} + :${name}`),
  ];
  const removes = remove.map((name) => `#${name}`);
  return {
    UpdateExpression: [sets.length && `SET ${sets.join(', ')}`, removes.length && `REMOVE ${removes.join(', ')}`]
      .filter(Boolean)
      .join(' '),
    names: aliases([...Object.keys(set), ...Object.keys(raise), ...Object.entries(copy).flat(), ...remove]),
    values: Object.fromEntries(Object.entries({ ...set, ...raise }).map(([name, value]) => [`:${name}`, value])),
  };
}

/** An update of the item under `Key` in `table` that happens if all of `guards` hold. */
export function guardedUpdate(table: string, Key: Record<string, string>, changes: Changes, guards: Guard[]): Update {
  const { UpdateExpression, names, values } = updateChanges(changes);
  const guard = guardExpression(guards);
  return {
    TableName: table,
    Key,
    UpdateExpression,
    ConditionExpression: guard.ConditionExpression,
    ExpressionAttributeNames: { ...names, ...guard.names },
    ExpressionAttributeValues: { ...values, ...guard.values },
  };
}

/** The parts of a condition that all of `guards` hold. */
export function guardExpression(guards: Guard[]) {
  const conditions = guards.map((guard, i) => {
    if (guard.is === 'absent') return `attribute_not_exists(#${guard.attribute})`;
    if (guard.is === 'there') return `attribute_exists(#${guard.attribute})`;
    return `#${guard.attribute} ${guard.is} :seen${i}`;
  });
  const values = guards.flatMap((guard, i) => ('value' in guard ? [[`:seen${i}`, guard.value] as const] : []));
  return {
    ConditionExpression: conditions.join(' AND '),
    names: aliases(guards.map(({ attribute }) => attribute)),
    values: Object.fromEntries(values) as Item,
  };
}

function aliases(names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`#${name}`, name]));
}

/** One part of a transaction. */
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The store that every part of the admin module uses. */
export type AdminStore = ReturnType<typeof createAdminStore>;

/**
 * The accounts table as administration uses it, through the document client. Every read is strongly consistent. `actor`
 * is who the audit names; `now` returns milliseconds since 1970.
 */
export function createAdminStore(client: DynamoDBDocumentClient, table: string, actor: string, now: () => number) {
  return {
    table,
    actor,
    now,
    nowSeconds: () => Math.floor(now() / 1000),

    async get(Key: Record<string, string>): Promise<Item | undefined> {
      return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
    },

    /** Reads up to 100 items; those that don't exist are left out. */
    async getAll(keys: Record<string, string>[]): Promise<Item[]> {
      const items: Item[] = [];
      let Keys = keys;
      while (Keys.length > 0) {
        const command = new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } });
        const { Responses, UnprocessedKeys } = await client.send(command);
        items.push(...(Responses?.[table] ?? []));
        Keys = (UnprocessedKeys?.[table]?.Keys ?? []) as Record<string, string>[];
        if (Keys.length > 0) await sleep(100); // throttled: the rest follows
      }
      return items;
    },

    /** Reads all pages, or as many as it takes for `Limit` items. */
    async query(query: Query): Promise<Item[]> {
      const { Limit: most = Infinity } = query;
      const items: Item[] = [];
      let ExclusiveStartKey: Item | undefined = query.ExclusiveStartKey;
      do {
        const page = await client.send(new QueryCommand({ ...query, ConsistentRead: true, ExclusiveStartKey }));
        items.push(...(page.Items ?? []));
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey && items.length < most);
      return items.slice(0, most);
    },

    /**
     * The items that pass `filter`, page by page; every write that returned before the scan began is seen. It reads the
     * whole table (a read unit for each 4 KB), which suits an operator, not a customer's request.
     */
    async *scan(
      filter: Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'>,
    ): AsyncGenerator<Item> {
      let ExclusiveStartKey: Item | undefined;
      do {
        const command = new ScanCommand({ TableName: table, ConsistentRead: true, ...filter, ExclusiveStartKey });
        const page = await client.send(command);
        yield* page.Items ?? [];
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey);
    },

    async put(item: Item, condition: Partial<Omit<Update, 'TableName' | 'Key' | 'UpdateExpression'>> = {}) {
      await client.send(new PutCommand({ TableName: table, Item: item, ...condition }));
    },

    async update({ ExpressionAttributeValues: values, ...update }: Update): Promise<void> {
      // DynamoDB refuses an empty map.
      const withValues = Object.keys(values).length > 0 && { ExpressionAttributeValues: values };
      await client.send(new UpdateCommand({ ...update, ...withValues }));
    },

    async delete(Key: Record<string, string>): Promise<void> {
      await client.send(new DeleteCommand({ TableName: table, Key }));
    },

    /**
     * Makes all of the writes or none. A single update is sent by itself: a transaction would conflict with the charge
     * of a request.
     */
    async writeAll(writes: Write[]): Promise<void> {
      const [first] = writes;
      if (writes.length === 1 && first?.Update) await client.send(new UpdateCommand(first.Update));
      else if (first) await client.send(new TransactWriteCommand({ TransactItems: writes }));
    },
  };
}

/** The access item of an account, shard 0 of it, as it is now; or `null`. */
export async function findAccess(store: AdminStore, account: string): Promise<Access | null> {
  const item = await store.get(accessKey(account));
  return item ? readAccess(item) : null;
}

/** Like `findAccess`; throws `not_found`. */
export async function getAccess(store: AdminStore, account: string): Promise<Access> {
  const access = await findAccess(store, account);
  if (!access) throw new AdminError('not_found', `There is no account "${account}".`, { subject: 'account' });
  return access;
}

/** Holds as long as no other administrative change came after `access` was read. */
export function isUnchanged({ version }: Access): Guard {
  return { attribute: accessItem.version, is: '=', value: version };
}

/** Holds for an access item that exists. */
export const exists: Guard = { attribute: accessItem.version, is: 'there' };

/** The update that makes `changes`, provided that no other administrative change came after `access` was read. */
export function accessUpdate(table: string, access: Access, changes: Changes, guards: Guard[] = []): Update {
  const next = { ...changes, set: { ...changes.set, [accessItem.version]: access.version + 1 } };
  return guardedUpdate(table, accessKey(access.account, access.shard), next, [isUnchanged(access), ...guards]);
}

/**
 * Runs `attempt` until its write does not conflict with another change. Each attempt reads again and decides from what
 * it read, so the condition of its write only has to be "nothing changed in between". Finally throws `conflict`.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await retryWithBackoff(attempt, {
      attempts: 30,
      firstPauseMs: 10,
      longestPauseMs: 200,
      jitter: 1,
      retryIf: isConflict,
    });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new AdminError('conflict', 'Too many concurrent changes; retry.', { cause: error });
  }
}

/** Seconds since 1970 as `2026-08-01T12:00:00Z`. */
export function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
