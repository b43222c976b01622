import type { Access } from './access.ts';
import type { AddressRequest, Place } from './address-key.ts';
import type { KeyClaim } from './api-key.ts';
import type { Shard, ShareMove } from './shards.ts';
import type { WindowName } from './window.ts';

/**
 * One conditional write that authenticates and charges. `roll` restarts windows that had passed in the `seen` item.
 * Without `shard` the store takes any one that the account was last seen to have.
 */
export type ChargeAttempt = {
  claim: KeyClaim;
  now: number;
  shard?: number;
  roll?: { seen: Access; windows: WindowName[] };
};

/** `charged` tells whether the write took effect; `access` is the item of `shard` after it, or the unchanged one. */
export type ChargeResult =
  | { charged: true; access: Access }
  | { charged: false; access: Access | undefined; shard: number };

export type AccessStore = {
  /** Strongly consistent. Throws `StoreUnavailable`. */
  read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined>;
  /** All of the attempt or nothing of it. Throws `StoreUnavailable`: then it may or may not have been applied. */
  charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult>;
  /** All shards of an account, each as it was at some moment during the call. Throws `StoreUnavailable`. */
  readShards(account: string, signal: AbortSignal): Promise<Shard[]>;
  /** Whether the shares moved: all of them, or none because a shard had changed. Throws `StoreUnavailable`. */
  move(account: string, move: ShareMove, signal: AbortSignal): Promise<boolean>;
  /**
   * Notes on one shard that no shard of the account has quota left in these windows (name to start), unless the account
   * was changed since `seen`. It saves later requests the search, so a failure is nobody's concern.
   */
  noteDry(
    account: string,
    seen: Shard,
    windows: Partial<Record<WindowName, number>>,
    signal: AbortSignal,
  ): Promise<void>;
};

export type AddressStore = {
  /** The distinct places of an address, sorted; none if the register has no such address. Throws `StoreUnavailable`. */
  find(request: AddressRequest, signal: AbortSignal): Promise<Place[]>;
};

export type KeyLabelStore = {
  /** The label that a key was created with. Throws `StoreUnavailable`. */
  label(key: { account: string; keyId: string }, signal: AbortSignal): Promise<string>;
};

/** Tells the date of the state being served, `2021-10-15`, as far as it is known; never fails and hardly waits. */
export type DatasetDate = () => Promise<string | undefined>;

/** The time in seconds since 1970, with its fraction. */
export type Clock = () => number;

/** The store could not be reached, or did not say what became of a request. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
}
