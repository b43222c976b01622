import type { Clock, WindowName } from '../../calendar.ts';
import { StoreUnavailable } from '../../dynamodb.ts';
import { type Access, admits, Refusal } from '../account.ts';
import type { QuotaDecision, WindowCount } from '../quota.ts';
import { seenLimits } from './charge-command.ts';
import type { AccessStore, ChargeAttempt } from './charge-port.ts';
import { decideShards, gainsOf, markedExhausted, sameShares } from './shards.ts';

type Exceeded = Extract<QuotaDecision, { kind: 'exceeded' }>;

/** The refusal of `units`, of which some windows have fewer left. */
export function quotaExceeded({ violated, retryAfterSeconds, quota }: Exceeded, units: number): Refusal {
  return new Refusal({ code: 'quota-exceeded', units, violated, retryAfterSeconds, quota });
}

/**
 * The share of refused callers that mark a shard: enough to save later requests the search, without many writes at
 * once.
 */
const shareThatMarks = 1 / 4;

/**
 * Returns the attempt that charges another shard, or the same one after shares were moved to it.
 * @throws Refusal only when no shard has quota: two consecutive reads that differ only in use prove it, or an earlier
 * request has proved and marked it (decision 0103)
 */
export async function findShardWithQuota(
  store: AccessStore,
  request: Pick<ChargeAttempt, 'claim' | 'units' | 'id'>,
  tried: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<ChargeAttempt> {
  const { claim, units } = request;
  let before: Access[] | undefined;
  while (!signal.aborted) {
    const shards = await store.readShards(claim.account, signal);
    const now = clock();
    const takes = (shard: Access) => admits(shard, claim, now);
    // Shard 0 decides why no shard accepts this key any more.
    if (!shards.some(takes)) return { ...request, now, shard: 0 };
    const decision = decideShards(shards, takes, { now, tried, pick: Math.random(), units });
    switch (decision.kind) {
      case 'charge': {
        const { at, shard: seen, roll } = decision;
        return { ...request, now, at, shard: seen.shard, roll: { seen, windows: roll } };
      }
      case 'move': {
        const { move } = decision;
        // If a shard had changed, then most likely because another caller made the same move.
        await store.move(claim.account, move, signal);
        return {
          ...request,
          now,
          at: move.at,
          shard: move.target.shard,
          limits: seenLimits(move.target, gainsOf(move)),
        };
      }
      case 'exceeded': {
        const isProved = before
          ? sameShares(before, shards)
          : shards.some(({ quota }) => markedExhausted(quota, clock()));
        if (isProved) {
          const seen = shards.find(({ shard }) => shard === tried);
          if (seen && Math.random() < shareThatMarks) await mark(store, seen, decision, signal);
          throw quotaExceeded(decision, units);
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

/** Only what is exhausted for a single unit: fewer left than this request needs is no mark for the others. */
async function mark(store: AccessStore, seen: Access, { violated, quota }: Exceeded, signal: AbortSignal) {
  const windows = violated.map((name): [WindowName, WindowCount] => [name, quota[name] as WindowCount]);
  const exhausted = windows.filter(([, { used, limit }]) => used === limit);
  if (exhausted.length === 0) return;
  const starts = exhausted.map(([name, { start }]) => [name, start] as const);
  await store.markExhausted(seen, Object.fromEntries(starts), signal);
}
