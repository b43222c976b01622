/** What runs a load, on one machine or by the state machine: the table and its lock, extracts, and lists of days. */

export { findMembers } from '../bag/extract-members.ts';
export { gapAfter, pathFrom } from '../dataset/delivery-path.ts';
export { type AddressTable, type BulkImport, dynamoDbAddressTable, scanAddresses } from '../storage/address-table.ts';
export { NoMoreWritesError } from '../storage/address-writer.ts';
export { fileSource } from '../storage/files.ts';
export { type Fence, type LeaseTiming, localLease, remoteLease, withLock } from '../storage/lease.ts';
export { type Held, isProcessGone, LockedError, lockKey, processOwner } from '../storage/lock.ts';
export { listMutations } from '../storage/mutation-lists.ts';
export { openStorage, pdokExtract } from '../storage/open.ts';
