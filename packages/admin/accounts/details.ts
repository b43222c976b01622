import { itemKey } from '../../../core/accounts/account-item.ts';
import { guardedUpdate, type Item, isStill } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import { type DetailsChanges, detailFields as fields } from './admin-error.ts';
import { type AdminStore, getAccess, type Write } from './admin-store.ts';
import { searchWrite } from './search.ts';

/**
 * An operator's notes about an account, in an item of their own: `account` is its id, `item` is
 * `details`. Requests don't read it, and the access item has no room for it. An account without
 * details has no such item.
 */
export type AccountDetails = {
  /** The customer, as a person calls it. */
  name: string | null;
  /** Whom to reach, in any form: personal data. */
  contact: string | null;
  /** Only operators see it. */
  note: string | null;
};

export const detailsItem = 'details';

const detailsKey = (account: string) => itemKey(account, detailsItem);

export function readDetails(item: Item | undefined): AccountDetails {
  return { name: item?.name ?? null, contact: item?.contact ?? null, note: item?.note ?? null };
}

/** Those of an account about which nothing is written. */
export const noDetails = readDetails(undefined);

/** The details of an account; all `null` if the account does not exist. */
export async function detailsOf(store: AdminStore, account: string): Promise<AccountDetails> {
  return readDetails(await store.get(detailsKey(account)));
}

/** The same of up to 100 accounts, by id; those without are left out. */
export async function detailsOfAll(
  store: AdminStore,
  accounts: readonly string[],
): Promise<Map<string, AccountDetails>> {
  const items = await store.getAll(accounts.map(detailsKey));
  return new Map(items.map((item) => [item[accountsTable.partitionKey], readDetails(item)]));
}

/** What `changes` would change, for the audit: `{ name: { before, after } }`. */
export function detailsDifference(before: AccountDetails, changes: DetailsChanges) {
  const changed = fields.filter(
    (field) => changes[field] !== undefined && changes[field] !== before[field],
  );
  return Object.fromEntries(
    changed.map((field) => [
      field,
      { before: before[field], after: changes[field] as string | null },
    ]),
  );
}

export function withDetails(before: AccountDetails, changes: DetailsChanges): AccountDetails {
  const after = { ...before };
  for (const field of fields) {
    after[field] = changes[field] === undefined ? before[field] : changes[field];
  }
  return after;
}

/**
 * The writes, for one transaction, that change details from `before` and update the account's
 * search entry.
 */
export async function detailsWrites(
  store: AdminStore,
  account: string,
  before: AccountDetails,
  changes: DetailsChanges,
): Promise<Write[]> {
  const after = withDetails(before, changes);
  const guards = fields.map((field) => isStill(field, before[field] ?? undefined));
  const set = Object.fromEntries(
    fields.flatMap((field) => (after[field] === null ? [] : [[field, after[field]]])),
  );
  const remove = fields.filter((field) => after[field] === null);
  await getAccess(store, account); // which a deletion may have removed since
  const search = searchWrite(store, account, { details: after });
  return [
    { Update: guardedUpdate(store.table, detailsKey(account), { set, remove }, guards) },
    search,
  ];
}

/** The item of a new account; none if it has no details. */
export function detailsPut(store: AdminStore, account: string, details: DetailsChanges): Write[] {
  const given = fields.flatMap((field) =>
    details[field] ? [[field, details[field]] as const] : [],
  );
  if (given.length === 0) return [];
  return [
    {
      Put: {
        TableName: store.table,
        Item: { ...detailsKey(account), ...Object.fromEntries(given) },
      },
    },
  ];
}

export function detailsDeletion(store: AdminStore, account: string): Write {
  return { Delete: { TableName: store.table, Key: detailsKey(account) } };
}
