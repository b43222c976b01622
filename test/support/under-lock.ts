import type { AddressTable } from '../../loader/storage/address-table.ts';
import { type Fence, localLease, withLock } from '../../loader/storage/lock.ts';

/** Writes to a table as a load does: under its lock, which `write` gets the proof of. */
export function underLock(
  addresses: AddressTable,
  write: (fence: Fence) => Promise<void>,
): Promise<void> {
  return withLock(addresses.lock, 'a test', localLease, write);
}
