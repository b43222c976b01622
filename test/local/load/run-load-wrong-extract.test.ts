import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LoadReport } from '../../../loader/guard/load-report.ts';
import type { Objection } from '../../../loader/guard/objections.ts';
import { ExtractError } from '../../../loader/load-error.ts';
import { smallMunicipality } from '../../../tools/bench/generator/datasets.ts';
import { GuardedDataset } from '../../../tools/bench/generator/guarded.ts';
import { stateOfRows } from '../../../tools/bench/generator/rows.ts';
import {
  isWithinLimits,
  nameOfWrong,
  namesColumn,
  wrongChanges,
  wrongDatasets,
} from '../../../tools/bench/generator/wrong.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { mutationsBetween, putDelivery } from '../../support/mutation-delivery.ts';
import { dateAfter } from '../../support/register.ts';
import type { NumStand, Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import {
  type Change,
  gemeentenOf,
  nums,
  quarter,
  streets,
  threeTowns,
  townOfWeesp,
  withHalfOfObjects,
} from '../../support/town.ts';

const town = townOfWeesp();
const january = '2026-01-08';
const february = '2026-02-08';
const march = '2026-03-08';

const bench = startForTests(startLoadBench, 60_000);
let live: Dataset;

/** A dataset that holds this state, guarded by the defaults. */
async function datasetOf(state: Voorkomens, options: Parameters<typeof bench.newDataset>[0] = {}) {
  const dataset = await bench.newDataset(options);
  await dataset.load({ source: await bench.extract(january, state) });
  return dataset;
}

beforeAll(async () => {
  live = await datasetOf(town);
});

/** The plan of a dataset that is loaded with another state. */
const planOf = async (dataset: Dataset, state: Voorkomens): Promise<LoadReport> =>
  dataset.load({ planOnly: true, source: await bench.extract(february, state) });
const proposed = (change: Change) => planOf(live, change(town));

const count = town.NUM.length;
const streetOf = ({ openbareRuimte }: NumStand) => Number(openbareRuimte.slice(-4)) - 1;

const inStreet = (street: number, change: (num: NumStand) => Partial<NumStand> | null) =>
  nums((num) => (streetOf(num) === street ? change(num) : {}));
const withPlace = (
  state: Voorkomens,
  place: { identificatie: string; naam: string },
): Voorkomens => ({
  ...state,
  WPL: [
    ...state.WPL.filter((one) => one.identificatie !== place.identificatie),
    { ...place, begin: '2010-01-01' },
  ],
});

/** What is wrong, and what the operator reads of it. */
const wrong: [string, Change, string, RegExp][] = [
  [
    'without 4.9% of the addresses: whole quarters are gone',
    nums((_, i) => (i < count * 0.049 ? null : {})),
    'too_many_removed',
    /remove 581 of the 11,849 addresses in Weesp: 4\.9%, over the limit of 250, most on Straat 1 \(411\), .*, such as 13\d\d \w\w 1: .*, Weesp → -;/,
  ],
  [
    'with a huisletter for each number that has none',
    nums((num) => (num.huisletter ? {} : { huisletter: 'A' })),
    'too_many_toevoegingen',
    /change the huisletter or toevoeging of 10,\d+ of the 11,849 addresses: .*, such as (\d{4} [A-Z]{2} \d+) → \1 A;/,
  ],
  [
    'with 104 streets called XXXX',
    streets((naam, i) => (i >= 100 && i < 204 ? 'XXXX' : naam)),
    'too_many_straten',
    /change the straat of 4,\d+ of the 11,849 addresses: .*: Straat \d+ → XXXX;/,
  ],
  [
    'with 1000 added to 4.9% of the numbers',
    nums(({ huisnummer }, i) => (i % 20 === 0 ? { huisnummer: huisnummer + 1000 } : {})),
    'too_many_huisnummers',
    /change the huisnummer of 593 of the 11,849 addresses/,
  ],
  [
    'in which the only woonplaats has another name',
    (state) => withPlace(state, { identificatie: '1012', naam: 'Weesp aan de Vecht' }),
    'too_many_woonplaatsen',
    /change the woonplaats of 11,849 of the 11,849 addresses: .*: Weesp → Weesp aan de Vecht;/,
  ],
  [
    'in which the only gemeente has another code',
    (state) => ({
      ...state,
      relaties: [{ woonplaats: '1012', gemeente: '0363', begin: '2010-01-01' }],
    }),
    'too_many_gemeenten',
    /change the gemeente of 11,849 of the 11,849 addresses: .*: 0457 → 0363;/,
  ],
];

describe('days that withdraw 0.95% of the addresses each', () => {
  inSweep(
    'are stopped on the third, and the true extract after them needs no approval',
    async () => {
      const dataset = await datasetOf(town);
      const folder = bench.newFolder();
      let state = town;
      const outcomes: string[] = [];
      for (let day = 1; day <= 3; day++) {
        const vanaf = dateAfter(january, day - 1);
        const date = dateAfter(january, day);
        const next = nums((_, i) => (i % 105 === day ? { eind: date } : {}))(state);
        await putDelivery(folder, vanaf, date, mutationsBetween(state, next));
        state = next;
        const { outcome, objections } = await dataset.tried({ mutations: [folder] });
        outcomes.push(objections[0]?.message ?? outcome);
      }
      expect(outcomes).toEqual([
        'published',
        'published',
        expect.stringMatching(
          /^together with the days since 2026-01-08 it would remove 339 of the 11,623 addresses in Weesp: 2\.92%, over the limit of 250, most on /,
        ),
      ]);
      expect(await dataset.load({ source: await bench.extract(february, town) })).toMatchObject({
        outcome: 'published',
        approved: false,
        objections: [],
      });
    },
  );
});

describe('an extract of a town', () => {
  it.each(sweep(wrong, 1))(
    '%s is refused, and says where, how many and which',
    async (_, change, code, message) => {
      const { outcome, objections } = await proposed(change);
      expect(outcome).toBe('planned');
      const found = objections.filter((one) => one.code === code && message.test(one.message));
      expect(found.length > 0 || objections).toBe(true);
      for (const { examples } of found) expect(examples?.length).toBeGreaterThan(0);
    },
  );

  const healthy: [string, Change][] = [
    ['lost a block of 200 flats', nums((_, i) => (i >= 411 && i < 611 ? null : {}))],
    ['has a new quarter of 2,000 addresses', quarter(2_000)],
    ['numbers a street anew', inStreet(47, ({ huisnummer }) => ({ huisnummer: 2 * huisnummer }))],
    ['corrects the name of a street', streets((naam) => naam.replace('Israëls', 'Israels'))],
    ['gives a street another postcode', inStreet(60, () => ({ postcode: '1384ZZ' }))],
    [
      'counts flats by digits instead of letters',
      inStreet(0, (num) =>
        num.huisletter ? { huisletter: undefined, huisnummertoevoeging: `${num.huisnummer}` } : {},
      ),
    ],
    [
      'is that of an ordinary month',
      nums(({ huisnummer }, i) =>
        i % 400 === 7 ? null : i % 900 === 8 ? { huisnummer: huisnummer + 500 } : {},
      ),
    ],
  ];

  it.each(sweep(healthy, 1))('that %s is published without a question', async (_, change) => {
    const { outcome, objections } = await proposed(change);
    expect({ outcome, objections }).toEqual({ outcome: 'planned', objections: [] });
  });

  inSweep.each(sweep(wrong.slice(0, 4), 1))(
    '%s that was approved by mistake is put right by the next one, which needs no approval',
    async (_, change) => {
      const dataset = await datasetOf(town);
      const source = await bench.extract(february, change(town));
      const refused = await dataset.tried({ source });
      expect(refused).toMatchObject({ outcome: 'refused' });
      await dataset.load({ source, approve: refused.load ?? '' });
      expect(await dataset.load({ source: await bench.extract(march, town) })).toMatchObject({
        outcome: 'published',
        objections: [],
        approved: false,
      });
    },
  );
});

describe('an extract of a village with an error in one column', () => {
  const right = new GuardedDataset(smallMunicipality());
  const cases = wrongDatasets.filter(({ extent }) => extent !== 'one town');
  let dataset: Dataset;
  beforeAll(async () => {
    dataset = await datasetOf(stateOfRows(right.rows), { objecten: true });
  });

  it.each(sweep(cases, 3, 40).map((one) => [nameOfWrong(one), one] as const))(
    '%s is refused with a reason that names the column, unless it is within the limits',
    async (_, one) => {
      const changes = wrongChanges(right, one);
      if (!changes) return;
      const rows = right.rows.map((row, i) => changes.at.get(i) ?? row);
      let objections: Objection[];
      try {
        ({ objections } = await planOf(dataset, stateOfRows(rows)));
      } catch (error) {
        // A value that the schema lacks is refused before anything is compared, and so is an
        // extract without any object, if each names a hoofdadres that does not exist.
        if (!(error instanceof ExtractError)) throw error;
        expect(error.message.toLowerCase()).toMatch(
          new RegExp(`${one.column}|has no member 9999vbo`),
        );
        return;
      }
      if (objections.length === 0) expect(isWithinLimits(one, right, changes)).toBe(true);
      else {
        expect(namesColumn(one, { objections }) || objections).toBe(true);
      }
    },
  );
});

describe('an extract of three towns, each in a gemeente of its own, with the objects of addresses', () => {
  const towns = threeTowns();

  it('with a woonplaats of a gemeente that keeps another one is refused once it moves', async () => {
    const two = gemeentenOf((i) => [0, 0, 2][i] ?? i);
    const moved = await planOf(await datasetOf(two(towns), { objecten: true }), towns);
    expect(moved.objections.map(({ code, place, count }) => [code, place, count])).toEqual([
      ['too_many_gemeenten', undefined, 600],
      ['too_many_gemeenten', 'Plaats 1013', 600],
      ['too_many_gemeenten', 'gemeente 0457', 600],
    ]);
  });

  it.each(sweep([withHalfOfObjects, (all: typeof towns) => all], 1))(
    'is weighed by the addresses without an object when these are turned on, and not by their number',
    async (change) => {
      const { VBO: _, LIG: __, STA: ___, ...bare } = towns;
      const source = await bench.extract(february, change(towns));
      const turnOn = { planOnly: true, objecten: true, source };
      const { objections } = await (await datasetOf(bare)).load(turnOn);
      const isWhole = change(towns).VBO?.length === towns.VBO?.length;
      expect(objections.map(({ code }) => code)).toEqual(
        isWhole ? [] : expect.arrayContaining(['too_few_objects']),
      );
      // So is a first load.
      const first = await (await bench.newDataset()).load(turnOn);
      expect(first.objections.length > 0).toBe(!isWhole);
    },
  );
});
