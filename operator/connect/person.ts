import { createHash } from 'node:crypto';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { AdminError } from '../../core/accounts/admin/admin-error.ts';
import {
  type AccountDetails,
  type DetailsChanges,
  detailsItem,
  readDetails,
} from '../../core/accounts/admin/details.ts';
import { memberPrefix, normalizedPerson, personPrefix } from '../../core/accounts/admin/members.ts';
import { accountsTable } from '../../core/names.ts';
import type { Admin } from '../../packages/admin/admin.ts';

type StoredItem = Record<string, unknown>;

/**
 * What an item about a person is. `membership`: may sign in for an account. `details`: the name, contact and note of
 * one. `session`: is or was signed in. `audit`: made a change, or was the subject of one. `other`: a text that somebody
 * typed, such as the label of a key.
 */
export type PersonalKind = 'membership' | 'details' | 'session' | 'audit' | 'other';

/** An item of the accounts table that names a person. */
export type PersonalItem = { kind: PersonalKind; item: StoredItem };

const { partitionKey, sortKey } = accountsTable;

/** Everything in the accounts table that names an e-mail address, in any letter case. Reads the whole table. */
export async function personalData(
  client: DynamoDBDocumentClient,
  table: string,
  email: string,
): Promise<PersonalItem[]> {
  const wanted = normalizedPerson(email).toLowerCase();
  const found: PersonalItem[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    for (const item of Items) {
      if (JSON.stringify(item).toLowerCase().includes(wanted) && names(item, wanted))
        found.push({ kind: kindOf(item), item });
    }
  }
  return found;
}

/** Whether a text of the item is the address, or has it as a whole word: `ann@x.nl` is not in `joann@x.nl`. */
function names(value: unknown, email: string): boolean {
  if (typeof value === 'string') return wordIn(email).test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => names(name, email) || names(member, email));
}

function wordIn(email: string): RegExp {
  const escaped = email.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.+-])${escaped}(?![\\w-]|\\.\\w)`, 'gi');
}

function kindOf(item: StoredItem): PersonalKind {
  const [partition, sort] = [String(item[partitionKey]), String(item[sortKey])];
  if (sort.startsWith('audit#')) return 'audit';
  if (sort.startsWith(memberPrefix)) return 'membership';
  if (sort === detailsItem) return 'details';
  if (partition === 'session#' || partition.startsWith(personPrefix)) return 'session';
  return 'other';
}

/**
 * The name that takes the place of an erased person in the audit: the same for the same person, and without the
 * address.
 */
export function pseudonymOf(email: string): string {
  return `erased-${createHash('sha256').update(normalizedPerson(email).toLowerCase()).digest('hex').slice(0, 8)}`;
}

/** What was erased, and what needs a person's decision. */
export type Erasure = { memberships: number; details: number; sessions: number; audit: number; left: string[] };

/**
 * Removes the memberships and sessions of a person, and their address from the details of accounts and from the audit,
 * which keeps what was changed and when. An account's last administrator stays until it has another one. Repeating it
 * completes what was interrupted.
 */
export async function erasePerson(
  admin: Admin,
  client: DynamoDBDocumentClient,
  table: string,
  email: string,
): Promise<Erasure> {
  const person = normalizedPerson(email).toLowerCase();
  const erasure: Erasure = { memberships: 0, details: 0, sessions: 0, audit: 0, left: [] };
  for (const { account } of await admin.members.accountsOf([person])) {
    try {
      await admin.members.remove({ account, person });
      erasure.memberships++;
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      erasure.left.push(`member of account "${account}": ${error.message}`);
    }
  }
  for (const { kind, item } of await personalData(client, table, person)) {
    if (kind !== 'details') continue;
    // Before the audit, which then has the address once more, as what was there before.
    await admin.accounts.set({ id: String(item[partitionKey]), ...detailsWithout(readDetails(item), person) });
    erasure.details++;
  }
  for (const { kind, item } of await personalData(client, table, person)) {
    const Key = { [partitionKey]: item[partitionKey], [sortKey]: item[sortKey] };
    if (kind === 'session') {
      await client.send(new DeleteCommand({ TableName: table, Key }));
      erasure.sessions++;
    } else if (kind === 'audit') {
      await client.send(new PutCommand({ TableName: table, Item: withoutPerson(item, person) as StoredItem }));
      erasure.audit++;
    } else if (kind === 'other') {
      erasure.left.push(
        `${item[partitionKey]} ${item[sortKey]}: a text that somebody typed; change or revoke it yourself`,
      );
    }
  }
  return erasure;
}

/** A contact that is the address and nothing else goes. */
function detailsWithout({ name, contact, note }: AccountDetails, email: string): DetailsChanges {
  const without = (text: string | null) =>
    text === null || text.toLowerCase() === email ? null : text.replace(wordIn(email), pseudonymOf(email));
  return { name: without(name), contact: without(contact), note: without(note) };
}

function withoutPerson(value: unknown, email: string): unknown {
  if (typeof value === 'string') return value.replace(wordIn(email), pseudonymOf(email));
  if (Array.isArray(value)) return value.map((each) => withoutPerson(each, email));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutPerson(member, email)]));
}
