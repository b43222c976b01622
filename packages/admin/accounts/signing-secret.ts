import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedSecrets,
  checksumSecret,
  newChecksumSecret,
  settlesAfterMilliseconds,
} from '../../../core/accounts/checksum-secret.ts';
import { guardExpression, guardedUpdate, type Item, wasMade } from '../../../core/dynamodb.ts';
import type { AdminStore } from './admin-store.ts';

/** The secrets whose keys are accepted, the signing secret first; none before the first key. */
export async function readSecrets(store: AdminStore): Promise<string[]> {
  return acceptedSecrets((await store.get(checksumSecret.key)) ?? {});
}

/**
 * The secret that signs a new key, which the first key of a deployment creates. Await `settled`
 * before the key is shown: until then an instance may still refuse it.
 */
export async function secretForKey(
  store: AdminStore,
): Promise<{ secret: string; settled: () => Promise<void> }> {
  const stored = (await store.get(checksumSecret.key)) ?? (await createSecret(store));
  const seenAt = performance.now();
  return {
    secret: stored[checksumSecret.current],
    async settled() {
      if (stored[checksumSecret.settled] !== undefined) return;
      await sleep(Math.max(0, seenAt + settlesAfterMilliseconds.first - performance.now()));
      const keep = { [checksumSecret.settled]: store.nowSeconds() };
      await store.update(guardedUpdate(store.table, checksumSecret.key, { keep }));
    },
  };
}

/**
 * Creates the secret, or returns the secret that another first key has created at the same time.
 */
async function createSecret(store: AdminStore): Promise<Item> {
  const item = { ...checksumSecret.key, [checksumSecret.current]: newChecksumSecret() };
  const isNew = guardExpression([{ attribute: checksumSecret.current, is: 'absent' }]);
  return (await wasMade(store.put(item, isNew)))
    ? item
    : ((await store.get(checksumSecret.key)) ?? createSecret(store));
}
