import { describe, expect, it } from '@jest/globals';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import {
  february,
  january,
  type Month,
  march,
  stateBetween,
  tableOf,
  voorkomensOf,
} from '../../loader/steps/months.ts';
import { watched } from '../../loader/steps/watched.ts';
import { mutationsBetween, putDelivery } from '../../support/mutation-delivery.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';

/** Two files of nummeraanduidingen, so that there is something to die between. */
const bench = startForTests(() => startLoadBench({ packing: { perFile: 8 } }));

/**
 * Small everything, and always the same owner: its lock does not stand in the way of the next try.
 * Transactions, so that a write carries the proof of its lock however soon another load has taken
 * it.
 */
const small = { owner: 'sweep', sliceBytes: 1, changesPerFile: 2, keep: 2, transactions: true };

async function expectHolds(dataset: Dataset, month: Month): Promise<void> {
  expect(await dataset.served()).toEqual(tableOf(month));
  expect(await dataset.addresses.dataset()).toMatchObject({ peildatum: month.peildatum });
}

/** Of the places that deaths leave, every how many-th is tried. */
const step = isFullSweep ? 1 : 8;

/**
 * Loads onto January (or another `start`), and does `then` on each of the datasets that it would
 * have left behind if it had been killed at any of its reads and writes. Two deaths with no write
 * between them leave the same dataset, which is tried once. Returns the number of deaths.
 */
async function sweep(
  { start = [january], onlyApplying = false }: { start?: Month[]; onlyApplying?: boolean },
  request: Parameters<Dataset['load']>[0],
  then: (left: Dataset) => Promise<void>,
): Promise<number> {
  const dataset = await bench.after(start, small);
  const left: Dataset[] = [];
  let deaths = 0;
  let states = 0;
  const ports = watched(dataset.storage, dataset.addresses, async ({ isApplying, hasWritten }) => {
    if (onlyApplying && !isApplying) return;
    deaths++;
    if ((hasWritten || states === 0) && states++ % step === 0) left.push(await dataset.copy());
  });
  await dataset.load({ ...ports, ...request });
  await forEachConcurrently(left, 4, then);
  return deaths;
}

/**
 * January a day later: the addresses of a street get another one, an address has gone, one is new,
 * and one has moved to another segment.
 */
const dayAfter: Month = {
  peildatum: '2026-01-09',
  addresses: [
    ...january.addresses.flatMap(([address, straat, woonplaats]): Month['addresses'] => {
      if (address === '2513AA 2') return [];
      const moved = address === '1381GH 3' ? '9999ZZ 3' : address;
      return [[moved, straat === 'Buitenveer' ? 'Binnenveer' : straat, woonplaats, address]];
    }),
    ['1382LJ 30', 'Nijverheidslaan', 'Weesp'],
  ],
};
const quietDay: Month = { ...dayAfter, peildatum: '2026-01-10' };

/** The folder with that day, and a second one that says nothing. */
async function deliveries(): Promise<string[]> {
  const folder = bench.newFolder();
  const groups = mutationsBetween(voorkomensOf(january), stateBetween(january, dayAfter));
  await putDelivery(folder, january.peildatum, dayAfter.peildatum, groups);
  await putDelivery(folder, dayAfter.peildatum, quietDay.peildatum);
  return [folder];
}

describe('a load that dies at any read or write', () => {
  const rollback = january.peildatum;
  const start = [january, february];
  type Request = Parameters<Dataset['load']>[0];
  it.each<
    [string, Parameters<typeof sweep>[0], () => Promise<Request>, Request | null, Month, number]
  >([
    ['an extract', {}, async () => ({ month: february }), null, february, 140],
    ['mutations', {}, async () => ({ mutations: await deliveries() }), null, quietDay, 130],
    [
      'a rollback, during apply',
      { start, onlyApplying: true },
      async () => ({ rollback }),
      null,
      january,
      50,
    ],
    [
      'an extract, during apply',
      { onlyApplying: true },
      async () => ({ month: february }),
      { month: march },
      march,
      50,
    ],
  ])(
    'of %s, ends like one that never died when it is run again, or the next one is',
    async (_, options, make, other, month, least) => {
      const request = await make();
      const next = other ?? request;
      const deaths = await sweep(options, request, async (left) => {
        await left.load(next);
        await expectHolds(left, month);
        expect((await left.load(next)).outcome).toBe('unchanged');
      });
      expect(deaths).toBeGreaterThan(least);
    },
  );
});
