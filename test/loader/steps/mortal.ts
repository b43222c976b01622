import type { AddressTable } from '../../../loader/storage/address-table.ts';
import type { Storage } from '../../../loader/storage/storage.ts';

/** The process has died: it never gets an answer again. */
export class Died extends Error {}

/**
 * The real storage and table, until the process dies: at the `deadly`th read or write, which is not done any more. To die
 * after one is to die before the next. `begunAt` is the write that says that applying begins.
 */
export function mortal(storage: Storage, addresses: AddressTable, deadly: number) {
  const seen = { operations: 0, begunAt: 0 };

  async function step<T>(work: () => Promise<T>): Promise<T> {
    if (seen.operations === deadly) throw new Died();
    seen.operations++;
    if (seen.operations === deadly) throw new Died();
    return work();
  }

  const mortalStorage: Storage = {
    get: (key) => step(() => storage.get(key)),
    open: (key) => step(() => storage.open(key)),
    put: (key, bytes) => {
      if (key === 'manifest.json') seen.begunAt ||= seen.operations + 1;
      return step(() => storage.put(key, bytes));
    },
    putStream: (key, chunks) => step(() => storage.putStream(key, chunks)),
    list: (prefix) => step(() => storage.list(prefix)),
    delete: async (keys) => {
      for (const key of keys) await step(() => storage.delete([key]));
    },
  };
  const mortalAddresses: AddressTable = {
    // Item by item, so that a batch dies in its middle too.
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
  return { storage: mortalStorage, addresses: mortalAddresses, seen };
}
