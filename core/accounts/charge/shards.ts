import { type WindowName, windowNames, windowStart } from '../../calendar.ts';
import type { Access } from '../account.ts';
import {
  configured,
  decideQuota,
  type Limits,
  leftOf,
  type QuotaDecision,
  type QuotaState,
  wholeQuota,
} from '../quota.ts';

/**
 * A move of shares: `takes` is moved from each donor to `target`, in the windows that are current at
 * `at`. Shares stay where they are put, so the limit holds at every moment and in every window after.
 */
export type ShareMove = {
  target: Access;
  at: number;
  donors: { shard: Access; takes: Partial<Record<WindowName, number>> }[];
};

/** What the target of a move gains in each window. */
export function gainsOf({ donors }: ShareMove): Partial<Record<WindowName, number>> {
  const gains: Partial<Record<WindowName, number>> = {};
  for (const { takes } of donors) {
    for (const [name, take] of Object.entries(takes) as [WindowName, number][]) gains[name] = (gains[name] ?? 0) + take;
  }
  return gains;
}

/** The limits of one shard: its shares of them, if the account has several, with what it has gained since. */
export function seenLimits({ quota }: Access, gains: Partial<Record<WindowName, number>> = {}): Limits {
  return Object.fromEntries(
    configured(quota).map(([name, { limit }]) => [name, limit === null ? null : limit + (gains[name] ?? 0)]),
  );
}

/** Which shard has quota for the units, if any. `reread`: an operator changed the shards while they were read. */
export type ShardDecision =
  | { kind: 'reread' }
  | { kind: 'charge'; at: number; shard: Access; roll: WindowName[] }
  | { kind: 'move'; move: ShareMove }
  | Extract<QuotaDecision, { kind: 'exceeded' }>;

export type ShardChoice = {
  now: number;
  /** The shard that has just refused. */
  tried: number;
  /** Random, from 0 to 1, so that many callers that read the same shards do not all choose the same one. */
  pick: number;
  /** How many units are charged, all on one shard. */
  units?: number;
};

/** Shares are moved only if the richest shard has this many times the units left; below, charging it is cheaper. */
const worthMoving = 20;

/** Stands for unlimited where shards are weighed by what they have left; finite, so that its sums are exact enough. */
const unlimitedWeight = 1e15;

/**
 * Decides which shard is charged next, or which shares move first, of the shards in their order. Every shard can give;
 * only those that `takes` accepts can be charged, and there is at least one. A window that has begun on one shard, by
 * any clock, is the current one on all of them.
 */
export function decideShards(
  shards: readonly Access[],
  takes: (shard: Access) => boolean,
  choice: ShardChoice,
): ShardDecision {
  if (!belongTogether(shards)) return { kind: 'reread' };
  const at = Math.max(choice.now, ...shards.flatMap(({ quota }) => configured(quota).map(([, { start }]) => start)));
  const { units = 1 } = choice;
  const whole = decideQuota(
    wholeQuota(
      shards.map(({ quota }) => quota),
      at,
    ),
    choice.now,
    units,
  );
  if (whole.kind === 'exceeded') return whole;

  const targets = shards.filter(takes);
  const tried = targets.find(({ shard }) => shard === choice.tried);
  const half = tried && takeHalf(shards, tried, at, units);
  if (half) return { kind: 'move', move: half };
  const shard = pickByQuotaLeft(targets, at, choice.pick, units);
  if (shard) return { kind: 'charge', at, shard, roll: windowsToRoll(shard, at) };
  // The account has enough in each window, but no shard has it in all of them: gather it on the one that lacks the
  // least.
  const lacking = targets.map((target) => ({ target, windows: lackingWindows(target, at, units).length }));
  const [least] = lacking.toSorted((a, b) => a.windows - b.windows);
  if (!least) throw new Error('at least one shard must take requests');
  return { kind: 'move', move: gather(shards, least.target, at) };
}

/**
 * Whether no share moved and no window rolled from `before` to `after`. Then everything that was exhausted before still
 * was, on all shards at once, at the moment between the two reads, because use only grows.
 */
export function sameShares(before: readonly Access[], after: readonly Access[]): boolean {
  return before.length === after.length && before.every((shard, i) => stamp(shard) === stamp(after[i]));
}

/** The refusal that an earlier request has proved for all shards and marked on this one, if it is still current. */
export function markedExhausted(
  quota: QuotaState,
  now: number,
): Extract<QuotaDecision, { kind: 'exceeded' }> | undefined {
  const whole: QuotaState = {};
  for (const [name, { start, limit, total = limit, exhaustedAt = 0 }] of configured(quota)) {
    const current = windowStart(name, Math.floor(now));
    // This shard doesn't know how much is left of the other windows, only that they are not exhausted.
    if (total !== null && exhaustedAt >= current) whole[name] = { start: exhaustedAt, used: total, limit: total };
    else whole[name] = { start: Math.max(start, current), used: 0, limit: total };
  }
  const decision = decideQuota(whole, now);
  return decision.kind === 'exceeded' ? decision : undefined;
}

/** Half of what the richest shard has left, for each window in which `target` lacks units, if each is worth a move. */
function takeHalf(shards: readonly Access[], target: Access, at: number, units: number): ShareMove | undefined {
  const others = shards.filter((shard) => shard !== target);
  const donors: Donors = new Map();
  for (const name of lackingWindows(target, at, units)) {
    const [richest] = richestFirst(others, name, at);
    if (!richest || left(richest, name, at) < worthMoving * units) return undefined;
    take(donors, richest, name, Math.floor(left(richest, name, at) / 2));
  }
  return donors.size > 0 ? moveTo(target, at, donors) : undefined;
}

/** All quota that the account has left, or as much of each window as `target` lacks. */
function gather(shards: readonly Access[], target: Access, at: number): ShareMove {
  const donors: Donors = new Map();
  const sums = windowNames.map((name) => shards.reduce((sum, shard) => sum + left(shard, name, at), 0));
  for (const name of windowNames) {
    let lacks = Math.min(...sums) - left(target, name, at);
    for (const donor of richestFirst(shards, name, at)) {
      const units = Math.min(lacks, left(donor, name, at));
      if (donor === target || units <= 0) continue;
      take(donors, donor, name, units);
      lacks -= units;
    }
  }
  return moveTo(target, at, donors);
}

type Donors = Map<Access, Partial<Record<WindowName, number>>>;

function take(donors: Donors, shard: Access, name: WindowName, units: number): void {
  donors.set(shard, { ...donors.get(shard), [name]: units });
}

function moveTo(target: Access, at: number, donors: Donors): ShareMove {
  return { target, at, donors: [...donors].map(([shard, takes]) => ({ shard, takes })) };
}

function richestFirst(shards: readonly Access[], name: WindowName, at: number): Access[] {
  return shards.toSorted((a, b) => left(b, name, at) - left(a, name, at));
}

/** A shard with enough left in all windows; the more it has, the more likely it is picked. */
function pickByQuotaLeft(shards: readonly Access[], at: number, pick: number, units: number): Access | undefined {
  const weights = shards.map((shard) => {
    const least = Math.min(unlimitedWeight, ...windowNames.map((name) => left(shard, name, at)));
    return least < units ? 0 : least;
  });
  let rest = pick * weights.reduce((sum, weight) => sum + weight, 0);
  return shards.find((_, i) => {
    const weight = weights[i] ?? 0;
    rest -= weight;
    return weight > 0 && rest < 0;
  });
}

function belongTogether(shards: readonly Access[]): boolean {
  const totals = shards.map(({ quota }) =>
    windowNames.map((name) => (quota[name] ? String(quota[name].total ?? quota[name].limit) : '')).join(),
  );
  return totals.every((text) => text === totals[0]);
}

function lackingWindows(shard: Access, at: number, units: number): WindowName[] {
  return windowNames.filter((name) => left(shard, name, at) < units);
}

function windowsToRoll({ quota }: Access, at: number): WindowName[] {
  return configured(quota).flatMap(([name, { start }]) => (start < windowStart(name, Math.floor(at)) ? [name] : []));
}

function left({ quota }: Access, name: WindowName, at: number): number {
  return leftOf(name, quota[name], at);
}

function stamp(shard: Access | undefined): string {
  if (!shard) return '';
  return [shard.shard, shard.version, shard.moves, ...windowNames.map((name) => shard.quota[name]?.start)].join();
}
