import type { Item } from '../dynamodb.ts';
import { accountsTable } from '../tables.ts';
import { planRecord } from './account-item.ts';
import { AdminError } from './admin-error.ts';
import type { AdminStore, Write } from './admin-store.ts';
import { accountIdPattern } from './api-key.ts';

/**
 * Partitions that hold only names, so that accounts and plans can be listed by page and by prefix without reading the
 * whole table. An entry is written and deleted in the same transaction as what it names, so a list is exact as soon as
 * a call has returned (decision 0125). No account id and no plan code has a `#` or is empty.
 */
const partitions = { account: 'account#', deleted: 'deleted#', plan: planRecord.partitionKey('') } as const;

/** The write that adds a name to an index, or keeps it there. */
export function addToIndex(table: string, index: keyof typeof partitions, name: string): Write {
  return { Put: { TableName: table, Item: entryKey(index, name) } };
}

/** The write that takes a name out of an index. */
export function removeFromIndex(table: string, index: keyof typeof partitions, name: string): Write {
  return { Delete: { TableName: table, Key: entryKey(index, name) } };
}

function entryKey(index: keyof typeof partitions, name: string): Record<string, string> {
  return { [accountsTable.partitionKey]: partitions[index], [accountsTable.sortKey]: name };
}

/** Which page of a list: of the names that begin with `prefix`, `limit` at most, those after `cursor`. */
export type PageOptions = {
  prefix?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
};

/** A page of an index; `cursor` is where the next one begins, `null` on the last one. */
export type NamePage = { names: string[]; cursor: string | null };

/** The most entries of one page: what DynamoDB reads by key in one call. */
export const maxPage = 100;

/** Reads a page of an index, in the order of its names. Throws `invalid`. */
export async function listNames(
  store: AdminStore,
  index: keyof typeof partitions,
  { prefix = '', limit = maxPage, cursor }: PageOptions,
): Promise<NamePage> {
  checkPage({ prefix, limit, cursor });
  // One more than requested shows whether there is another page.
  const entries = await store.query({
    TableName: store.table,
    Limit: limit + 1,
    // Rather than `begins_with`, in which some local DynamoDB engines ignore letter case.
    KeyConditionExpression: '#partition = :partition AND #name BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#partition': accountsTable.partitionKey, '#name': accountsTable.sortKey },
    ExpressionAttributeValues: { ':partition': partitions[index], ':first': prefix || '-', ':last': `${prefix}~` },
    ...(cursor !== undefined && { ExclusiveStartKey: entryKey(index, cursor) as Item }),
  });
  const names = entries.slice(0, limit).map((entry): string => entry[accountsTable.sortKey]);
  return { names, cursor: entries.length > limit ? (names.at(-1) ?? null) : null };
}

function checkPage({ prefix, limit, cursor }: { prefix: string; limit: number; cursor: string | undefined }): void {
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
    throw new AdminError('invalid', 'This cursor is not one that the list with this prefix returned.');
  }
}
