import { admits } from './access.ts';
import type { KeyClaim } from './api-key.ts';
import { type AccessStore, type ChargeAttempt, type Clock, StoreUnavailable } from './ports.ts';
import type { QuotaDecision, WindowCount } from './quota.ts';
import { Refusal } from './refusal.ts';
import { decideShards, notedAsDry, type Shard, sameShares } from './shards.ts';
import type { WindowName } from './window.ts';

type Exceeded = Extract<QuotaDecision, { kind: 'exceeded' }>;

/** The share of refused callers that note what they found: enough to tell the next ones soon, few enough in a crowd. */
const shareThatNotes = 1 / 4;

/** The account, and the shard that has nothing left for it. */
export type Exhausted = { claim: KeyClaim; shard: number };

/**
 * The attempt that finds quota on another shard, or on the same one after some was moved there. Throws a `Refusal` only
 * when no shard has any: two reads in a row that differ in nothing but use prove it, or an earlier caller did so and noted
 * it (decision 0081).
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
        const isProved = before ? sameShares(before, shards) : shards.some(({ quota }) => notedAsDry(quota, clock()));
        if (isProved) {
          const seen = shards.find(({ shard }) => shard === tried);
          if (seen && Math.random() < shareThatNotes) await note(store, claim, seen, decision, signal);
          const { violated, retryAfterSeconds, quota } = decision;
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

async function note(
  store: AccessStore,
  claim: KeyClaim,
  seen: Shard,
  { violated, quota }: Exceeded,
  signal: AbortSignal,
) {
  const starts = violated.map((name): [WindowName, number] => [name, (quota[name] as WindowCount).start]);
  await store.noteDry(claim.account, seen, Object.fromEntries(starts), signal);
}
