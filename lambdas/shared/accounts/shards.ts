import type { Access } from './account-item.ts';
import {
  configured,
  decideQuota,
  type QuotaDecision,
  type QuotaState,
  type WindowCount,
  type WindowName,
  windowNames,
  windowStart,
} from './quota.ts';

/** One quota shard of an account; `version` and `moves` change with every change of its shares. */
export type Shard = Access & { version: number; moves: number };

/**
 * Shares that change hands: each donor gives what `takes` says, and `target` gets it all, in the windows that are
 * current at `at`. Shares stay where they are put, so the limit holds at every moment and in every window after.
 */
export type ShareMove = {
  target: Shard;
  at: number;
  donors: { shard: Shard; takes: Partial<Record<WindowName, number>> }[];
};

/**
 * Where one more unit of the account is to be had, or that there is none on any shard. `reread`: the shards were read
 * while an operator changed them, and do not belong together.
 */
export type ShardDecision =
  | { kind: 'reread' }
  | { kind: 'charge'; at: number; shard: Shard; roll: WindowName[] }
  | { kind: 'move'; move: ShareMove }
  | Extract<QuotaDecision, { kind: 'exceeded' }>;

export type ShardChoice = {
  now: number;
  /** The shard that has just refused. */
  tried: number;
  /** At random from 0 to 1, so that a crowd that finds the same shards does not all run to one of them. */
  pick: number;
};

/** With less left on the richest shard than this, evening shares out costs more than going to that shard. */
const worthSharing = 20;

const plenty = 1e15;

/**
 * Decides where the next unit comes from. Every shard gives; only those that `takes` names may be charged, of which
 * there is one at least. A window that has begun on one shard, by whatever clock, is the current one on all of them.
 */
export function decideShards(
  shards: readonly Shard[],
  takes: (shard: Shard) => boolean,
  choice: ShardChoice,
): ShardDecision {
  if (!belongTogether(shards)) return { kind: 'reread' };
  const at = Math.max(choice.now, ...shards.flatMap(({ quota }) => configured(quota).map(([, { start }]) => start)));
  const whole = decideQuota(wholeQuota(shards, at), choice.now);
  if (whole.kind === 'exceeded') return whole;

  const targets = shards.filter(takes);
  const tried = targets.find(({ shard }) => shard === choice.tried);
  const half = tried && takeHalf(shards, tried, at);
  if (half) return { kind: 'move', move: half };
  const shard = pickByRoom(targets, at, choice.pick);
  if (shard) return { kind: 'charge', at, shard, roll: rollOf(shard, at) };
  // Each window has something left somewhere, and no shard has it all: gather it on the one that lacks least.
  const lacking = targets.map((target) => ({ target, windows: exhausted(target, at).length }));
  const [least] = lacking.toSorted((a, b) => a.windows - b.windows || a.target.shard - b.target.shard);
  if (!least) throw new Error('one shard at least takes requests');
  return { kind: 'move', move: gather(shards, least.target, at) };
}

/** The quota of the account as if it were one shard; what is left of it is exact. */
function wholeQuota(shards: readonly Shard[], at: number): QuotaState {
  const quota: QuotaState = {};
  for (const name of windowNames) {
    const windows = shards.flatMap(({ quota }) => quota[name] ?? []);
    if (windows.length === 0) continue;
    const left = windows.reduce((sum, window) => sum + leftOf(name, window, at), 0);
    const limits = windows.map(({ limit, total = limit }) => total);
    const limit = limits.includes(null) ? null : Math.max(...limits.map(Number));
    quota[name] = { start: windowStart(name, Math.floor(at)), used: limit === null ? 0 : limit - left, limit };
  }
  return quota;
}

/**
 * Whether no share changed hands and no window rolled from `before` to `after`. Then everything that was exhausted
 * before still was so, on all shards at once, at the moment between the two reads, because use only grows.
 */
export function sameShares(before: readonly Shard[], after: readonly Shard[]): boolean {
  return before.length === after.length && before.every((shard, i) => stamp(shard) === stamp(after[i]));
}

/** The refusal that an earlier request has proved for all shards and noted on this one, if it is still current. */
export function notedAsDry(quota: QuotaState, now: number): Extract<QuotaDecision, { kind: 'exceeded' }> | undefined {
  const whole: QuotaState = {};
  for (const [name, { start, limit, total = limit, dryAt = 0 }] of configured(quota)) {
    const current = windowStart(name, Math.floor(now));
    // Of a window that is not dry this shard can't tell how much is left, only that it is not the one that binds.
    if (total !== null && dryAt >= current) whole[name] = { start: dryAt, used: total, limit: total };
    else whole[name] = { start: Math.max(start, current), used: 0, limit: total };
  }
  const decision = decideQuota(whole, now);
  return decision.kind === 'exceeded' ? decision : undefined;
}

/** Half of what the richest shard has left, for each window that `target` has exhausted, if each is worth a move. */
function takeHalf(shards: readonly Shard[], target: Shard, at: number): ShareMove | undefined {
  const donors: Donors = new Map();
  for (const name of exhausted(target, at)) {
    const [richest] = byRichness(shards, name, at);
    if (!richest || left(richest, name, at) < worthSharing) return undefined;
    take(donors, richest, name, Math.floor(left(richest, name, at) / 2));
  }
  return donors.size > 0 ? moveOf(target, at, donors) : undefined;
}

/** All that the account can still be served, or as much of each window as `target` lacks of it. */
function gather(shards: readonly Shard[], target: Shard, at: number): ShareMove {
  const donors: Donors = new Map();
  const sums = windowNames.map((name) => shards.reduce((sum, shard) => sum + left(shard, name, at), 0));
  for (const name of windowNames) {
    let lacks = Math.min(...sums) - left(target, name, at);
    for (const donor of byRichness(shards, name, at)) {
      const units = Math.min(lacks, left(donor, name, at));
      if (donor === target || units <= 0) continue;
      take(donors, donor, name, units);
      lacks -= units;
    }
  }
  return moveOf(target, at, donors);
}

type Donors = Map<Shard, Partial<Record<WindowName, number>>>;

function take(donors: Donors, shard: Shard, name: WindowName, units: number): void {
  donors.set(shard, { ...donors.get(shard), [name]: units });
}

function moveOf(target: Shard, at: number, donors: Donors): ShareMove {
  return { target, at, donors: [...donors].map(([shard, takes]) => ({ shard, takes })) };
}

function byRichness(shards: readonly Shard[], name: WindowName, at: number): Shard[] {
  return shards.toSorted((a, b) => left(b, name, at) - left(a, name, at) || a.shard - b.shard);
}

/** A shard with room in all windows, the more probable the more room it has. */
function pickByRoom(shards: readonly Shard[], at: number, pick: number): Shard | undefined {
  const rooms = shards.map((shard) => Math.min(plenty, ...windowNames.map((name) => left(shard, name, at))));
  let rest = pick * rooms.reduce((sum, room) => sum + room, 0);
  return shards.find((_, i) => {
    const room = rooms[i] ?? 0;
    rest -= room;
    return room > 0 && rest < 0;
  });
}

function belongTogether(shards: readonly Shard[]): boolean {
  const totals = shards.map(({ quota }) =>
    windowNames.map((name) => (quota[name] ? String(quota[name].total ?? quota[name].limit) : '')).join(),
  );
  return totals.every((text) => text === totals[0]);
}

function exhausted(shard: Shard, at: number): WindowName[] {
  return windowNames.filter((name) => left(shard, name, at) === 0);
}

function rollOf({ quota }: Shard, at: number): WindowName[] {
  return configured(quota).flatMap(([name, { start }]) => (start < windowStart(name, Math.floor(at)) ? [name] : []));
}

function left({ quota }: Shard, name: WindowName, at: number): number {
  return leftOf(name, quota[name], at);
}

function leftOf(name: WindowName, window: WindowCount | undefined, at: number): number {
  if (!window || window.limit === null) return Infinity;
  const used = window.start < windowStart(name, Math.floor(at)) ? 0 : window.used;
  return Math.max(0, window.limit - used);
}

function stamp(shard: Shard | undefined): string {
  if (!shard) return '';
  return [shard.shard, shard.version, shard.moves, ...windowNames.map((name) => shard.quota[name]?.start)].join();
}
