import { randomBytes } from 'node:crypto';
import { accountsTable } from '../tables.ts';
import { checkPerson } from './admin-error.ts';
import type { AdminStore } from './admin-store.ts';
import { personPrefix } from './members.ts';

/**
 * The sessions of a portal, in the partition of the person: `session#<id>`. A sealed cookie alone would work until it
 * expires, also after its owner has signed out; a session that is not here has ended, whoever kept a copy of its cookie.
 */
const sessionPrefix = 'session#';

/** The most sessions of one person at a time; another one ends the oldest. */
export const maxSessions = 10;

/** Starts a session of `seconds` and returns its id. Sessions that have expired are removed. Throws `invalid`. */
export async function startSession(store: AdminStore, person: string, seconds: number): Promise<string> {
  checkPerson(person);
  const now = store.nowSeconds();
  const open = await sessionsOf(store, person);
  const [expired, live] = [open.filter(({ expires }) => expires <= now), open.filter(({ expires }) => expires > now)];
  const oldest = live.toSorted((a, b) => b.expires - a.expires).slice(maxSessions - 1);
  for (const { id } of [...expired, ...oldest]) await endSession(store, person, id);
  const id = randomBytes(16).toString('base64url');
  await store.put({ ...sessionKey(person, id), expires: now + seconds });
  return id;
}

/** Whether a session was started, has not expired and has not been ended. */
export async function isSessionOpen(store: AdminStore, person: string, id: string): Promise<boolean> {
  const item = await store.get(sessionKey(person, id));
  return item !== undefined && item.expires > store.nowSeconds();
}

/** Ends a session: the next request with it is refused. Repeating it is harmless. */
export async function endSession(store: AdminStore, person: string, id: string): Promise<void> {
  await store.delete(sessionKey(person, id));
}

async function sessionsOf(store: AdminStore, person: string): Promise<{ id: string; expires: number }[]> {
  const items = await store.query({
    TableName: store.table,
    KeyConditionExpression: '#account = :person AND begins_with(#item, :session)',
    ExpressionAttributeNames: { '#account': accountsTable.partitionKey, '#item': accountsTable.sortKey },
    ExpressionAttributeValues: { ':person': `${personPrefix}${person}`, ':session': sessionPrefix },
  });
  return items.map((item) => ({
    id: String(item[accountsTable.sortKey]).slice(sessionPrefix.length),
    expires: item.expires,
  }));
}

function sessionKey(person: string, id: string): Record<string, string> {
  return {
    [accountsTable.partitionKey]: `${personPrefix}${person}`,
    [accountsTable.sortKey]: `${sessionPrefix}${id}`,
  };
}
