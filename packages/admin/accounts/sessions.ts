import { randomBytes } from 'node:crypto';
import { itemKey, itemsQuery } from '../../../core/accounts/account-item.ts';
import { instant } from '../../../core/calendar.ts';
import { type Guard, guardedUpdate, type Item, isStill, wasMade } from '../../../core/dynamodb.ts';
import { pagesOf } from '../../../core/pages.ts';
import { accountsTable } from '../../../core/tables.ts';
import { listMembers, normalizedPerson, personPrefix } from './account-members.ts';
import { AdminError } from './admin-error.ts';
import { type AdminStore, retryConflicts, type Write } from './admin-store.ts';
import { type AuditAction, noted } from './audit-log.ts';

/**
 * The sessions of a portal. A browser holds only an id. The person, the start and the basis of the
 * person's rights are stored here, so that a session can be listed and ended. DynamoDB deletes
 * expired sessions.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | `session#` | id | the session |
 * | `person#<person>` | `session#<id>` | nothing: finds the sessions of a person, under each of their names |
 * | `sign-in#` | `audit#<time>#<random>` | who signed in, was refused, or was signed out by someone |
 */
const sessionPartition = 'session#';
const entryPrefix = 'session#';
export const signInPartition = 'sign-in#';

/** The most sessions of one person at a time; another one ends the oldest. */
export const maxSessions = 10;

/** How long the audit of sign-ins is kept. */
const auditSeconds = 400 * 86_400;

/** The values that a portal keeps with a session, besides the person. */
export type SessionDetails = {
  /**
   * Every identity of the person, the first argument included: the subject and the e-mail address.
   */
  people?: readonly string[] | undefined;
  /** Shown in the list of sessions. */
  name?: string | undefined;
  /** The header `User-Agent`. */
  browser?: string | undefined;
  /** The basis of the person's rights, besides membership. */
  claims?: Readonly<Record<string, string>> | undefined;
};

/** A session as a portal sees it; instants are ISO 8601. */
export type SessionView = {
  id: string;
  person: string;
  people: string[];
  name: string;
  browser: string;
  claims: Record<string, string>;
  started: string;
  /** When the provider last confirmed who this is. */
  confirmed: string;
  /** When it was last used, to the minute. */
  seen: string;
  expires: string;
};

/** Whose sessions: a person's, an account's members', or everybody's. */
export type SessionScope = { person: string } | { account: string } | 'all';

export type SessionPage = { sessions: SessionView[]; cursor: string | null };

/**
 * Starts a session of `seconds` and returns its id. The oldest ones of the person end if there are
 * too many.
 * @throws AdminError `invalid`
 */
export async function startSession(
  store: AdminStore,
  person: string,
  seconds: number,
  details: SessionDetails = {},
): Promise<string> {
  const people = peopleOf(person, details);
  const now = store.nowSeconds();
  const open = (await sessionsOf(store, people)).toSorted((a, b) =>
    a.started < b.started ? 1 : -1,
  );
  for (const { id } of open.slice(maxSessions - 1)) await deleteSession(store, id);
  const id = randomBytes(24).toString('base64url');
  const expires = now + seconds;
  const session = {
    ...sessionKey(id),
    ...attributesOf(person, details),
    started: now,
    seen: now,
    expires,
  };
  const items = [session, ...people.map((person) => ({ ...entryKey(person, id), expires }))];
  await store.writeAll(items.map((Item) => ({ Put: { TableName: store.table, Item } })));
  await note(store, 'session start', { person: normalizedPerson(person), ...emailIn(people) });
  return id;
}

function attributesOf(person: string, details: SessionDetails): Item {
  const { name = person, browser = '', claims = {} } = details;
  return {
    person: normalizedPerson(person),
    people: peopleOf(person, details),
    name: name.slice(0, 100),
    browser: browser.slice(0, 300),
    claims,
  };
}

/** Every identity of a person once, as it is stored. */
function peopleOf(person: string, { people = [] }: SessionDetails): string[] {
  const all = [person, ...people];
  return [...new Set(all.map(normalizedPerson))];
}

function emailIn(people: readonly string[]): { email?: string } {
  const email = people.find((person) => !person.startsWith('sub:'));
  return email === undefined ? {} : { email };
}

/**
 * Records that the provider has just confirmed who has a session, with the claims of now. Returns
 * whether the session is still open and of that person; another person needs a session of their
 * own.
 */
export async function confirmSession(
  store: AdminStore,
  id: string,
  person: string,
  details: SessionDetails = {},
): Promise<boolean> {
  const { people, ...attributes } = attributesOf(person, details);
  if (!isSessionId(id)) return false;
  const set = { ...attributes, confirmed: store.nowSeconds() };
  const guards = [isStill('person', attributes.person), isStill('people', people)];
  return wasMade(store.update(guardedUpdate(store.table, sessionKey(id), { set }, guards)));
}

/** How exact the time is at which a session was last used. */
const seenSeconds = 60;

/**
 * The session with this id, which is recorded as used; `null` if it does not exist, has expired or
 * was ended.
 */
export async function findSession(store: AdminStore, id: string): Promise<SessionView | null> {
  const item = isSessionId(id) ? await store.get(sessionKey(id)) : undefined;
  const now = store.nowSeconds();
  if (!item || item.expires <= now) return null;
  if (item.seen + seenSeconds > now) return readSession(item);
  const isOpen: Guard = { attribute: 'person', is: 'there' };
  const change = guardedUpdate(store.table, sessionKey(id), { set: { seen: now } }, [isOpen]);
  return (await wasMade(store.update(change))) ? readSession({ ...item, seen: now }) : null;
}

/**
 * Ends a session, if it is one of `person`: the next request with it is refused. Repeating it is
 * harmless.
 */
export async function endSession(store: AdminStore, person: string, id: string): Promise<void> {
  const session = await findSession(store, id);
  if (!session?.people.includes(normalizedPerson(person))) return;
  await deleteSession(store, id);
  await note(store, 'session end', { person: session.person, ...emailIn(session.people) });
}

/**
 * Ends every session of a scope, and returns how many there were. @throws AdminError `invalid`,
 * `not_found`
 */
export async function endSessions(store: AdminStore, scope: SessionScope): Promise<number> {
  let ended = 0;
  for await (const { sessions } of pagesOf((at) => listSessions(store, scope, at))) {
    for (const { id } of sessions) await deleteSession(store, id);
    ended += sessions.length;
  }
  await note(store, 'session end-all', { ...(scope === 'all' ? { scope } : scope), ended });
  return ended;
}

/**
 * The open sessions of a scope: all of a person's or an account's at once, or every session by
 * page.
 * @throws AdminError `invalid`, `not_found`
 */
export async function listSessions(
  store: AdminStore,
  scope: SessionScope,
  options: { cursor?: string | undefined } = {},
): Promise<SessionPage> {
  if (scope === 'all') return pageOfSessions(store, options.cursor);
  const people =
    'person' in scope
      ? peopleOf(scope.person, {})
      : (await listMembers(store, scope.account)).map(({ person }) => person);
  const sessions = await sessionsOf(store, people);
  return { sessions: sessions.toSorted((a, b) => (a.seen < b.seen ? 1 : -1)), cursor: null };
}

const pageSize = 100;

async function pageOfSessions(store: AdminStore, cursor: string | undefined): Promise<SessionPage> {
  if (cursor !== undefined && !isSessionId(cursor)) {
    throw new AdminError('invalid', 'The list of sessions did not return this cursor.');
  }
  const items = await store.query({
    TableName: store.table,
    Limit: pageSize + 1,
    KeyConditionExpression: '#account = :partition',
    // DynamoDB deletes some time after the end: a page of ended sessions would be empty.
    FilterExpression: '#expires > :now',
    ExpressionAttributeNames: {
      '#account': accountsTable.partitionKey,
      '#expires': accountsTable.expires,
    },
    ExpressionAttributeValues: { ':partition': sessionPartition, ':now': store.nowSeconds() },
    ...(cursor !== undefined && { ExclusiveStartKey: sessionKey(cursor) as Item }),
  });
  const page = items.slice(0, pageSize);
  return {
    sessions: page.map(readSession),
    cursor: items.length > pageSize ? String(page.at(-1)?.[accountsTable.sortKey]) : null,
  };
}

async function sessionsOf(store: AdminStore, people: readonly string[]): Promise<SessionView[]> {
  const entries = await Promise.all(
    people.map((person) =>
      store.query(itemsQuery(store.table, `${personPrefix}${person}`, entryPrefix)),
    ),
  );
  const ids = [
    ...new Set(
      entries.flat().map((item) => String(item[accountsTable.sortKey]).slice(entryPrefix.length)),
    ),
  ];
  const items = await store.getAll(ids.map(sessionKey));
  const now = store.nowSeconds();
  return items.filter(({ expires }) => expires > now).map(readSession);
}

/** Deletes its entries too, so that the list of a person holds no session that has ended. */
async function deleteSession(store: AdminStore, id: string): Promise<void> {
  await retryConflicts(async () => {
    const item = await store.get(sessionKey(id));
    if (!item) return;
    const keys = [
      sessionKey(id),
      ...readSession(item).people.map((person) => entryKey(person, id)),
    ];
    await store.writeAll(keys.map((Key): Write => ({ Delete: { TableName: store.table, Key } })));
  });
}

/**
 * Records a sign-in that was refused, with the reason and with as much of the identity as the
 * provider gave.
 */
export async function noteRefusal(
  store: AdminStore,
  refusal: { reason: string; identity: string },
): Promise<void> {
  await note(store, 'session refuse', {
    reason: refusal.reason,
    identity: refusal.identity.slice(0, 300),
  });
}

function note(
  store: AdminStore,
  action: AuditAction,
  detail: Record<string, unknown>,
): Promise<void> {
  return noted(
    store,
    { partition: signInPartition, action, detail },
    store.nowSeconds() + auditSeconds,
  );
}

function readSession(item: Item): SessionView {
  return {
    id: item[accountsTable.sortKey],
    person: item.person,
    people: item.people,
    name: item.name,
    browser: item.browser,
    claims: item.claims,
    started: instant(item.started),
    confirmed: instant(item.confirmed ?? item.started),
    seen: instant(item.seen),
    expires: instant(item.expires),
  };
}

const isSessionId = (id: string): boolean => /^[\w-]{16,64}$/.test(id);

const sessionKey = (id: string) => itemKey(sessionPartition, id);
const entryKey = (person: string, id: string) =>
  itemKey(`${personPrefix}${person}`, `${entryPrefix}${id}`);
