import type { AddressTable } from '../../../loader/storage/address-table.ts';
import type { Storage } from '../../../loader/storage/storage.ts';

/**
 * Where a load is: how many reads and writes it has begun, whether it has written since the
 * previous one, and whether it has come to the one that says it is applying.
 */
export type Seen = { operations: number; hasWritten: boolean; isApplying: boolean };

/**
 * The real storage and table, one read or write at a time. Before each `look` is called: everything
 * that came before it is done, and nothing after it, as a process leaves them that is killed there.
 */
export function watched(
  storage: Storage,
  addresses: AddressTable,
  look: (seen: Seen) => Promise<void>,
) {
  const seen: Seen = { operations: 0, hasWritten: true, isApplying: false };
  let last: Promise<unknown> = Promise.resolve();
  let isWorking = false;

  function step<T>(
    work: () => Promise<T>,
    { writes = true, beginsToApply = false } = {},
  ): Promise<T> {
    const next = last.then(async () => {
      seen.operations++;
      seen.isApplying ||= beginsToApply;
      await look(seen);
      seen.hasWritten = writes;
      isWorking = true;
      try {
        return await work();
      } finally {
        isWorking = false;
      }
    });
    last = next.catch(() => undefined);
    return next;
  }

  const read = <T>(work: () => Promise<T>): Promise<T> => step(work, { writes: false });

  /** What a write asks of its lock is a part of that write, which must not wait for its own end. */
  const within = <T>(work: () => Promise<T>, writes: boolean): Promise<T> =>
    isWorking ? work() : step(work, { writes });

  const watchedStorage: Storage = {
    get: (key) => read(() => storage.get(key)),
    open: (key) => read(() => storage.open(key)),
    put: (key, bytes, expected) =>
      step(() => storage.put(key, bytes, expected), { beginsToApply: key === 'manifest.json' }),
    putStream: (key, chunks) => step(() => storage.putStream(key, chunks)),
    list: (prefix) => read(() => storage.list(prefix)),
    delete: async (keys) => {
      for (const key of keys) await step(() => storage.delete([key]));
    },
  };
  const watchedAddresses: AddressTable = {
    // Item by item, so that there is a state in the middle of a batch too.
    write: async (writes, fence, onWritten) => {
      for (const one of writes) await step(() => addresses.write([one], fence, onWritten));
    },
    read: (keys) => read(() => addresses.read(keys)),
    dataset: () => read(() => addresses.dataset()),
    hasAddresses: () => read(() => addresses.hasAddresses()),
    setDataset: (dataset, fence) => step(() => addresses.setDataset(dataset, fence)),
    lock: {
      acquire: (owner, seconds, over) => step(() => addresses.lock.acquire(owner, seconds, over)),
      renew: (held, seconds) => within(() => addresses.lock.renew(held, seconds), true),
      check: (owner, token) => within(() => addresses.lock.check(owner, token), false),
      holder: () => read(() => addresses.lock.holder()),
      release: (owner, token) => step(() => addresses.lock.release(owner, token)),
    },
  };
  return { storage: watchedStorage, addresses: watchedAddresses };
}
