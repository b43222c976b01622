import { admits } from './access.ts';
import type { KeyClaim } from './api-key.ts';
import { type AccessStore, type ChargeAttempt, type Clock, StoreUnavailable } from './ports.ts';
import type { WindowCount } from './quota.ts';
import { Refusal } from './refusal.ts';
import { decideShards, type Shard, sameShares } from './shards.ts';
import type { WindowName } from './window.ts';

/** The account, and the shard that has nothing left for it. */
export type Exhausted = { claim: KeyClaim; shard: number };

/**
 * The attempt that finds quota on another shard, or on the same one after some was moved there. Throws a `Refusal` only
 * when no shard has any: two reads in a row that differ in nothing but use have proved it (decision 0080).
 */
export async function findRoom(
  store: AccessStore,
  { claim, shard: tried }: Exhausted,
  clock: Clock,
  signal: AbortSignal,
): Promise<ChargeAttempt> {
  let before: Shard[] | undefined;
  while (!signal.aborted) {
    const shards = await store.readShards(claim.account, signal);
    const takes = (shard: Shard) => admits(shard, claim);
    // Shard 0 says why nobody takes this key any more.
    if (!shards.some(takes)) return { claim, now: clock(), shard: 0 };
    const decision = decideShards(shards, takes, { now: clock(), tried, pick: Math.random() });
    switch (decision.kind) {
      case 'charge': {
        const { at, shard: seen, roll } = decision;
        return { claim, now: at, shard: seen.shard, ...(roll.length > 0 && { roll: { seen, windows: roll } }) };
      }
      case 'move': {
        const { move } = decision;
        // If a shard had changed, then most likely because another caller moved the same.
        await store.move(claim.account, move, signal);
        return { claim, now: move.at, shard: move.target.shard };
      }
      case 'exceeded': {
        const { violated, retryAfterSeconds, quota } = decision;
        if (before && sameShares(before, shards)) {
          const starts = violated.map((name): [WindowName, number] => [name, (quota[name] as WindowCount).start]);
          const seen = shards.find(({ shard }) => shard === tried);
          if (seen) await store.noteDry(claim.account, seen, Object.fromEntries(starts), signal);
          throw new Refusal({ code: 'quota-exceeded', violated, retryAfterSeconds, quota });
        }
        before = shards;
        break;
      }
      case 'reread':
        before = undefined;
    }
  }
  throw new StoreUnavailable('the shards of the account are contended: no quota was found in time');
}
