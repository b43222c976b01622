import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Guard, guardedUpdate, type Item, isConflict } from '../../dynamodb.ts';
import { accountsTable } from '../../names.ts';
import type { AdminStore, Write } from './admin-store.ts';

/**
 * What accounts are found by, packed: a search for a part of a text has to read the text of every account, which is
 * 20 MB for 100,000 accounts as an item each, and 3 MB as 100 items of zipped lines (decision 0172). Each change of an
 * account, its details or its members changes its lines in the same transaction.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | `search#` | `00` to `99`, by a hash of the account id | `lines`, zipped; `version` |
 * | `search#` | `complete` | `version` 1: every account of an earlier version has its lines; else `looked` and `after` |
 *
 * A line is the account, a member or nothing, the plan or nothing, and the folded text, with tabs in between.
 */
const partition = 'search#';
const chunks = 100;
const columns = { lines: 'lines', version: 'version' } as const;

const completeKey = { [accountsTable.partitionKey]: partition, [accountsTable.sortKey]: 'complete' };

/** How many accounts were looked at for lines, the last of them, and whether all were. */
type Completion = { looked: number; after: string; done: boolean };

export async function readCompletion(store: AdminStore): Promise<Completion> {
  const { looked = 0, after = '-', version } = (await store.get(completeKey)) ?? {};
  return { looked, after, done: version !== undefined };
}

/** Of several at once the last one counts, but what is done stays done. */
export async function writeCompletion(store: AdminStore, completion: Completion): Promise<void> {
  const { done, ...item } = completion;
  const isOpen = { ConditionExpression: 'attribute_not_exists(version)' };
  const written = store.put({ ...completeKey, ...item, ...(done && { version: 1 }) }, done ? {} : isOpen);
  await written.catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
}

/** The lines of a chunk: by account and member, the plan and the text. */
type Lines = Map<string, string>;

const lineName = (account: string, member = '') => `${account}\t${member}`;

export const chunkOf = (account: string) => createHash('sha256').update(account).digest().readUInt32BE() % chunks;

function chunkKey(chunk: number): Record<string, string> {
  return { [accountsTable.partitionKey]: partition, [accountsTable.sortKey]: String(chunk).padStart(2, '0') };
}

/** A text as it is searched: without case and marks, on one line, with single spaces. */
export function folded(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

/**
 * What becomes of the lines of an account: they are made, its plan or its texts or its members change, or they go. Only
 * `made` changes the entries of an account that has none: they are made as a whole, when the search is completed.
 */
export type SearchChange =
  | { made: { plan: string; texts: readonly string[]; members: readonly string[] } | null }
  | { plan: string }
  | { texts: readonly string[] }
  | { added: string }
  | { removed: string };

function applyChange(lines: Lines, account: string, change: SearchChange): void {
  const own = lines.get(lineName(account));
  const [plan, text] = own?.split('\t') ?? [];
  const textOf = (texts: readonly string[]) => [account, ...texts].map(folded).join('\u001f');
  if ('made' in change) {
    for (const name of lines.keys()) if (name.startsWith(lineName(account))) lines.delete(name);
    if (change.made) lines.set(lineName(account), `${change.made.plan}\t${textOf(change.made.texts)}`);
    for (const member of change.made?.members ?? []) lines.set(lineName(account, member), `\t${folded(member)}`);
  } else if (own === undefined) return;
  else if ('plan' in change) lines.set(lineName(account), `${change.plan}\t${text}`);
  else if ('texts' in change) lines.set(lineName(account), `${plan}\t${textOf(change.texts)}`);
  else if ('added' in change) lines.set(lineName(account, change.added), `\t${folded(change.added)}`);
  else lines.delete(lineName(account, change.removed));
}

/**
 * The write, for the transaction of a change of an account, that keeps the account found by what it is then. It
 * conflicts with another change of the same chunk, so the change runs within `retryConflicts`.
 */
export async function searchWrite(store: AdminStore, account: string, change: SearchChange): Promise<Write> {
  return chunkWrite(store, chunkOf(account), async () => new Map([[account, change]]));
}

/**
 * The write of a chunk; what `changes` reads is newer than the chunk, so that the write conflicts with later changes.
 */
export async function chunkWrite(
  store: AdminStore,
  chunk: number,
  changes: () => Promise<ReadonlyMap<string, SearchChange>>,
): Promise<Write> {
  const Key = chunkKey(chunk);
  const item = await store.get(Key);
  const lines = linesOf(textOf(item));
  for (const [account, change] of await changes()) applyChange(lines, account, change);
  const version: number | undefined = item?.[columns.version];
  const unchanged: Guard =
    version === undefined
      ? { attribute: columns.version, is: 'absent' }
      : { attribute: columns.version, is: '=', value: version };
  const packed = gzipSync(Array.from(lines, (line) => line.join('\t')).join('\n'));
  const set = { [columns.lines]: packed, [columns.version]: (version ?? 0) + 1 };
  return { Update: guardedUpdate(store.table, Key, { set, remove: [] }, [unchanged]) };
}

/** The lines of all chunks, a text each. */
export async function readChunks(store: AdminStore): Promise<string[]> {
  const keys = Array.from({ length: chunks }, (_, chunk) => chunkKey(chunk));
  const parts = [0, 25, 50, 75].map((first) => store.getAll(keys.slice(first, first + 25)));
  return (await Promise.all(parts)).flat().map(textOf);
}

function textOf(item: Item | undefined): string {
  const packed: Uint8Array | undefined = item?.[columns.lines];
  return packed ? gunzipSync(packed).toString('utf8') : '';
}

function linesOf(text: string): Lines {
  return new Map(
    text.split('\n').flatMap((line) => {
      const end = line.indexOf('\t', line.indexOf('\t') + 1);
      return end === -1 ? [] : [[line.slice(0, end), line.slice(end + 1)]];
    }),
  );
}

/** Calls `each` with every account that has lines, and its plan: without a list, of which there may be 100,000. */
export function eachPlan(text: string, each: (account: string, plan: string) => void): void {
  for (let start = 0; start < text.length; ) {
    const member = text.indexOf('\t', start) + 1;
    // The line of a member has none.
    if (text[member] === '\t') {
      const end = text.indexOf('\t', member + 1);
      each(text.slice(start, member - 1), text.slice(member + 1, end));
    }
    start = text.indexOf('\n', member) + 1 || text.length;
  }
}

/** Calls `each` with the accounts with a line whose text contains `wanted`, which is folded; maybe more than once. */
export function eachAccountWith(text: string, wanted: string, each: (account: string) => void): void {
  for (let at = text.indexOf(wanted); at !== -1; ) {
    const start = text.lastIndexOf('\n', at) + 1;
    const member = text.indexOf('\t', start) + 1;
    const found = text.indexOf('\t', text.indexOf('\t', member) + 1) + 1;
    if (at >= found) each(text.slice(start, member - 1));
    // Before the text of its line: that may contain it too.
    const end = at >= found ? text.indexOf('\n', at) : found;
    at = end === -1 ? -1 : text.indexOf(wanted, end);
  }
}
