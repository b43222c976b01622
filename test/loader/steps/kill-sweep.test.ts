import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rollbackLoad, runLoad } from '../../../loader/run-load.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/dynamodb-address-table.ts';
import { folderStorage } from '../../../loader/storage/folder-storage.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';
import { february, january, type Month, march, tableOf } from './months.ts';
import { Died, mortal } from './mortal.ts';

let bench: LoadBench;
const sources = new Map<Month, string>();
/** Tables and storages that hold a month: January, and February after January. */
const starts = new Map<Month, { table: string; folder: string }>();

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

async function copyOf({ table, folder }: { table: string; folder: string }) {
  const copy = { table: await bench.copyTable(table), folder: bench.newFolder() };
  cpSync(folder, copy.folder, { recursive: true });
  return copy;
}

/** A place of its own that holds `month`. */
async function newPlace(month: Month) {
  const { table, folder } = await copyOf(starts.get(month) ?? { table: '', folder: '' });
  const places = { storage: folderStorage(folder), addresses: dynamoDbAddressTable(bench.client, table) };
  return {
    ...places,
    load: (month: Month) => runLoad({ ...small, ...places, source: sourceOf(month) }),
    async holds(month: Month) {
      expect(await bench.addressesIn(table)).toEqual(tableOf(month));
      expect(await places.addresses.dataset()).toMatchObject({ date: month.state });
    },
  };
}

type Place = Awaited<ReturnType<typeof newPlace>>;
type Ports = Pick<Place, 'storage' | 'addresses'>;

const atOnce = 4;

/**
 * Dies at the first operation of `work` on January's place (or another `start`), then in a new place at the second, and so
 * on to the last. Gives the number of deaths.
 */
async function sweep(
  { start = january, onlyApplying = false }: { start?: Month; onlyApplying?: boolean },
  work: (ports: Ports) => Promise<unknown>,
  then: (place: Place) => Promise<void>,
): Promise<number> {
  const { seen: alive, ...immortal } = mortalIn(await newPlace(start), Number.POSITIVE_INFINITY);
  await work(immortal);
  const first = onlyApplying ? alive.begunAt : 1;
  let next = first;
  const dieAndDie = async () => {
    for (let deadly = next++; deadly <= alive.operations; deadly = next++) {
      const place = await newPlace(start);
      const { seen, ...ports } = mortalIn(place, deadly);
      // One that dies while it gives the lock back has answered.
      await work(ports).catch((error: unknown) => expect(error).toBeInstanceOf(Died));
      expect(seen.operations).toBe(deadly);
      await then(place);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, dieAndDie));
  return alive.operations - first + 1;
}

function mortalIn({ storage, addresses }: Ports, deadly: number) {
  return mortal(storage, addresses, deadly);
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
      (ports) => rollbackLoad({ ...small, ...ports, state: january.state }),
      async (place) => {
        await rollbackLoad({ ...small, ...place, state: january.state });
        await place.holds(january);
      },
    );
    expect(deaths).toBeGreaterThan(30);
  }, 120_000);
});
