import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DeleteCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { itemKey } from '../../core/accounts/account-item.ts';
import { keyRecord } from '../../core/accounts/key-record.ts';
import { instant } from '../../core/calendar.ts';
import { type Guard, guardedUpdate, wasMade } from '../../core/dynamodb.ts';
import { accountsTable } from '../../core/tables.ts';
import {
  memberPrefix,
  normalizedPerson,
  personPrefix,
} from '../../packages/admin/accounts/account-members.ts';
import {
  AdminError,
  detailFields,
  longestDetails,
  maxLabelLength,
} from '../../packages/admin/accounts/admin-error.ts';
import { entryKey } from '../../packages/admin/accounts/admin-store.ts';
import {
  type AccountDetails,
  detailsItem,
  readDetails,
} from '../../packages/admin/accounts/details.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import type { AccountsAt } from './find-tables.ts';

type StoredItem = Record<string, unknown>;

/**
 * The kinds of items about a person. `membership`: may sign in for an account. `details`: an
 * account's name, contact and note. `session`: is or was signed in. `key`: made a key, or is named
 * by its label. `audit`: made a change, or was the subject of one. `other`: decided about a load,
 * or is making a change.
 */
export type PersonalKind = 'membership' | 'details' | 'session' | 'key' | 'audit' | 'other';

export type PersonalItem = { kind: PersonalKind; item: StoredItem };

const { partitionKey, sortKey } = accountsTable;
const keyOf = (item: StoredItem) => itemKey(String(item[partitionKey]), String(item[sortKey]));

/** The list of accounts repeats what memberships and details have, and changes with them. */
const listed = entryKey('account', '')[partitionKey];

/**
 * Everything in the accounts table that names an e-mail address, in any letter case, or a subject
 * that signed in with it. Reads the whole table twice.
 */
export async function personalData(at: AccountsAt, email: string): Promise<PersonalItem[]> {
  return itemsOf(at, await identitiesOf(at, email));
}

/** Items that name one of `people`: an e-mail address, or a subject. */
async function itemsOf(
  { client, table }: AccountsAt,
  people: readonly string[],
): Promise<PersonalItem[]> {
  const wanted = people.map((identity) => identity.toLowerCase());
  const found: PersonalItem[] = [];
  for await (const { Items = [] } of paginateScan(
    { client },
    { TableName: table, ConsistentRead: true },
  )) {
    for (const item of Items) {
      if (item[partitionKey] === listed) continue;
      const text = JSON.stringify(item).toLowerCase();
      if (
        wanted.some((identity) => text.includes(identity)) &&
        people.some((identity) => names(item, identity))
      ) {
        found.push({ kind: kindOf(item), item });
      }
    }
  }
  return found;
}

/**
 * The address, and each subject that signed in with it as the verified address: `sub:` and the
 * provider's subject.
 */
export async function identitiesOf(at: AccountsAt, email: string): Promise<string[]> {
  const person = normalizedPerson(email).toLowerCase();
  const subjects = (await itemsOf(at, [person])).flatMap(({ item }) => {
    const { people = [], detail } = item as {
      people?: string[];
      detail?: { person?: string; email?: string };
    };
    if (people.includes(person)) return people;
    return detail?.email === person && detail.person ? [detail.person] : [];
  });
  return [...new Set([person, ...subjects.filter((subject) => subject.startsWith('sub:'))])];
}

/**
 * Whether a text of the item is the person, or has it as a whole word: `ann@x.nl` is not in
 * `joann@x.nl`.
 */
function names(value: unknown, person: string): boolean {
  if (typeof value === 'string') return wordIn(person).test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => names(name, person) || names(member, person),
  );
}

/** Letter case matters in a subject, but not in an address. */
function wordIn(person: string): RegExp {
  const escaped = person.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(
    `(?<![\\w.+-])${escaped}(?![\\w-]|\\.\\w)`,
    person.startsWith('sub:') ? 'g' : 'gi',
  );
}

function kindOf(item: StoredItem): PersonalKind {
  const partition = String(item[partitionKey]);
  const sort = String(item[sortKey]);
  if (sort.startsWith('audit#')) return 'audit';
  if (sort.startsWith(memberPrefix)) return 'membership';
  if (sort.startsWith(keyRecord.sortKey(''))) return 'key';
  if (sort === detailsItem) return 'details';
  if (partition === 'session#' || partition.startsWith(personPrefix)) return 'session';
  return 'other';
}

/**
 * The same without secrets and their derivatives, which are nobody's data: ids of sessions,
 * fingerprints, attempts.
 */
export function withoutSecrets({ kind, item }: PersonalItem): PersonalItem {
  const { [keyRecord.secret]: _secret, [keyRecord.attempt]: _attempt, ...shown } = item;
  return { kind, item: kind === 'session' ? { ...shown, [sortKey]: 'session' } : shown };
}

/**
 * The name that takes the place of an erased person: the same for the same person, and without the
 * address. Only who has the secret of the deployment can compute it from an address, so that nobody
 * else can guess whose it is.
 */
export function pseudonymOf(email: string, secret: string): string {
  const person = normalizedPerson(email).toLowerCase();
  return `erased-${createHmac('sha256', secret).update(`person ${person}`).digest('hex').slice(0, 32)}`;
}

/** A place where an address stays, and until when. */
export type Remainder = { what: string; until: string };

/**
 * The number of items of each kind with the person erased, and the places that still have the
 * address.
 */
export type Erasure = Record<PersonalKind, number> & { left: Remainder[] };

/** The tools of an erasure; `secret` keys the pseudonym. */
export type ErasureTools = AccountsAt & { admin: Admin; secret: string };

/**
 * Removes the memberships and sessions of a person, and puts a pseudonym in the place of their
 * address everywhere else: in the details of accounts, in the records of keys, also revoked ones,
 * and in the audit, which keeps each change and its time. An account's last administrator stays
 * until it has another one. Repeating it completes an interrupted erasure; the remaining places are
 * `left`.
 */
export async function erasePerson(
  { admin, secret, ...at }: ErasureTools,
  email: string,
): Promise<Erasure> {
  const person = normalizedPerson(email).toLowerCase();
  const people = await identitiesOf(at, person);
  const pseudonym = pseudonymOf(person, secret);
  const withoutPerson = (text: string) =>
    people.reduce((rest, identity) => rest.replace(wordIn(identity), pseudonym), text);
  const erasure: Erasure = {
    membership: 0,
    details: 0,
    session: 0,
    key: 0,
    audit: 0,
    other: 0,
    left: [],
  };
  for (const { account } of await admin.members.accountsOf(people)) {
    for (const identity of people) {
      const isMember = (await admin.members.list(account)).some(
        (member) => member.person === identity,
      );
      if (isMember && (await removedMember(admin, account, identity))) erasure.membership++;
    }
  }
  // Before the audit, because this change adds the address there once more, as the previous value.
  const before = await itemsOf(at, people);
  if (before.some(({ kind }) => kind === 'session')) {
    for (const identity of people) await admin.sessions.endAll({ person: identity });
  }
  for (const { kind, item } of before) {
    if (kind === 'session') erasure.session++;
    if (kind !== 'details') continue;
    const id = String(item[partitionKey]);
    await admin.accounts.set({ id, ...detailsWithout(item, person, withoutPerson) });
    erasure.details++;
  }
  for (const { kind, item } of await itemsOf(at, people)) {
    if (kind === 'membership') continue;
    // The last ones have expired, and wait for DynamoDB to delete them.
    if (kind === 'session') {
      await at.client.send(new DeleteCommand({ TableName: at.table, Key: keyOf(item) }));
    } else if (await replaced(at, item, withoutPerson)) erasure[kind]++;
  }
  return {
    ...erasure,
    left: (await itemsOf(at, people)).flatMap((found) => remainder(found) ?? []),
  };
}

/** The places where a person's address would stay: an account keeps its last administrator. */
export async function unerasable(admin: Admin, people: readonly string[]): Promise<Remainder[]> {
  const left: Remainder[] = [];
  for (const { account, role } of await admin.members.accountsOf(people)) {
    const admins = (await admin.members.list(account)).filter((member) => member.role === 'admin');
    if (role === 'admin' && admins.length === 1) left.push(lastAdmin(account));
  }
  return left;
}

/** Whether a member was removed: the last administrator stays. */
async function removedMember(admin: Admin, account: string, person: string): Promise<boolean> {
  const removal = admin.members.remove({ account, person }).then(() => true);
  return removal.catch((error) => {
    if (error instanceof AdminError && error.reason === 'last_admin') return false;
    throw error;
  });
}

function lastAdmin(account: string): Remainder {
  const until =
    'until it has another administrator and this is repeated, or the account is deleted';
  return { what: `the last administrator of account "${account}"`, until };
}

/**
 * An item that still names a person; the entry of a member, which is removed with the member, is
 * not told.
 */
function remainder({ kind, item }: PersonalItem): Remainder | undefined {
  const partition = String(item[partitionKey]);
  const sort = String(item[sortKey]);
  const expires = item[accountsTable.expires];
  if (kind === 'membership') {
    return partition.startsWith(personPrefix) ? undefined : lastAdmin(partition);
  }
  const name = kind === 'session' ? 'a session' : `${partition} ${sort}`;
  const until = typeof expires === 'number' ? `, or until ${instant(expires)}` : '';
  return { what: `${name}, written meanwhile`, until: `until this is repeated${until}` };
}

/** A contact that is the address and nothing else goes. */
function detailsWithout(item: StoredItem, email: string, withoutPerson: (text: string) => string) {
  const details = readDetails(item);
  const changes: Partial<AccountDetails> = {};
  for (const field of detailFields) {
    const text = details[field];
    const isAlone = text === null || text.toLowerCase() === email;
    changes[field] = isAlone ? null : firstOf(withoutPerson(text), longestDetails[field]);
  }
  return changes;
}

const firstOf = (text: string, length: number) => [...text].slice(0, length).join('');

/** Applies `replace` to the texts of an item; `false` if the item was changed meanwhile. */
async function replaced(
  { client, table }: AccountsAt,
  item: StoredItem,
  replace: (text: string) => string,
) {
  const set = Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => {
      const next = withTexts(value, replace);
      if (isDeepStrictEqual(next, value)) return [];
      return [[name, name === keyRecord.label ? firstOf(String(next), maxLabelLength) : next]];
    }),
  );
  const unchanged = Object.keys(set).map(
    (attribute): Guard => ({ attribute, is: '=', value: item[attribute] }),
  );
  if (unchanged.length === 0) return false;
  return wasMade(
    client.send(new UpdateCommand(guardedUpdate(table, keyOf(item), { set }, unchanged))),
  );
}

function withTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((each) => withTexts(each, replace));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [replace(name), withTexts(member, replace)]),
  );
}
