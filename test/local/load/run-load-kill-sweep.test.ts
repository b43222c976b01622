import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { type LoadPlace, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, idOf, january, type Month, march, tableOf, voorkomensOf } from '../../loader/steps/months.ts';
import { watched } from '../../loader/steps/watched.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { mutationsBetween, writeMutationDelivery } from '../../support/mutation-delivery.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';

const bench = startForTests(startLoadBench);
const sources = new Map<Month, string>();
/** Tables and storages that hold a month: January, and February after January. */
const starts = new Map<Month, LoadPlace>();

/** Small everything, and always the same owner: its lock does not stand in the way of the next try. */
const small = { owner: 'sweep', sliceBytes: 1, changesPerFile: 2, workers: 0, keep: 2 };

beforeAll(async () => {
  for (const month of [january, february, march]) {
    // Two files of nummeraanduidingen, so that there is something to die between.
    sources.set(month, await bench.extractOf(month, { perFile: 8 }));
  }
  const place = await bench.newPlace();
  for (const month of [january, february]) {
    const addresses = dynamoDbAddressTable(bench.client, place.table);
    await runLoad({ ...small, storage: bench.storageIn(place.bucket), addresses, source: sourceOf(month) });
    starts.set(month, await bench.copyPlace(place));
  }
});

function sourceOf(month: Month): string {
  return sources.get(month) ?? '';
}

function startOf(month: Month): LoadPlace {
  return starts.get(month) ?? { table: '', bucket: '' };
}

/** A place of its own that holds what another one does. */
async function placeLike(other: LoadPlace) {
  const held = await bench.copyPlace(other);
  const { table, bucket } = held;
  // Transactions, so that a write carries the proof of its lock however soon another load has taken it.
  const addresses = dynamoDbAddressTable(bench.client, table, { transactions: true });
  const places = { storage: bench.storageIn(bucket), addresses };
  return {
    ...places,
    held,
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
/** Of the places that deaths leave, every how many-th is tried. */
const step = isFullSweep ? 1 : 8;

/**
 * Does `work` on January's place (or another `start`), and `then` on each of the places that it would have left behind
 * if it had been killed at any of its reads and writes. Two deaths with no write between them leave the same place,
 * which is tried once. Returns the number of deaths.
 */
async function sweep(
  { start = january, onlyApplying = false }: { start?: Month; onlyApplying?: boolean },
  work: (ports: Ports) => Promise<unknown>,
  then: (place: Place) => Promise<void>,
): Promise<number> {
  const { held, storage, addresses } = await placeLike(startOf(start));
  const left: Place[] = [];
  let deaths = 0;
  let states = 0;
  await work(
    watched(storage, addresses, async ({ isApplying, hasWritten }) => {
      if (onlyApplying && !isApplying) return;
      deaths++;
      if ((hasWritten || states === 0) && states++ % step === 0) left.push(await placeLike(held));
    }),
  );
  const waiting = left.values();
  const goOn = async () => {
    for (const place of waiting) await then(place);
  };
  await Promise.all(Array.from({ length: atOnce }, goOn));
  return deaths;
}

describe('a load that dies at any read or write', () => {
  it('ends like one that never died when it is run again', async () => {
    const deaths = await sweep(
      {},
      (ports) => runLoad({ ...small, ...ports, source: sourceOf(february) }),
      async (place) => {
        await place.load(february);
        await place.holds(february);
        expect((await place.load(february)).outcome).toBe('unchanged');
      },
    );
    expect(deaths).toBeGreaterThan(140);
  });

  inSweep('does not affect a third snapshot that arrives when it is half applied', async () => {
    const deaths = await sweep(
      { onlyApplying: true },
      (ports) => runLoad({ ...small, ...ports, source: sourceOf(february) }),
      async (place) => {
        await place.load(march);
        await place.holds(march);
      },
    );
    expect(deaths).toBeGreaterThan(50);
  });
});

describe('a load of mutations that dies at any read or write', () => {
  const [from, to, later] = ['2026-01-08', '2026-01-09', '2026-01-10'];

  /**
   * January a day later: a street has another name, an address has gone, one is new, and one has moved to another
   * segment.
   */
  const dayAfter: Month = {
    peildatum: to,
    addresses: [
      ...january.addresses.flatMap(([address, straat, woonplaats]): Month['addresses'] => {
        if (address === '2513AA 2') return [];
        const moved = address === '1381GH 3' ? '9999ZZ 3' : address;
        return [[moved, straat === 'Buitenveer' ? 'Binnenveer' : straat, woonplaats, address]];
      }),
      ['1382LJ 30', 'Nijverheidslaan', 'Weesp'],
    ],
  };

  /** The folder with that day, and a second one that says nothing. */
  async function deliveries(): Promise<string> {
    const { NUM, OPR, WPL } = voorkomensOf(january);
    const ends = { eind: to };
    const begins = { volgnummer: 2, begin: to };
    const after = {
      WPL,
      OPR: OPR.flatMap((street) =>
        street.naam === 'Buitenveer'
          ? [
              { ...street, ...ends },
              { ...street, ...begins, naam: 'Binnenveer' },
            ]
          : [street],
      ),
      NUM: [
        ...NUM.flatMap((num) => {
          if (num.postcode === '2513AA' && num.huisnummer === 2) return [{ ...num, ...ends }];
          if (num.postcode !== '1381GH') return [num];
          return [
            { ...num, ...ends },
            { ...num, ...begins, postcode: '9999ZZ' },
          ];
        }),
        ...NUM.filter(({ postcode }) => postcode === '1382LJ')
          .slice(0, 1)
          .map((num) => ({ ...num, identificatie: idOf('1382LJ 30'), huisnummer: 30, begin: to })),
      ],
    };
    const folder = bench.newFolder();
    const groups = mutationsBetween(voorkomensOf(january), after);
    await writeFile(join(folder, 'BAGNLDM-08012026-09012026.zip'), await writeMutationDelivery(from, to, groups));
    await writeFile(join(folder, 'BAGNLDM-09012026-10012026.zip'), await writeMutationDelivery(to, later, []));
    return folder;
  }

  it('ends like one that never died when it is run again', async () => {
    const mutations = [await deliveries()];
    const deaths = await sweep(
      {},
      (ports) => runLoad({ ...small, ...ports, mutations }),
      async (place) => {
        await runLoad({ ...small, ...place, mutations });
        await place.holds({ ...dayAfter, peildatum: later });
        expect((await runLoad({ ...small, ...place, mutations })).outcome).toBe('unchanged');
      },
    );
    expect(deaths).toBeGreaterThan(130);
  });
});

describe('a rollback that dies during apply', () => {
  it('ends like one that never died when it is requested again', async () => {
    const deaths = await sweep(
      { start: february, onlyApplying: true },
      (ports) => runLoad({ ...small, ...ports, rollback: january.peildatum }),
      async (place) => {
        await runLoad({ ...small, ...place, rollback: january.peildatum });
        await place.holds(january);
      },
    );
    expect(deaths).toBeGreaterThan(50);
  });
});

describe('a load that is suspended at any read or write from the start of apply on', () => {
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

  inSweep('changes nothing that another load has published in the meantime', async () => {
    let next = 1;
    let slept = 0;
    const work = async () => {
      for (let more = true; more; ) {
        const at = next;
        next += 4 * step; // the operations between two of them differ in nothing
        more = await sleepAt(at);
        if (more) slept++;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(slept).toBeGreaterThan(2);
    // One that had published before it slept ends well.
    expect([...ends].filter((end) => !['published', 'LockedError'].includes(end))).toEqual([]);
    expect(ends).toContain('LockedError');
  });
});
