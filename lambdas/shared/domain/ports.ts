import type { Access } from './access.ts';
import type { AddressRequest, Place } from './address-key.ts';
import type { KeyClaim } from './api-key.ts';
import type { WindowName } from './window.ts';

/** One conditional write that authenticates and charges. `roll` restarts windows that had passed in the `seen` item. */
export type ChargeAttempt = { claim: KeyClaim; now: number; roll?: { seen: Access; windows: WindowName[] } };

/** `charged` tells whether the write took effect; `access` is the item after it, or the unchanged one. */
export type ChargeResult = { charged: true; access: Access } | { charged: false; access: Access | undefined };

export type AccessStore = {
  /** Strongly consistent. Throws `StoreUnavailable`. */
  read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined>;
  /** All of the attempt or nothing of it. Throws `StoreUnavailable`: then it may or may not have been applied. */
  charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult>;
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
