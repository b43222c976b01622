import type { WindowName } from '../../calendar.ts';
import type { Access } from '../account.ts';
import type { KeyClaim } from '../api-key.ts';
import type { Limits } from '../quota.ts';
import type { ShareMove } from './shards.ts';

/**
 * One conditional write that authenticates a request and counts it: a charge. `roll` restarts windows that had passed
 * in the `seen` item, and its day of usage if that has passed. Without `shard` the store takes any one that the account
 * was last seen to have.
 */
export type ChargeAttempt = {
  claim: KeyClaim;
  /** How many units, all of them in every window, or none. */
  units: number;
  /** The same for all attempts of a request: an item that lists it has counted this request. */
  id: Uint8Array;
  /** The time by the clock of this instance, which decides whether the key has expired. */
  now: number;
  /**
   * The time whose windows count, if later than `now`: another instance, whose clock is ahead, has begun a window on a
   * shard.
   */
  at?: number;
  shard?: number;
  /**
   * The limits of the shard as they were last seen, which a charge of more than one unit needs. They grant nothing.
   * Without them the store takes what this instance last saw.
   */
  limits?: Limits;
  roll?: { seen: Access; windows: WindowName[] };
};

/**
 * `charged` says whether the store reported the write as done; `access` is the item of `shard` after it, or the
 * unchanged one. `unknown`: the answer was lost, so it may or may not have been done, or may still be.
 */
export type ChargeResult =
  | { charged: true; access: Access | undefined }
  | { charged: false; access: Access | undefined; shard: number }
  | { charged: 'unknown'; shard: number; cause: unknown };

export type AccessStore = {
  /** Strongly consistent; shard 0 by default. @throws StoreUnavailable */
  read(claim: KeyClaim, signal: AbortSignal, shard?: number): Promise<Access | undefined>;
  /** Applies all of the attempt or nothing. @throws StoreUnavailable */
  charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult>;
  /** All shards of an account, each as it was at some moment during the call. @throws StoreUnavailable */
  readShards(account: string, signal: AbortSignal): Promise<Access[]>;
  /** Returns whether the shares moved: all of them, or none because a shard had changed. @throws StoreUnavailable */
  move(account: string, move: ShareMove, signal: AbortSignal): Promise<boolean>;
  /**
   * Moves the days of usage that have ended at `now` from one shard into records, unless another caller has.
   * @throws StoreUnavailable
   */
  recordDays(seen: Access, now: number, signal: AbortSignal): Promise<void>;
  /**
   * Marks on one shard that no shard of the account has quota left in these windows (name to start), unless the account
   * was changed since `seen`. It only saves later requests the search, so a failure is ignored.
   */
  markExhausted(seen: Access, windows: Partial<Record<WindowName, number>>, signal: AbortSignal): Promise<void>;
};
