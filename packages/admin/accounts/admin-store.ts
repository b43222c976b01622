import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  paginateScan,
  type ScanCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Access } from '../../../core/accounts/account.ts';
import {
  accessItem,
  accessKey,
  itemKey,
  planRecord,
  readAccess,
} from '../../../core/accounts/account-item.ts';
import { accountIdPattern } from '../../../core/accounts/api-key.ts';
import {
  type Changes,
  type Guard,
  guardedUpdate,
  type Item,
  isConflict,
  type Query,
  type Update,
} from '../../../core/dynamodb.ts';
import { pagesOf } from '../../../core/pages.ts';
import { retryWithBackoff } from '../../../core/retry.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, noAccount } from './admin-error.ts';

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** A change that was made, as its entry in the audit has it. */
export type AdminChange = {
  partition: string;
  action: string;
  detail: Record<string, unknown>;
  time: string;
  actor: string;
};

export type AdminStore = ReturnType<typeof createAdminStore>;

/**
 * The accounts table as administration uses it, through the document client. Every read is strongly
 * consistent. `actor` is who the audit names; `now` returns milliseconds since 1970; `announce` is
 * told each change that was made.
 */
export function createAdminStore(
  client: DynamoDBDocumentClient,
  table: string,
  actor: string,
  now: () => number,
  announce?: (change: AdminChange) => Promise<void>,
) {
  return {
    table,
    actor,
    now,
    announce,
    nowSeconds: () => Math.floor(now() / 1000),

    async get(Key: Record<string, string>): Promise<Item | undefined> {
      return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true })))
        .Item;
    },

    /** Reads these items, 100 at a time, and leaves missing items out. */
    async getAll(keys: Record<string, string>[]): Promise<Item[]> {
      const items: Item[] = [];
      let rest = keys;
      while (rest.length > 0) {
        const Keys = rest.slice(0, maxPage);
        const command = new BatchGetCommand({
          RequestItems: { [table]: { Keys, ConsistentRead: true } },
        });
        const { Responses, UnprocessedKeys } = await client.send(command);
        items.push(...(Responses?.[table] ?? []));
        const unread = (UnprocessedKeys?.[table]?.Keys ?? []) as typeof Keys;
        rest = [...unread, ...rest.slice(maxPage)];
        if (unread.length > 0) await sleep(100); // throttled: the rest follows
      }
      return items;
    },

    /** Reads all pages, or as many as it takes for `Limit` items. */
    async query(query: Query): Promise<Item[]> {
      // Older versions of the SDK take both from here, and not from the query.
      const { Limit: pageSize, ExclusiveStartKey: startingToken } = query;
      const items: Item[] = [];
      for await (const page of paginateQuery(
        { client, startingToken, pageSize },
        { ...query, ConsistentRead: true },
      )) {
        items.push(...(page.Items ?? []));
        if (items.length >= (pageSize ?? Infinity)) break;
      }
      return items.slice(0, pageSize);
    },

    /**
     * The items that pass `filter`, of the whole table: for an operator, not for the request of a
     * customer.
     */
    async *scan(
      filter: Pick<
        ScanCommandInput,
        'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
      >,
    ): AsyncGenerator<Item> {
      const pages = paginateScan({ client }, { TableName: table, ConsistentRead: true, ...filter });
      for await (const { Items = [] } of pages) yield* Items;
    },

    async put(
      item: Item,
      condition: Partial<Omit<Update, 'TableName' | 'Key' | 'UpdateExpression'>> = {},
    ) {
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
     * Makes all writes or none; a single one is sent by itself, as a transaction would conflict
     * with charges.
     */
    async writeAll(writes: Write[]): Promise<void> {
      const [first] = writes;
      if (writes.length === 1 && first?.Update) await client.send(new UpdateCommand(first.Update));
      else if (first) await client.send(new TransactWriteCommand({ TransactItems: writes }));
    },
  };
}

/** The access item of an account as it is now, or `null`. */
export async function findAccess(store: AdminStore, account: string): Promise<Access | null> {
  const item = await store.get(accessKey(account));
  return item ? readAccess(item) : null;
}

/** The same for a list of accounts, leaving missing accounts out. */
export async function findAccessOf(
  store: AdminStore,
  accounts: readonly string[],
): Promise<Access[]> {
  return (await store.getAll(accounts.map((id) => accessKey(id)))).map(readAccess);
}

/** Like `findAccess`; throws `not_found`. */
export async function getAccess(store: AdminStore, account: string): Promise<Access> {
  const access = await findAccess(store, account);
  if (!access) throw noAccount(account);
  return access;
}

/** Holds as long as no other administrative change came after `access` was read. */
export const isUnchanged = ({ version }: Access): Guard => ({
  attribute: accessItem.version,
  is: '=',
  value: version,
});

/** Holds for an access item that exists. */
export const exists: Guard = { attribute: accessItem.keys, is: 'there' };

/**
 * The update that makes `changes`, provided that no other administrative change came after `access`
 * was read.
 */
export function accessUpdate(
  table: string,
  access: Access,
  changes: Changes,
  guards: Guard[] = [],
): Update {
  const next = { ...changes, set: { ...changes.set, [accessItem.version]: access.version + 1 } };
  return guardedUpdate(table, accessKey(access.account), next, [isUnchanged(access), ...guards]);
}

/**
 * Runs `attempt`, which reads and decides afresh, until its write does not conflict. Finally throws
 * `conflict`.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await retryWithBackoff(attempt, {
      attempts: 30,
      firstPauseMilliseconds: 10,
      longestPauseMilliseconds: 200,
      jitter: 1,
      retryIf: isConflict,
    });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new AdminError('conflict', 'Too many concurrent changes; retry.', { cause: error });
  }
}

/**
 * Partitions with a name in each item, for lists by page and prefix. Each entry is written in the
 * transaction of the account or plan that it names, so a list is exact at once (decision 0104).
 * Account ids and plan codes are never empty and have no `#`.
 */
const partitions = {
  account: 'account#',
  deleted: 'deleted#',
  plan: planRecord.partitionKey(''),
} as const;

/** The write that adds a name to an index, or keeps it there. */
export function addToIndex(
  table: string,
  index: keyof typeof partitions,
  name: string,
  attributes: Item = {},
): Write {
  return { Put: { TableName: table, Item: { ...entryKey(index, name), ...attributes } } };
}

export function removeFromIndex(
  table: string,
  index: keyof typeof partitions,
  name: string,
): Write {
  return { Delete: { TableName: table, Key: entryKey(index, name) } };
}

export const entryKey = (index: keyof typeof partitions, name: string) =>
  itemKey(partitions[index], name);

/**
 * Which page of a list: of the names that begin with `prefix`, `limit` at most, those after
 * `cursor`.
 */
export type PageOptions = {
  prefix?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
};

/** A page of an index; `cursor` starts the next page and is `null` on the last page. */
export type NamePage = { names: string[]; cursor: string | null };

/** The most entries of one page: what DynamoDB reads by key in one call. */
export const maxPage = 100;

/** Reads a page of an index, in the order of its names. */
export async function readNames(
  store: AdminStore,
  index: keyof typeof partitions,
  { prefix = '', limit = maxPage, cursor }: PageOptions,
): Promise<NamePage> {
  // One more than requested shows whether there is another page.
  const entries = await store.query({
    ...entriesQuery(store, index, { prefix, cursor }),
    Limit: limit + 1,
  });
  return pageOfNames(entries, limit);
}

/** The names of the first `limit` entries, with a cursor if there are more. */
export function pageOfNames(entries: readonly Item[], limit: number): NamePage {
  const names = entries.slice(0, limit).map((entry): string => entry[accountsTable.sortKey]);
  return { names, cursor: entries.length > limit ? (names.at(-1) ?? null) : null };
}

/** Reads the entries of an index with a prefix, those after `cursor`. */
export function entriesQuery(
  { table }: { table: string },
  index: keyof typeof partitions,
  { prefix = '', cursor }: Omit<PageOptions, 'limit'>,
) {
  return {
    TableName: table,
    // Used instead of `begins_with`, because some local DynamoDB engines ignore letter case there.
    KeyConditionExpression: '#partition = :partition AND #name BETWEEN :first AND :last',
    ExpressionAttributeNames: {
      '#partition': accountsTable.partitionKey,
      '#name': accountsTable.sortKey,
    },
    ExpressionAttributeValues: {
      ':partition': partitions[index],
      ':first': prefix || '-',
      ':last': `${prefix}~`,
    },
    ...(cursor !== undefined && { ExclusiveStartKey: entryKey(index, cursor) as Item }),
  };
}

/** Every account, read page by page, as it is when its page is read. */
export async function* allAccounts(store: AdminStore): AsyncGenerator<Access> {
  for await (const { names } of pagesOf((at) => readNames(store, 'account', at))) {
    yield* await findAccessOf(store, names);
  }
}

/** @throws AdminError `invalid` */
export function checkPage({ prefix = '', limit = maxPage, cursor }: PageOptions): void {
  if (prefix !== '' && !accountIdPattern.test(prefix)) {
    throw new AdminError(
      'invalid',
      'A prefix is the beginning of a name: letters, digits, ".", "_" or "-", 32 at most.',
    );
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage) {
    throw new AdminError('invalid', `A page has 1 to ${maxPage} entries.`);
  }
  if (cursor !== undefined && !(accountIdPattern.test(cursor) && cursor.startsWith(prefix))) {
    throw new AdminError('invalid', 'The list with this prefix did not return this cursor.');
  }
}
