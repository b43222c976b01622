import { itemKey, itemsQuery } from '../../../core/accounts/account-item.ts';
import { instant } from '../../../core/calendar.ts';
import { guardedUpdate, type Item, isStill } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, type Role, roles } from './admin-error.ts';
import { type AdminStore, getAccess, retryConflicts, type Write } from './admin-store.ts';
import { audited } from './audit-log.ts';
import { searchWrite } from './search.ts';

/**
 * Who may sign in to a portal for an account. A person is a verified e-mail address, or `sub:` and
 * the subject that the OpenID provider gives. The record in the account's partition is the valid
 * one; the entry in the person's partition only serves to find the accounts of a person at sign-in,
 * without a scan. One transaction writes both.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | account id | `member#<person>` | role, added |
 * | account id | `members` | how often the members changed |
 * | `person#<person>` | `member#<account id>` | nothing |
 */
export const personPrefix = 'person#';
export const memberPrefix = 'member#';

/** A member of an account; `added` is an ISO 8601 instant of the last change of the role. */
export type MemberView = { person: string; role: Role; added: string };

/** The most members of one account: a page shows them all. */
export const maxMembers = 50;

/** One spelling of an e-mail address that `checkPerson` accepts; subjects are case-sensitive. */
export const normalizedPerson = (person: string): string =>
  person.startsWith('sub:') ? person : person.toLowerCase();

/**
 * Makes a person a member of an account, or gives a member another role. Repeating it is harmless.
 * The number of members and the last administrator are exact, also when members change at the same
 * time: the last administrator keeps that role.
 * @throws AdminError `invalid`, `not_found`, `too_many_members`, `conflict`
 */
export async function addMember(
  store: AdminStore,
  input: { account: string; person: string; role: Role },
): Promise<MemberView> {
  const { account, role } = input;
  const person = normalizedPerson(input.person);
  await getAccess(store, account);
  const added = store.nowSeconds();
  await audited(store, { partition: account, action: 'member add', detail: { person, role } }, () =>
    changeMembers(store, account, (members) => {
      const isMember = members.some((member) => member.person === person);
      if (members.length >= maxMembers && !isMember) {
        throw new AdminError(
          'too_many_members',
          `Account "${account}" has ${maxMembers} members, which is the maximum; remove one first.`,
        );
      }
      if (role !== 'admin') requireOtherAdmin(account, members, person);
      const items = memberItems(account, { person, role, added });
      return {
        writes: items.map((Item) => ({ Put: { TableName: store.table, Item } })),
        people: [...new Set([...members.map((member) => member.person), person])],
      };
    }),
  );
  return { person, role, added: instant(added) };
}

/**
 * Removes a member, but not the last administrator. @throws AdminError `invalid`, `not_found`,
 * `conflict`
 */
export async function removeMember(
  store: AdminStore,
  input: { account: string; person: string },
): Promise<void> {
  const { account, person: given } = input;
  const person = normalizedPerson(given);
  if (!(await store.get(memberKey(account, person)))) {
    throw new AdminError(
      'not_found',
      `Account "${account}" has no member "${given}". The list of its members has the right spelling.`,
    );
  }
  await audited(store, { partition: account, action: 'member remove', detail: { person } }, () =>
    changeMembers(store, account, (members) => {
      requireOtherAdmin(account, members, person);
      const keys = [memberKey(account, person), entryKey(account, person)];
      return {
        writes: keys.map((Key) => ({ Delete: { TableName: store.table, Key } })),
        people: members.flatMap((member) => (member.person === person ? [] : [member.person])),
      };
    }),
  );
}

function requireOtherAdmin(
  account: string,
  members: readonly MemberBackup[],
  person: string,
): void {
  const admins = members.filter(({ role }) => role === 'admin');
  if (admins.length !== 1 || admins[0]?.person !== person) return;
  throw new AdminError(
    'invalid',
    `"${person}" is the last administrator of account "${account}". Make another member administrator first.`,
    { reason: 'last_admin' },
  );
}

/**
 * Counts the changes of an account's members, so that each one is decided from the members that it
 * changes.
 */
const membersVersion = { sortKey: 'members', version: 'version' } as const;

/**
 * Writes what `decide` returns, unless a member has changed since the members that it was given
 * were read.
 */
async function changeMembers(
  store: AdminStore,
  account: string,
  decide: (members: MemberBackup[]) => { writes: Write[]; people: string[] },
): Promise<void> {
  const Key = versionKey(account);
  await retryConflicts(async () => {
    const version: number | undefined = (await store.get(Key))?.[membersVersion.version];
    const members = await membersOf(store, account);
    const changes = { set: { [membersVersion.version]: (version ?? 0) + 1 } };
    const unchanged = [isStill(membersVersion.version, version)];
    const { writes, people } = decide(members);
    await getAccess(store, account); // which a deletion may have removed since
    await store.writeAll([
      { Update: guardedUpdate(store.table, Key, changes, unchanged) },
      ...writes,
      searchWrite(store, account, { members: people }),
    ]);
  });
}

/** A member in a backup; `added` in seconds since 1970. */
export type MemberBackup = { person: string; role: Role; added: number };

export const readMember = (item: Item): MemberBackup => ({
  person: nameIn(item),
  role: item.role,
  added: item.added,
});

/** The items of a member of an account: the record and the entry. */
export function memberItems(account: string, { person, role, added }: MemberBackup): Item[] {
  return [{ ...memberKey(account, person), role, added }, entryKey(account, person)];
}

/** The members of an account, by person. @throws AdminError `invalid`, `not_found` */
export async function listMembers(store: AdminStore, account: string): Promise<MemberView[]> {
  await getAccess(store, account);
  return (await membersOf(store, account)).map(({ added, ...member }) => ({
    ...member,
    added: instant(added),
  }));
}

/** The same, of an account that exists or not, as they are in a backup. */
export async function membersOf(store: AdminStore, account: string): Promise<MemberBackup[]> {
  return (await store.query(membersIn(store.table, account))).map(readMember);
}

/**
 * The highest role that an account gives to any of `people`, the names of one person signing in, or
 * `null`.
 */
export async function roleIn(
  store: AdminStore,
  account: string,
  people: readonly string[],
): Promise<Role | null> {
  const found = await Promise.all(
    people.map((person) => store.get(memberKey(account, normalizedPerson(person)))),
  );
  const given = found.map((item): Role | undefined => item?.role);
  return roles.findLast((role) => given.includes(role)) ?? null;
}

/** The accounts with any of `people`, the names of one person signing in, as a member, by id. */
export async function accountsOf(
  store: AdminStore,
  people: readonly string[],
): Promise<{ account: string; role: Role }[]> {
  const entries = await Promise.all(
    people.map((person) =>
      store.query(membersIn(store.table, `${personPrefix}${normalizedPerson(person)}`)),
    ),
  );
  const accounts = [...new Set(entries.flat().map(nameIn))].sort();
  const roles = await Promise.all(accounts.map((account) => roleIn(store, account, people)));
  return accounts.flatMap((account, i) => {
    const role = roles[i];
    return role ? [{ account, role }] : [];
  });
}

/**
 * The deletion of every member of an account, for when the account itself is deleted. Repeating it
 * is harmless.
 */
export async function removeAllMembers(store: AdminStore, account: string): Promise<void> {
  for (const item of await store.query(membersIn(store.table, account))) {
    await store.delete(entryKey(account, nameIn(item)));
    await store.delete(memberKey(account, nameIn(item)));
  }
  await store.delete(versionKey(account));
}

const versionKey = (account: string) => itemKey(account, membersVersion.sortKey);
const memberKey = (account: string, person: string) => itemKey(account, `${memberPrefix}${person}`);
const entryKey = (account: string, person: string) =>
  itemKey(`${personPrefix}${person}`, `${memberPrefix}${account}`);
const membersIn = (table: string, partition: string) => itemsQuery(table, partition, memberPrefix);

const nameIn = (item: Item): string =>
  String(item[accountsTable.sortKey]).slice(memberPrefix.length);
