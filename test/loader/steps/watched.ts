import type { AddressTable } from '../../../loader/storage/address-table.ts';
import type { Storage } from '../../../loader/storage/storage.ts';

/** Where a load is: how many reads and writes it has begun, and whether it has come to the one that says it is applying. */
export type Seen = { operations: number; isApplying: boolean };

/**
 * The real storage and table, one read or write at a time. Before each `look` is called: everything that came before it is
 * done, and nothing after it, as a process leaves them that is killed there.
 */
export function watched(storage: Storage, addresses: AddressTable, look: (seen: Seen) => Promise<void>) {
  const seen: Seen = { operations: 0, isApplying: false };
  let last: Promise<unknown> = Promise.resolve();

  function step<T>(work: () => Promise<T>, beginsToApply = false): Promise<T> {
    const next = last.then(async () => {
      seen.operations++;
      seen.isApplying ||= beginsToApply;
      await look(seen);
      return work();
    });
    last = next.catch(() => undefined);
    return next;
  }

  const watchedStorage: Storage = {
    get: (key) => step(() => storage.get(key)),
    open: (key) => step(() => storage.open(key)),
    put: (key, bytes) => step(() => storage.put(key, bytes), key === 'manifest.json'),
    putStream: (key, chunks) => step(() => storage.putStream(key, chunks)),
    list: (prefix) => step(() => storage.list(prefix)),
    delete: async (keys) => {
      for (const key of keys) await step(() => storage.delete([key]));
    },
  };
  const watchedAddresses: AddressTable = {
    // Item by item, so that there is a state in the middle of a batch too.
    write: async (writes, onWritten) => {
      for (const one of writes) await step(() => addresses.write([one], onWritten));
    },
    read: (keys) => step(() => addresses.read(keys)),
    dataset: () => step(() => addresses.dataset()),
    setDataset: (dataset) => step(() => addresses.setDataset(dataset)),
    lock: {
      acquire: (owner, seconds) => step(() => addresses.lock.acquire(owner, seconds)),
      check: (owner) => step(() => addresses.lock.check(owner)),
      release: (owner) => step(() => addresses.lock.release(owner)),
    },
  };
  return { storage: watchedStorage, addresses: watchedAddresses };
}
