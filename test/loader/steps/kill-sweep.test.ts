import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rollbackLoad, runLoad } from '../../../loader/run/run-load.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/dynamodb-address-table.ts';
import { folderStorage } from '../../../loader/storage/folder-storage.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';
import { february, january, type Month, march, tableOf } from './months.ts';
import { watched } from './watched.ts';

let bench: LoadBench;
const sources = new Map<Month, string>();
/** Tables and storages that hold a month: January, and February after January. */
const starts = new Map<Month, Held>();

/** A table, and the folder of the storage that belongs to it. */
type Held = { table: string; folder: string };

/** Small everything, and always the same owner: its lock does not stand in the way of the next try. */
const small = { owner: 'sweep', partBytes: 1, changesPerFile: 2, workers: 0, keep: 2 };

beforeAll(async () => {
  bench = await startLoadBench();
  for (const month of [january, february, march]) {
    // Two files of nummeraanduidingen, so that there is something to die between.
    sources.set(month, await bench.extractOf(month, { perFile: 8 }));
  }
  const table = await bench.newTable();
  const folder = bench.newFolder();
  for (const month of [january, february]) {
    const addresses = dynamoDbAddressTable(bench.client, table);
    await runLoad({ ...small, storage: folder, addresses, source: sourceOf(month) });
    starts.set(month, await copyOf({ table, folder }));
  }
});
afterAll(() => bench.stop());

function sourceOf(month: Month): string {
  return sources.get(month) ?? '';
}

function startOf(month: Month): Held {
  return starts.get(month) ?? { table: '', folder: '' };
}

async function copyOf({ table, folder }: Held): Promise<Held> {
  const copy = { table: await bench.copyTable(table), folder: bench.newFolder() };
  cpSync(folder, copy.folder, { recursive: true });
  return copy;
}

/** A place of its own that holds what another one does. */
async function placeLike(other: Held) {
  const { table, folder } = await copyOf(other);
  // Transactions, so that a write carries the proof of its lock however soon another load has taken it.
  const addresses = dynamoDbAddressTable(bench.client, table, { transactions: true });
  const places = { storage: folderStorage(folder), addresses };
  return {
    ...places,
    held: { table, folder },
    load: (month: Month) => runLoad({ ...small, ...places, source: sourceOf(month) }),
    async holds(month: Month) {
      expect(await bench.addressesIn(table)).toEqual(tableOf(month));
      expect(await places.addresses.dataset()).toMatchObject({ peildatum: month.peildatum });
    },
  };
}

type Place = Awaited<ReturnType<typeof placeLike>>;
type Ports = Pick<Place, 'storage' | 'addresses'>;

const atOnce = 4;

/**
 * Does `work` on January's place (or another `start`), and `then` on each of the places that it would have left behind if it
 * had been killed at any of its reads and writes. Gives their number.
 */
async function sweep(
  { start = january, onlyApplying = false }: { start?: Month; onlyApplying?: boolean },
  work: (ports: Ports) => Promise<unknown>,
  then: (place: Place) => Promise<void>,
): Promise<number> {
  const { held, storage, addresses } = await placeLike(startOf(start));
  const left: Place[] = [];
  await work(
    watched(storage, addresses, async ({ isApplying }) => {
      if (isApplying || !onlyApplying) left.push(await placeLike(held));
    }),
  );
  const waiting = left.values();
  const goOn = async () => {
    for (const place of waiting) await then(place);
  };
  await Promise.all(Array.from({ length: atOnce }, goOn));
  return left.length;
}

describe('a load that dies at any read or write', () => {
  it('ends as one that never died when it is run again', async () => {
    const deaths = await sweep(
      {},
      (ports) => runLoad({ ...small, ...ports, source: sourceOf(february) }),
      async (place) => {
        await place.load(february);
        await place.holds(february);
        expect((await place.load(february)).outcome).toBe('unchanged');
      },
    );
    expect(deaths).toBeGreaterThan(80);
  }, 120_000);

  it('does no harm to a third state that arrives when it was half applied', async () => {
    const deaths = await sweep(
      { onlyApplying: true },
      (ports) => runLoad({ ...small, ...ports, source: sourceOf(february) }),
      async (place) => {
        await place.load(march);
        await place.holds(march);
      },
    );
    expect(deaths).toBeGreaterThan(30);
  }, 120_000);
});

describe('going back that dies while applying', () => {
  it('ends as one that never died when it is asked for again', async () => {
    const deaths = await sweep(
      { start: february, onlyApplying: true },
      (ports) => rollbackLoad({ ...small, ...ports, snapshot: january.peildatum }),
      async (place) => {
        await rollbackLoad({ ...small, ...place, snapshot: january.peildatum });
        await place.holds(january);
      },
    );
    expect(deaths).toBeGreaterThan(30);
  }, 120_000);
});

describe('a load that sleeps at any read or write, from the one that says it is applying,', () => {
  const ends = new Set<string>();

  /** Runs February's load, which sleeps before its operation number `at` until March's is published. Whether it did. */
  async function sleepAt(at: number): Promise<boolean> {
    const place = await placeLike(startOf(january));
    let sleeping = false;
    let applying = 0;
    const ports = watched(place.storage, place.addresses, async ({ isApplying }) => {
      if (!isApplying || ++applying !== at) return;
      sleeping = true;
      await place.addresses.lock.release(small.owner); // as if it had run out
      await runLoad({ ...small, ...place, owner: 'another', source: sourceOf(march) });
    });
    const load = runLoad({ ...small, ...ports, source: sourceOf(february) });
    const end = await load.then(
      () => 'published',
      (error: Error) => error.name,
    );
    if (!sleeping) return false; // it has fewer operations
    ends.add(end);
    await place.holds(march);
    expect((await place.load(march)).outcome).toBe('unchanged');
    return true;
  }

  it('changes nothing of what another one has published meanwhile', async () => {
    let next = 1;
    let slept = 0;
    const work = async () => {
      for (let more = true; more; ) {
        const at = next;
        next += 4; // the operations between two of them differ in nothing
        more = await sleepAt(at);
        if (more) slept++;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(slept).toBeGreaterThan(3);
    // One that had published before it slept ends well.
    expect([...ends].filter((end) => !['published', 'LockedError'].includes(end))).toEqual([]);
    expect(ends).toContain('LockedError');
  }, 120_000);
});
