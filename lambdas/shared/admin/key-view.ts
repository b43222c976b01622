import { keyRecord } from '../store/access-item.ts';
import { accountsTable } from '../tables.ts';
import type { Access } from './access.ts';
import { instant } from './instant.ts';

/** What is kept of a key beside its hash; instants in seconds. */
export type KeyRecord = { keyId: string; label: string | null; created: number | null; revoked: number | null };

/** A key as an operator or a portal sees it. A key that was never handed out, or half revoked, counts as revoked. */
export type KeyView = {
  keyId: string;
  label: string | null;
  state: 'active' | 'revoked';
  created: string | null;
  revoked: string | null;
};

/** Reads the record of a key. */
export function readKeyRecord(record: Record<string, unknown>): KeyRecord {
  return {
    keyId: String(record[accountsTable.sortKey]).slice(keyRecord.sortKey('').length),
    label: (record[keyRecord.label] as string | undefined) ?? null,
    created: (record[keyRecord.created] as number | undefined) ?? null,
    revoked: (record[keyRecord.revoked] as number | undefined) ?? null,
  };
}

/**
 * The keys of an account, oldest first. Active are those that the access item admits, whatever the records say; one
 * without a record, which only a hand in the table can make, is shown too, so that it can be revoked.
 */
export function viewKeys({ keys }: Pick<Access, 'keys'>, records: KeyRecord[]): KeyView[] {
  const recorded = new Set(records.map(({ keyId }) => keyId));
  const unrecorded = Object.keys(keys).filter((keyId) => !recorded.has(keyId));
  return [...records, ...unrecorded.map((keyId) => ({ keyId, label: null, created: null, revoked: null }))]
    .toSorted((a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.keyId < b.keyId ? -1 : 1))
    .map((record) => viewKey(record, Object.hasOwn(keys, record.keyId)));
}

function viewKey({ keyId, label, created, revoked }: KeyRecord, active: boolean): KeyView {
  return {
    keyId,
    label,
    state: active ? 'active' : 'revoked',
    created: created === null ? null : instant(created),
    revoked: active || revoked === null ? null : instant(revoked),
  };
}
