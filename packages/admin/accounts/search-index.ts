import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { itemKey } from '../../../core/accounts/account-item.ts';
import { guardExpression, type Item, isStill } from '../../../core/dynamodb.ts';
import type { AdminStore, Write } from './admin-store.ts';

/**
 * What accounts are found by, packed: a search for a part of a text has to read the text of every account, which is
 * 20 MB for 100,000 accounts as an item each, and 3 MB as 100 items of zipped lines (decision 0104). Each change of an
 * account, its details or its members changes its lines in the same transaction.
 *
 * | `account` | `item` | holds |
 * |---|---|---|
 * | `search#` | `00` to `99`, by a hash of the account id | `lines`, zipped; `version` |
 */
const partition = 'search#';
const chunks = 100;
const columns = { lines: 'lines', version: 'version' } as const;

/** What an account is found by: its own texts, or one of its members (with an empty `plan`). Tabs separate columns. */
export type SearchLine = { account: string; member: string; plan: string; text: string };

/** In which item an account has its lines. */
export function chunkOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE() % chunks;
}

const chunkKey = (chunk: number) => itemKey(partition, String(chunk).padStart(2, '0'));

/** The item with the lines of a chunk; `version` counts its changes. */
export function chunkItem(chunk: number, lines: readonly SearchLine[], version = 1): Item {
  const stored = lines.map(({ account, member, plan, text }) => [account, member, plan, text].join('\t')).join('\n');
  return { ...chunkKey(chunk), [columns.lines]: gzipSync(stored), [columns.version]: version };
}

/** A text as it is searched: without case and marks, on one line, with single spaces. */
export function folded(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

/** All that a new account is found by. */
export type SearchTexts = { plan: string; texts: readonly string[]; members: readonly string[] };

/** The lines of an account. */
export function searchLines(account: string, { plan, texts, members }: SearchTexts): SearchLine[] {
  return [
    { account, member: '', plan, text: textOf(account, texts) },
    ...members.map((member) => memberLine(account, member)),
  ];
}

/** A control character separates the texts, so that no search finds the end of one and the beginning of the next. */
function textOf(account: string, texts: readonly string[]): string {
  return [account, ...texts].map(folded).join('\u001f');
}

function memberLine(account: string, member: string): SearchLine {
  return { account, member, plan: '', text: folded(member) };
}

/** What becomes of the lines of an account; they are made and deleted with it. */
export type SearchChange =
  | { made: SearchTexts }
  | { plan: string }
  | { texts: readonly string[] }
  | { added: string }
  | { removed: string }
  | 'deleted';

function changed(lines: SearchLine[], account: string, change: SearchChange): SearchLine[] {
  const others = (member: string) => lines.filter((line) => line.account !== account || line.member !== member);
  if (change === 'deleted') return lines.filter((line) => line.account !== account);
  if ('made' in change) return [...lines, ...searchLines(account, change.made)];
  const own = lines.find((line) => line.account === account && line.member === '');
  if (!own) return lines; // deleted meanwhile
  if ('added' in change) return [...others(change.added), memberLine(account, change.added)];
  if ('removed' in change) return others(change.removed);
  return [...others(''), { ...own, ...('plan' in change ? change : { text: textOf(account, change.texts) }) }];
}

/** The write that keeps a changed account found; it conflicts with others of its chunk: use `retryConflicts`. */
export async function searchWrite(store: AdminStore, account: string, change: SearchChange): Promise<Write> {
  const chunk = chunkOf(account);
  const item = await store.get(chunkKey(chunk));
  const version: number | undefined = item?.[columns.version];
  const Item = chunkItem(chunk, changed(linesIn(item), account, change), (version ?? 0) + 1);
  return { Put: { TableName: store.table, Item, ...guardExpression([isStill(columns.version, version)]) } };
}

/** The lines of all accounts, or those that contain a folded text. */
export async function readLines(store: AdminStore, wanted = ''): Promise<SearchLine[]> {
  const keys = Array.from({ length: chunks }, (_, chunk) => chunkKey(chunk));
  const parts = [0, 25, 50, 75].map((first) => store.getAll(keys.slice(first, first + 25)));
  const lines = (await Promise.all(parts)).flat().flatMap((item) => linesIn(item, wanted));
  return lines.filter(({ text }) => text.includes(wanted));
}

function linesIn(item: Item | undefined, wanted = ''): SearchLine[] {
  const packed: Uint8Array | undefined = item?.[columns.lines];
  const lines = packed ? gunzipSync(packed).toString('utf8').split('\n') : [];
  return lines.flatMap((line) => {
    if (line === '' || !line.includes(wanted)) return [];
    const [account = '', member = '', plan = '', text = ''] = line.split('\t');
    return [{ account, member, plan, text }];
  });
}
