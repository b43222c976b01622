import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LoadReport } from '../../../loader/verdict/load-report.ts';
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
  wrongObjects,
  wrongs,
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
  // Those that were published without a question.
  [
    'without 4.9% of the addresses: whole quarters are gone',
    nums((_, i) => (i < count * 0.049 ? null : {})),
    'too_many_removed',
    /remove 581 addresses where 11,\d+ are live in Weesp: 4\.9%, .* 2%, such as Straat 1, Weesp \(411\); .*; 1381 AB 1;/,
  ],
  [
    'without any toevoeging',
    wrongs.withoutToevoegingen,
    'too_many_toevoegingen_lost',
    /take the toevoeging off/,
  ],
  [
    'encoded twice',
    wrongs.encodedTwice,
    'too_many_names_garbled',
    /put characters that no name has into .* of \d+ add/,
  ],
  [
    'with streets XXXX',
    wrongs.calledXxxx,
    'too_many_streets_changed',
    /104 streets in Weesp, over the limit of 25/,
  ],
  [
    'with 1000 added to 4.9% of the numbers',
    wrongs.withHigherNumbers,
    'too_many_renumbered',
    /postcode of 5\d\d addr/,
  ],
  // Others.
  [
    'without accents',
    wrongs.withoutAccents,
    'too_many_names_garbled',
    /change the special letters in the names of/,
  ],
  [
    'with another id for each address',
    wrongs.withOtherIds,
    'too_many_changed',
    /change 11,\d+ addresses/,
  ],
  [
    'without the largest street',
    inStreet(0, () => null),
    'too_many_removed',
    /remove 411 addresses in Straat 1, Weesp/,
  ],
  [
    'with 6,000 addresses that are none',
    quarter(6_000),
    'too_many_added',
    /6,000 .* 5\d\.\d%, over the limit of 50%/,
  ],
  [
    'in which a third of the addresses went to another woonplaats',
    (state) =>
      withPlace(wrongs.inAnotherWoonplaats(state), { identificatie: '1013', naam: 'Muiden' }),
    'too_many_changed',
    /change the woonplaats of 3,\d+ addresses/,
  ],
  [
    'without a gemeente',
    wrongs.withoutGemeente,
    'too_many_changed',
    /take the gemeente off 11,\d+ addresses/,
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
          /^together with the days since 2026-01-08 it would remove 339 addresses where 11,623 are live in Weesp: 2\.9%, over the limit of 2%, such as /,
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

  const healthy: [string, Change, string[]][] = [
    ['lost a block of 200 flats', nums((_, i) => (i >= 411 && i < 611 ? null : {})), []],
    [
      'renames it',
      (state) => withPlace(state, { identificatie: '1012', naam: 'Weesp aan de Vecht' }),
      [`the register renames Weesp to Weesp aan de Vecht, which is one change: `],
    ],
    [
      'gives it to another gemeente on 1 January, with 20 streets renamed',
      (state) => ({
        ...streets((naam, i) => (i >= 100 && i < 120 ? `Oude ${naam}` : naam))(state),
        relaties: [{ woonplaats: '1012', gemeente: '0363', begin: '2010-01-01' }],
      }),
      ['gemeente 0457 becomes part of gemeente 0363, which is one change: '],
    ],
    ['has a new quarter of 2,000 addresses', quarter(2_000), []],
    [
      'numbers a street anew',
      inStreet(47, ({ huisnummer }) => ({ huisnummer: 2 * huisnummer })),
      [],
    ],
    ['corrects the name of a street', streets((naam) => naam.replace('Israëls', 'Israels')), []],
    ['gives a street another postcode', inStreet(60, () => ({ postcode: '1384ZZ' })), []],
    [
      'counts flats by digits instead of letters',
      inStreet(0, (num) =>
        num.huisletter ? { huisletter: undefined, huisnummertoevoeging: `${num.huisnummer}` } : {},
      ),
      [],
    ],
    [
      'is that of an ordinary month',
      nums(({ huisnummer }, i) =>
        i % 400 === 7 ? null : i % 900 === 8 ? { huisnummer: huisnummer + 500 } : {},
      ),
      [],
    ],
  ];

  it.each(sweep(healthy, 1))(
    'that %s is published without a question',
    async (_, change, notes) => {
      const { outcome, objections, notes: said } = await proposed(change);
      expect({ outcome, objections }).toEqual({ outcome: 'planned', objections: [] });
      expect(said).toEqual(notes.map((note) => expect.stringContaining(note)));
    },
  );

  inSweep.each(sweep([wrong[3], wrong[0], wrong[1], wrong[4]] as typeof wrong, 1))(
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

describe('an extract of three towns, each in a gemeente of its own, with the objects of addresses', () => {
  const towns = threeTowns();
  let dataset: Dataset;
  beforeAll(async () => {
    dataset = await datasetOf(towns, { objecten: true });
  });

  const cases: [string, Change, string, RegExp][] = [
    [
      'every oppervlakte 1',
      wrongObjects.ofOneSquareMetre,
      'too_many_objects_changed',
      /oppervlakte of the objects of/,
    ],
    [
      'the next gebruiksdoel',
      wrongObjects.usedAsTheNextKind,
      'too_many_objects_changed',
      /gebruiksdoelen of the obj/,
    ],
    [
      'every status "gevormd"',
      wrongObjects.allGevormd,
      'too_many_objects_changed',
      /status of the objects of/,
    ],
    [
      'coordinates 45 m off',
      wrongObjects.movedBy45Metres,
      'too_many_objects_changed',
      /location of the objects of/,
    ],
    [
      'values of the neighbour',
      wrongObjects.ofTheNeighbour,
      'too_many_objects_changed',
      /oppervlakte of the objects/,
    ],
    [
      'no ligplaats',
      wrongObjects.withoutLigplaatsen,
      'too_many_objects_lost',
      /take the ligplaats from 30 addresses/,
    ],
    [
      'no standplaats',
      wrongObjects.withoutStandplaatsen,
      'too_many_objects_lost',
      /standplaats from 30 addresses/,
    ],
    [
      'ligplaatsen as standplaatsen',
      wrongObjects.asStandplaatsen,
      'too_many_objects_lost',
      /the ligplaats from 30 add/,
    ],
    [
      'every object twice',
      wrongObjects.twice,
      'too_many_objects_changed',
      /add objects to 1,7\d\d addresses/,
    ],
    [
      'half of the objects',
      wrongObjects.withHalf,
      'too_many_objects_lost',
      /take an object from 8\d\d addresses/,
    ],
  ];

  it.each(sweep(cases, 2))(
    'with %s is refused, and says what of how many',
    async (_, change, code, message) => {
      const { objections } = await planOf(dataset, change(towns));
      const found = objections.filter((one) => one.code === code && message.test(one.message));
      expect(found.length > 0 || objections).toBe(true);
    },
  );

  it('with a woonplaats of a gemeente that keeps another one is refused once it moves', async () => {
    const two = gemeentenOf((i) => [0, 0, 2][i] ?? i);
    const moved = await planOf(await datasetOf(two(towns), { objecten: true }), towns);
    expect(moved.objections).toMatchObject([
      { code: 'too_many_changed' },
      { place: 'Plaats 1013', count: 600 },
    ]);
  });

  it.each(sweep([wrongObjects.withHalf, (all: typeof towns) => all], 1))(
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
