import type { AddressTable } from '../../../loader/storage/address-table.ts';
import type { Storage } from '../../../loader/storage/storage.ts';

/** The process has died: it never gets an answer again. */
export class Died extends Error {}

/** When to die: at the `operation`th read or write; a write may just have been done, but nobody heard of it. */
export type Death = { operation: number; done: boolean };

/** The real storage and table, until the process dies. `begunAt` is the operation that says that applying begins. */
export function mortal(storage: Storage, addresses: AddressTable, death: Death) {
  const seen = { operations: 0, diedReading: false, begunAt: 0 };
  let dead = false;

  /** One operation: when it is the last, what it does happens, or does not. */
  async function step<T>(kind: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    if (dead) throw new Died();
    seen.operations++;
    if (seen.operations !== death.operation) return work();
    dead = true;
    seen.diedReading = kind === 'read';
    if (death.done) await work();
    throw new Died();
  }
  const read = <T>(work: () => Promise<T>) => step('read', work);
  const write = <T>(work: () => Promise<T>) => step('write', work);

  const mortalStorage: Storage = {
    get: (key) => read(() => storage.get(key)),
    open: (key) => read(() => storage.open(key)),
    put: (key, bytes) => {
      if (key === 'manifest.json') seen.begunAt ||= seen.operations + 1;
      return write(() => storage.put(key, bytes));
    },
    putStream: (key, chunks) => write(() => storage.putStream(key, chunks)),
    list: (prefix) => read(() => storage.list(prefix)),
    delete: async (keys) => {
      for (const key of keys) await write(() => storage.delete([key]));
    },
  };
  const mortalAddresses: AddressTable = {
    // Item by item, so that a batch dies in its middle too.
    write: async (writes, onWritten) => {
      for (const one of writes) await write(() => addresses.write([one], onWritten));
    },
    read: (keys) => read(() => addresses.read(keys)),
    dataset: () => read(() => addresses.dataset()),
    setDataset: (dataset) => write(() => addresses.setDataset(dataset)),
    lock: {
      acquire: (owner, seconds) => write(() => addresses.lock.acquire(owner, seconds)),
      check: (owner) => read(() => addresses.lock.check(owner)),
      release: (owner) => write(() => addresses.lock.release(owner)),
    },
  };
  return { storage: mortalStorage, addresses: mortalAddresses, seen };
}
