import { type Guard, guardedUpdate } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, type DetailsChanges, detailFields } from './admin-error.ts';
import {
  type AdminStore,
  entriesQuery,
  entryKey,
  maxPage,
  type NamePage,
  type PageOptions,
  pageOfNames,
  type Write,
} from './admin-store.ts';

/**
 * The searchable text of an account, in its entry of the list of accounts (decision 0104): its
 * plan, its id with its details, and its members. Any change to them changes the entry in the same
 * transaction.
 */
const entry = { plan: 'plan', text: 'text', members: 'members' } as const;

/** A text as it is searched: without case and marks, on one line, with single spaces. */
function folded(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

/**
 * The contents of an account's entry; `account`, `details` and `members` stay as they are if
 * absent.
 */
type Found = {
  plan?: string;
  account?: string;
  details?: DetailsChanges;
  members?: readonly string[];
};

export function searchAttributes({
  plan,
  account,
  details,
  members,
}: Found): Record<string, string> {
  return {
    ...(plan !== undefined && { [entry.plan]: plan }),
    ...(details && {
      [entry.text]: [account ?? '', ...detailFields.map((field) => details[field] ?? '')]
        .map(folded)
        .join(' '),
    }),
    ...(members && { [entry.members]: members.map(folded).join(' ') }),
  };
}

/** The write that keeps a changed account found. It conflicts with the deletion of the account. */
export function searchWrite({ table }: AdminStore, account: string, changed: Found): Write {
  const set = searchAttributes({ ...changed, account });
  const isThere: Guard = { attribute: accountsTable.sortKey, is: 'there' };
  return { Update: guardedUpdate(table, entryKey('account', account), { set }, [isThere]) };
}

const maxSearch = 200;

/**
 * The page of the accounts in whose id, name, contact, note or members each word of `text` is
 * found, in any case.
 */
export async function findAccounts(
  store: AdminStore,
  text: string,
  { prefix = '', limit = maxPage, cursor }: PageOptions,
): Promise<NamePage> {
  const wanted = text.length <= maxSearch ? folded(text) : '';
  if (wanted === '') {
    throw new AdminError('invalid', `A search is a text of 1 to ${maxSearch} characters.`);
  }
  const words = [...new Set(wanted.split(' '))];
  const query = entriesQuery(store, 'account', { prefix, cursor });
  const found = await store.query({
    ...query,
    FilterExpression: words
      .map((_, i) => `(contains(#text, :${i}) OR contains(#members, :${i}))`)
      .join(' AND '),
    ExpressionAttributeNames: {
      ...query.ExpressionAttributeNames,
      '#text': entry.text,
      '#members': entry.members,
    },
    ExpressionAttributeValues: {
      ...query.ExpressionAttributeValues,
      ...Object.fromEntries(words.map((word, i) => [`:${i}`, word])),
    },
  });
  return pageOfNames(found, limit);
}

export async function countByPlan(store: AdminStore): Promise<Record<string, number>> {
  const query = entriesQuery(store, 'account', {});
  const entries = await store.query({
    ...query,
    ProjectionExpression: '#plan',
    ExpressionAttributeNames: { ...query.ExpressionAttributeNames, '#plan': entry.plan },
  });
  const counts: Record<string, number> = {};
  for (const { [entry.plan]: plan } of entries) if (plan) counts[plan] = (counts[plan] ?? 0) + 1;
  return counts;
}
