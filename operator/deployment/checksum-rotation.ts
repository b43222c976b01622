import { setTimeout as sleep } from 'node:timers/promises';
import { secretFingerprint } from '../../core/accounts/api-key.ts';
import {
  checksumSecret,
  newChecksumSecret,
  settlesAfterMilliseconds,
} from '../../core/accounts/checksum-secret.ts';
import { type Changes, guardedUpdate, isStill } from '../../core/dynamodb.ts';
import { type AdminStore, retryConflicts } from '../../packages/admin/accounts/admin-store.ts';
import { audited } from '../../packages/admin/accounts/audit-log.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import { CommandError } from './errors.ts';
import { servicePartition } from './operator-audit.ts';

/** An active key that a rotation asks to replace. */
type OldKey = { account: string; keyId: string; label: string | null; created: string | null };

/**
 * The next step of a rotation. `start` also continues an interrupted rotation. `replace`: both
 * secrets are accepted, and these keys are signed with the old one. `end`: no such key is left.
 */
export type RotationStep = { step: 'start' | 'end' } | { step: 'replace'; keys: OldKey[] };

export function checksumRotation(store: AdminStore, admin: Admin) {
  const read = async () => (await store.get(checksumSecret.key)) ?? {};
  const update = (changes: Changes, seen: Record<string, string | undefined>) => {
    const guards = Object.entries(seen).map(([name, value]) => isStill(name, value));
    return store.update(guardedUpdate(store.table, checksumSecret.key, changes, guards));
  };

  return {
    /** @throws CommandError if no key was created yet */
    async step(): Promise<RotationStep> {
      const { current, next, previous } = await read();
      if (current === undefined) {
        throw new CommandError(
          'no_secret',
          'There is no checksum secret yet: the first key creates it.',
        );
      }
      if (next !== undefined || previous === undefined) return { step: 'start' };
      const keys = await keysNotOf(admin, secretFingerprint(current));
      return keys.length > 0 ? { step: 'replace', keys } : { step: 'end' };
    },

    /** Adds a secret, waits until every instance accepts it, and signs new keys with it. */
    start: () =>
      audited(
        store,
        { partition: servicePartition, action: 'checksum-secret rotate', detail: {} },
        async () => {
          await retryConflicts(async () => {
            const { current, next, previous } = await read();
            if (next !== undefined || previous !== undefined) return;
            await update(
              { set: { [checksumSecret.next]: newChecksumSecret() } },
              { current, next, previous },
            );
          });
          const { next: added } = await read();
          await sleep(settlesAfterMilliseconds.next);
          await retryConflicts(async () => {
            const { current, next } = await read();
            // Otherwise another run of this command has done it, or this one, whose answer was
            // lost.
            if (next === undefined || next !== added) return;
            const set = { [checksumSecret.current]: next, [checksumSecret.previous]: current };
            await update({ set, remove: [checksumSecret.next] }, { current, next });
          });
        },
      ),

    /** Refuses keys of the old secret from now on. @throws CommandError if there still is one */
    end: () =>
      audited(
        store,
        { partition: servicePartition, action: 'checksum-secret end', detail: {} },
        async () => {
          const { current, previous } = await read();
          // A key that was being created when the secrets changed is stored by then.
          await sleep(settlesAfterMilliseconds.next);
          const keys = await keysNotOf(admin, secretFingerprint(current));
          if (keys.length > 0) {
            throw new CommandError('old_keys', 'A key of the old secret was created meanwhile.');
          }
          await retryConflicts(() =>
            update({ remove: [checksumSecret.previous] }, { current, previous }),
          );
        },
      ),
  };
}

/** The active keys that were not issued with the secret that has this fingerprint. */
async function keysNotOf(admin: Admin, fingerprint: string): Promise<OldKey[]> {
  const { accounts } = await admin.backup.export();
  return accounts.flatMap(({ id: account, keys }) =>
    keys
      .filter(({ hash, secret }) => hash !== null && secret !== fingerprint)
      .map(({ keyId, label, created }) => {
        return {
          account,
          keyId,
          label,
          created: created === null ? null : new Date(created * 1000).toISOString(),
        };
      }),
  );
}
