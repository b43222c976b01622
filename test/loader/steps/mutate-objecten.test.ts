import { describe, expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import { unpackRecords } from '../../../loader/register/rows.ts';
import { linesOf } from '../../../loader/register/stored-form.ts';
import { getUnpacked, type Storage } from '../../../loader/storage/storage.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import { recordKeys } from '../../../loader/storage/stored-register.ts';
import type {
  AdresseerbaarStand,
  Historie,
  NumStand,
  VboStand,
  Voorkomens,
} from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';
import { type Dataset, startLoadBench } from './load-bench.ts';
import { Register } from './mutation-register.ts';

const bench = startForTests(startLoadBench);

/** In a made-up register a share of all addresses has problems, or no object. */
const withObjecten = {
  objecten: true,
  waiveSize: true,
  thresholds: { ...localGuardDefaults, maximumProblemShare: 1, maximumObjectShare: 1 },
};

/** Every record that is stored with the live snapshot, whatever its bucket. */
async function recordsIn(storage: Storage): Promise<string[]> {
  const { published } = await readManifest(storage);
  const records: string[] = [];
  for (const key of published ? recordKeys(published.snapshot) : []) {
    records.push(...linesOf((await getUnpacked(storage, key, unpackRecords)).subarray(0, -1)));
  }
  return records.sort();
}

/** The same, and what was counted. */
async function storedWith({ storage }: Dataset) {
  const { nummeraanduidingen, problemCounts, objecten } =
    (await readManifest(storage)).published ?? {};
  return { records: await recordsIn(storage), nummeraanduidingen, problemCounts, objecten };
}

/**
 * The occurrence of each object that counts on a date: of several the last to begin, then the
 * highest number.
 */
function currentOf<T extends Historie & { identificatie: string }>(
  all: readonly T[],
  date: string,
): Map<string, T> {
  const counts = all.filter(
    ({ begin, eind, live = true, tijdstipInactief }) =>
      live && begin <= date && (eind === undefined || eind > date) && !tijdstipInactief,
  );
  const order = (one: T) => `${one.begin} ${String(one.volgnummer ?? 1).padStart(3, '0')}`;
  return new Map(
    counts.sort((a, b) => (order(a) < order(b) ? -1 : 1)).map((one) => [one.identificatie, one]),
  );
}

const keyOf = ({ postcode, huisnummer, huisletter = '', huisnummertoevoeging = '' }: NumStand) =>
  `${postcode}#${huisnummer}#${`${huisletter}${huisnummertoevoeging}`.toUpperCase()}`;

/** What the addresses of a register have of its objects, by key, straight from its occurrences. */
function modelOf(
  { NUM, VBO = [], LIG = [], STA = [] }: Voorkomens,
  date: string,
): Record<string, string[]> {
  const nums = [...currentOf(NUM, date).values()].filter(({ postcode }) => postcode);
  const objects = [VBO, LIG, STA].flatMap((all) => [
    ...currentOf<AdresseerbaarStand>(all, date).values(),
  ]);
  const model: Record<string, string[]> = {};
  for (const [key, ofKey] of Map.groupBy(nums, keyOf)) {
    const ids = ofKey.map(({ identificatie }) => identificatie);
    model[key] = objects
      .filter(({ hoofdadres, nevenadressen = [] }) =>
        [hoofdadres, ...nevenadressen].some((id) => ids.includes(id)),
      )
      .map((one) => {
        const { punt, oppervlakte } = one as Partial<VboStand>;
        const [x, y] = (punt ?? '').split(' ').map(Number);
        return [
          one.identificatie,
          ids.includes(one.hoofdadres),
          oppervlakte,
          punt && `${x} ${y}`,
        ].join(' ');
      })
      .sort();
  }
  return model;
}

/** The same of what is in a table; the model does not have the places of a key apart. */
function found(content: Awaited<ReturnType<Dataset['content']>>) {
  const texts = content.map(([key, places]) => {
    const byId = new Map(
      places
        .flatMap(({ objecten = [] }) => objecten)
        .sort((a, b) => Number(a.hoofdadres) - Number(b.hoofdadres))
        .map(({ identificatie, hoofdadres, oppervlakte, locatie: { x, y } }) => {
          const text = [identificatie, hoofdadres, oppervlakte, oppervlakte && `${x} ${y}`].join(
            ' ',
          );
          return [identificatie, text] as const;
        }),
    );
    return [key, [...byId.values()].sort()] as const;
  });
  return Object.fromEntries(texts);
}

describe('days of mutations of a dataset with objects', () => {
  it.each(isFullSweep ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [1])(
    'give the objects of a model, and exactly what the extract of each day gives (%i)',
    async (seed) => {
      const register = new Register(bench, seed, isFullSweep ? 20 : 3, 40, true);
      const dataset = await bench.newDataset(withObjecten);
      await dataset.load({ source: await register.extract() });
      let made: unknown;
      for (const day of register.days) {
        await register.deliver([day]);
        const report = await dataset.load({ mutations: [register.mutations] });
        expect(report).toMatchObject({
          outcome: 'published',
          peildatum: day.date,
          setAside: { count: 0 },
        });
        const expected = await bench.newDataset(withObjecten);
        await expected.load({ source: await register.extract(day.date) });
        const table = await dataset.content();
        const model = modelOf(day.state, day.date);
        // An address whose street or place is not there is in no table.
        const keys = new Set(table.map(([key]) => key));
        for (const key of Object.keys(model)) if (!keys.has(key)) delete model[key];
        expect(found(table)).toEqual(model);
        made = { table, ...(await storedWith(dataset)) };
        expect(made).toEqual({ table: await expected.content(), ...(await storedWith(expected)) });
      }
      // The extract and all of its days in one load.
      const report = await dataset.load({ source: await register.extract(), again: true });
      expect(report).toMatchObject({
        outcome: 'published',
        kind: 'extract',
        added: 0,
        changed: 0,
        removed: 0,
      });
      expect({ table: await dataset.content(), ...(await storedWith(dataset)) }).toEqual(made);
    },
  );
});
