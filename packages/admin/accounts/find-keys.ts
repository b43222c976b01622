import {
  findApiKey,
  isValidKey,
  type KeyClaim,
  readApiKey,
} from '../../../core/accounts/api-key.ts';
import { recordKey } from '../../../core/accounts/key-record.ts';
import { mapConcurrently } from '../../../core/concurrency.ts';
import { accountsTable } from '../../../core/tables.ts';
import { AdminError, isAdminError, keyIdPattern } from './admin-error.ts';
import { type AdminStore, findAccess, readNames } from './admin-store.ts';
import { type KeyView, listKeys } from './keys.ts';
import { readSecrets } from './signing-secret.ts';

export type FoundKey = KeyView & { account: string };

/**
 * The keys that a text may be. `given` says how the text was read: exactly a `key` of this
 * deployment, a `mistyped` key with a wrong or missing character, or an `id`, by itself or as the
 * beginning of a key.
 */
export type KeySearch = { given: 'key' | 'mistyped' | 'id'; keys: FoundKey[] };

/** The accounts to search: these, or all by default. */
export type KeySearchOptions = { accounts?: readonly string[] | undefined };

/**
 * Finds the keys that a text may be: a whole key, the beginning of one, or an id. The text is
 * neither kept nor repeated. For an id by itself it reads an item of each account.
 * @throws AdminError `invalid`
 */
export async function findKeys(
  store: AdminStore,
  text: string,
  options: KeySearchOptions = {},
): Promise<KeySearch> {
  const found = findApiKey(text);
  if (!found) return { given: 'id', keys: await keysWithId(store, text.trim(), options.accounts) };
  const { key, claim } = found;
  const { account, keyId } = claim;
  const isInScope = options.accounts?.includes(account) ?? true;
  const keys = isInScope ? await keyOf(store, { account, keyId }) : [];
  if (key.endsWith(`_${keyId}`)) return { given: 'id', keys };
  const isExact = await isIssued(store, key, claim);
  return { given: isExact ? 'key' : 'mistyped', keys };
}

/**
 * Compares with the stored hash, which also fits an earlier checksum secret; a revoked key has only
 * its checksum.
 */
async function isIssued(store: AdminStore, key: string, claim: KeyClaim): Promise<boolean> {
  const stored = (await findAccess(store, claim.account))?.keys[claim.keyId];
  return stored ? isValidKey(stored, claim, 0) : readApiKey(key, await readSecrets(store)) !== null;
}

async function keyOf(
  store: AdminStore,
  { account, keyId }: { account: string; keyId: string },
): Promise<FoundKey[]> {
  const keys = await listKeys(store, account).catch((error: unknown) => {
    if (isAdminError(error) && error.code === 'not_found') return [];
    throw error;
  });
  return keys.filter((key) => key.keyId === keyId).map((key) => ({ ...key, account }));
}

/** More than any service has. */
const mostAccounts = 1_000_000;
const accountsPerRead = 100;
const readsAtOnce = 8;

/**
 * Every key with this id: hardly ever more than one. A key is stored under its account, so this
 * reads one item for each account that there is, unless `among` names some, at a read unit each.
 */
async function keysWithId(
  store: AdminStore,
  keyId: string,
  among?: readonly string[],
): Promise<FoundKey[]> {
  // The message does not repeat the text, which may be most of a key.
  if (!keyIdPattern.test(keyId)) {
    throw new AdminError(
      'invalid',
      'This is no key and no key id. A key is bagadres_, the account, _ and 43 letters and digits; the first 8 of the 43 are its id.',
    );
  }
  const accounts = among
    ? [...new Set(among)]
    : (await readNames(store, 'account', { limit: mostAccounts })).names;
  const parts = Array.from({ length: Math.ceil(accounts.length / accountsPerRead) }, (_, i) =>
    accounts.slice(i * accountsPerRead, (i + 1) * accountsPerRead),
  );
  const records = await mapConcurrently(parts, readsAtOnce, (part) =>
    store.getAll(part.map((account) => recordKey({ account, keyId }))),
  );
  const holders = records.flat().map((record): string => record[accountsTable.partitionKey]);
  return (await Promise.all(holders.map((account) => keyOf(store, { account, keyId })))).flat();
}
