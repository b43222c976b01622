import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { LoadReport } from '../../../loader/guard/load-report.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import {
  type MutationGroup,
  mutationsBetween,
  putDelivery,
} from '../../support/mutation-delivery.ts';
import { dateAfter, type RegisterDay } from '../../support/register.ts';
import type { OprStand, Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { type Dataset, startLoadBench } from './load-bench.ts';
import { Register, start } from './mutation-register.ts';

const bench = startForTests(startLoadBench);

/** A dataset that holds a state of a register, or its own state on a date. */
async function datasetOf(register: Register, date = start, state?: Voorkomens): Promise<Dataset> {
  const dataset = await bench.newDataset({ waiveSize: true });
  await dataset.load({
    source: await (state ? bench.extract(date, state) : register.extract(date)),
  });
  return dataset;
}

/** What the live snapshot was counted to have. */
async function publishedCounts({ storage }: Dataset) {
  const { nummeraanduidingen, addresses, lists, problemCounts } =
    (await readManifest(storage)).published ?? {};
  return { nummeraanduidingen, addresses, lists, problemCounts };
}

describe('days of mutations', () => {
  it('give a woonplaats the gemeente that it has after a merger, on the day that it begins and with what a day says', async () => {
    const register = new Register(bench, 11, 4);
    const jan = (day: number) => dateAfter(start, day);
    const [weesp, muiden] = register.first.WPL.map(({ identificatie }) => identificatie) as [
      string,
      string,
    ];
    const begin = '2010-01-01';
    const relaties = [
      { woonplaats: weesp, gemeente: '0457', begin, eind: jan(2) },
      { woonplaats: weesp, gemeente: '0363', begin: jan(2) },
      { woonplaats: muiden, gemeente: '0424', begin },
    ];
    const state = { ...register.first, relaties };
    const dataset = await datasetOf(register, start, state);
    const deliver = async (day: number, given?: typeof relaties) => {
      await putDelivery(register.mutations, jan(day - 1), jan(day), [], { relaties: given });
      return dataset.load({ mutations: [register.mutations] });
    };
    const gemeenten = async () => {
      const places = (await dataset.content()).flatMap(([, found]) => found);
      return Object.fromEntries(
        places.map(({ woonplaats, gemeente }) => [woonplaats, gemeente ?? null]),
      );
    };
    const extractOf = async (date: string, all: typeof relaties) =>
      (await datasetOf(register, date, { ...state, relaties: all })).content();
    const first = await gemeenten();
    expect(first).toMatchObject({ Weesp: '0457', Muiden: '0424', Amsterdam: null });
    const quiet = await deliver(1, relaties);
    expect(quiet.gemeenteChanged).toBe(0);
    expect(quiet.problemReport).toMatchObject({
      gemeente_missing: { count: 1 },
      gemeente_unknown: { count: 0 },
    });
    // Without the file of relations the ones that are known begin all the same.
    const merged = await deliver(2);
    expect(merged.gemeenteChanged).toBeGreaterThan(0);
    expect(merged.gemeenteChanged).toBeGreaterThanOrEqual(merged.changed - 2);
    expect(await gemeenten()).toEqual({ ...first, Weesp: '0363' });
    expect(await dataset.content()).toEqual(await extractOf(jan(2), relaties));
    const later = [...relaties, { woonplaats: '1014', gemeente: '9990', begin: jan(3) }];
    const named = await deliver(3, later);
    expect(named.problemReport).toMatchObject({
      gemeente_missing: { count: 0 },
      gemeente_unknown: { count: 1 },
    });
    expect(await gemeenten()).toEqual({ ...first, Weesp: '0363', Amsterdam: '9990' });
    expect(await dataset.content()).toEqual(await extractOf(jan(3), later));
    expect((await deliver(4, relaties)).outcome).toBe('published');
    expect(await gemeenten()).toEqual({ ...first, Weesp: '0363' });
  });

  it('choose again among the occurrences of an object when one of their streets changes, and count who loses a street', async () => {
    const register = new Register(bench, 11, 0);
    const [street, other, third] = register.first.OPR as [OprStand, OprStand, OprStand];
    const num = { identificatie: '0457200000000999', postcode: '1381AA', begin: '2015-01-01' };
    const nums = [
      { ...num, huisnummer: 70, begin: '2012-01-01', openbareRuimte: street.identificatie },
      { ...num, huisnummer: 72, volgnummer: 2, openbareRuimte: other.identificatie },
    ];
    const before = { ...register.first, NUM: [...register.first.NUM, ...nums] };
    const ended = { ...street, eind: '2026-01-09' };
    const renamed = { ...street, naam: 'Nieuwe Straat', begin: '2026-01-09', volgnummer: 2 };
    const OPR = [ended, renamed, other, { ...third, eind: '2026-01-09' }, ...before.OPR.slice(3)];
    const after = { ...before, OPR };
    await register.write(start, '2026-01-09', mutationsBetween(before, after));
    const dataset = await datasetOf(register, start, before);
    await dataset.load({ mutations: [register.mutations] });
    const expected = await datasetOf(register, '2026-01-09', after);
    expect(await dataset.content()).toEqual(await expected.content());
    expect(await publishedCounts(dataset)).toEqual(await publishedCounts(expected));
  });

  it('move an address to a segment without addresses on the day that an occurrence begins there', async () => {
    const register = new Register(bench, 11, 0);
    const [{ identificatie: openbareRuimte }] = register.first.OPR as [OprStand];
    const second = dateAfter(start, 1);
    const third = dateAfter(start, 2);
    const num = { identificatie: '0457200000000999', huisnummer: 70, openbareRuimte };
    const nums = [
      { ...num, postcode: '1381AA', begin: '2012-01-01', eind: third },
      { ...num, postcode: '5555XX', begin: third, volgnummer: 2 },
    ];
    const state = { ...register.first, NUM: [...register.first.NUM, ...nums] };
    const dataset = await datasetOf(register, start, state);
    for (const [before, day] of [
      [start, second],
      [second, third],
    ] as const) {
      await putDelivery(register.mutations, before, day, []);
      await dataset.load({ mutations: [register.mutations] });
    }
    const expected = await (await datasetOf(register, third, state)).content();
    expect(expected.map(([key]) => key)).toContain('5555XX#70#');
    expect(await dataset.content()).toEqual(expected);
  });

  it('need only the records that the snapshot names, whatever a killed process left beside them', async () => {
    const register = new Register(bench, 13, 2);
    await register.deliver();
    const storage = bench.newFolder();
    const dataset = await bench.newDataset({ storage, waiveSize: true });
    await dataset.load({ source: await register.extract() });
    const snapshot = join(
      storage,
      'snapshots',
      (await readdir(join(storage, 'snapshots')))[0] ?? '',
    );
    const dead = spawnSync(process.execPath, ['--version']).pid;
    const unfinished = `13.${dead}.00000000-0000-0000-0000-000000000000.part`;
    for (const folder of [snapshot, join(snapshot, 'nummeraanduidingen')]) {
      await writeFile(join(folder, unfinished), 'half');
    }
    const report = await dataset.load({ mutations: [register.mutations] });
    expect(report).toMatchObject({ outcome: 'published', peildatum: register.days.at(-1)?.date });
  });

  /** Changes of objects that the register does not have. */
  const foreign = () => {
    const groups = new Register(bench, 99, 8).days.flatMap((day) => day.groups);
    return groups.filter(({ changes }) => changes.some(({ was }) => was));
  };
  const cutOff = async (file: string) => writeFile(file, (await readFile(file)).subarray(0, 700));

  it.each<[string, string, (register: Register) => Promise<unknown>]>([
    [
      'a gap',
      'No mutations follow 2026-01-08: the next delivery',
      (register) => register.deliver(register.days.slice(1)),
    ],
    [
      'a delivery that spans the date',
      'spans that date',
      (register) => register.write('2026-01-07', '2026-01-10'),
    ],
    [
      'a delivery that is cut off',
      'BAGNLDM-08012026-09012026.zip',
      async (register) => {
        await register.deliver();
        await cutOff(join(register.mutations, 'BAGNLDM-08012026-09012026.zip'));
      },
    ],
    [
      'another delivery than its name says',
      'of 2026-01-08 to 2026-01-09 for the whole country, but its documents say of 2026-01-09 to 2026-01-10',
      (register) =>
        register.write('2026-01-09', '2026-01-10', [], { name: 'BAGNLDM-08012026-09012026.zip' }),
    ],
    [
      'an earlier reading that is not ours',
      'objects that BAGNLDM-08012026-09012026.zip changes do not match it',
      (register) => register.write('2026-01-08', '2026-01-09', foreign()),
    ],
  ])('stop at %s, with a named error, and change nothing', async (_, message, damage) => {
    const register = new Register(bench, 15, 3);
    const dataset = await datasetOf(register);
    const before = await dataset.content();
    await damage(register);
    await expect(dataset.load({ mutations: [register.mutations] })).rejects.toThrow(message);
    expect(await dataset.content()).toEqual(before);
  });

  const unusable: [
    what: string,
    message: string,
    plan: object,
    damage: (register: Register) => Promise<unknown>,
  ][] = [
    [
      'damaged',
      'BAGNLDM-10012026-11012026.zip',
      { stopped: expect.stringContaining('BAGNLDM-10012026-11012026.zip') },
      ({ mutations }) => cutOff(join(mutations, 'BAGNLDM-10012026-11012026.zip')),
    ],
    [
      'not about what we have',
      'objects that BAGNLDM-10012026-11012026.zip changes do not match it',
      { stopped: null, more: true },
      (register) => register.write('2026-01-10', '2026-01-11', foreign()),
    ],
  ];
  it.each(sweep(unusable, 1))(
    'before one that is %s are applied, and the error is reported',
    async (_, message, plan, damage) => {
      const register = new Register(bench, 15, 4);
      await register.deliver();
      const dataset = await datasetOf(register);
      await damage(register);
      const mutations = [register.mutations];
      expect(await dataset.load({ mutations, planOnly: true })).toMatchObject({
        peildatum: '2026-01-10',
        ...plan,
      });
      const published: LoadReport[] = [];
      const onPublished = (report: LoadReport) => published.push(report);
      await expect(dataset.load({ mutations, onPublished })).rejects.toThrow(message);
      expect(published).toMatchObject([{ peildatum: '2026-01-10', days: { length: 2 } }]);
      expect(await dataset.content()).toEqual(
        await (await datasetOf(register, '2026-01-10')).content(),
      );
      await register.deliver();
      expect(await dataset.load({ mutations })).toMatchObject({
        peildatum: '2026-01-12',
        stopped: null,
      });
      expect(await dataset.content()).toEqual(
        await (await datasetOf(register, '2026-01-12')).content(),
      );
    },
  );

  it('of the whole country change only the addresses of the loaded municipality', async () => {
    const register = new Register(bench, 21, 4);
    await register.deliver();
    const expected = await (await datasetOf(register, register.days.at(-1)?.date)).content();
    // The same objects under other identifications: of another municipality, which the extract does
    // not hold.
    const elsewhere = new Register(bench, 22, 4);
    const other = (groups: MutationGroup[]): MutationGroup[] =>
      JSON.parse(
        JSON.stringify(groups)
          .replaceAll('"0457', '"0999')
          .replaceAll(/"10(\d\d)"/g, '"20$1"'),
      );
    for (const [index, { date, groups }] of register.days.entries()) {
      const both = [...other(elsewhere.days[index]?.groups ?? []), ...groups];
      await register.write(dateAfter(date, -1), date, both);
    }
    const dataset = await bench.newDataset({ waiveSize: true });
    const source = await register.extract(start, { layout: 'municipality' });
    const report = await dataset.load({ source, mutations: [register.mutations] });
    expect(report).toMatchObject({ outcome: 'published', peildatum: register.days.at(-1)?.date });
    expect(await dataset.content()).toEqual(expected);
  });
});

describe('a full extract after days of mutations', () => {
  it('finds no difference if the days were applied correctly', async () => {
    const register = new Register(bench, 17, 6);
    await register.deliver();
    const dataset = await bench.newDataset({ waiveSize: true });
    await dataset.load({ source: await register.extract(), mutations: [register.mutations] });
    const before = await dataset.content();
    // It is published some days after its date, when later days have been applied already.
    const [, , third] = register.days.map(({ date }) => date);
    const report = await dataset.load({ source: await register.extract(third) });
    expect(report).toMatchObject({
      outcome: 'published',
      peildatum: register.days.at(-1)?.date,
      extractPeildatum: third,
      audit: { added: 0, changed: 0, removed: 0 },
    });
    expect(await dataset.content()).toEqual(before);
  });

  it.each([
    ['corrected', async () => undefined, true],
    ['replaced by a web page', async (file: string) => writeFile(file, '<!DOCTYPE html>'), false],
  ])(
    'is brought forward to the live date by the current list, if a delivery was %s',
    async (_, replace, isRight) => {
      const register = new Register(bench, 18, 6);
      const renumbers = ({ groups }: RegisterDay) =>
        groups.filter(({ kind }) => kind === 'NUM').length > 1;
      const at = register.days.findIndex((day, index) => index > 0 && renumbers(day));
      const [before, wrong] = register.days.slice(at - 1) as [RegisterDay, RegisterDay];
      await register.deliver(register.days.slice(0, at));
      const name = await register.write(before.date, wrong.date, []);
      const dataset = await bench.newDataset({ waiveSize: true });
      const mutations = [register.mutations];
      await dataset.load({ source: await register.extract(), mutations });
      const applied = await dataset.content();
      await register.deliver([wrong]);
      await replace(name);
      const report = await dataset.load({ source: await register.extract(before.date), mutations });
      expect(report).toMatchObject({
        outcome: 'published',
        peildatum: wrong.date,
        extractPeildatum: before.date,
      });
      const table = await (await datasetOf(register, wrong.date)).content();
      expect(applied).not.toEqual(table);
      expect(await dataset.content()).toEqual(isRight ? table : applied);
      const differences = Object.values(report.audit ?? {}).reduce((sum, count) => sum + count, 0);
      expect(differences > 0).toBe(isRight);
    },
  );
});

/** A national day as Kadaster delivered it. */
const day = new URL(
  '../../../../shared/bag-samples/weesp-0457/BAGNLDM-13112021-14112021.zip',
  import.meta.url,
).pathname;
const missing = existsSync(day) ? '' : ` (skipped: ${day} is missing)`;

const begin = '2010-06-01';

/**
 * A made-up country that has the four streets of the day's nummeraanduidingen, and the object that
 * it withdraws.
 */
const country: Voorkomens = {
  WPL: [
    { identificatie: '1398', naam: 'Plaats', begin },
    { identificatie: '1399', naam: 'Stad', begin },
  ],
  OPR: [
    { identificatie: '0072300000285330', naam: 'Eerste straat', woonplaats: '1398', begin },
    { identificatie: '0072300000285600', naam: 'Tweede straat', woonplaats: '1398', begin },
    { identificatie: '0091300000001225', naam: 'Derde straat', woonplaats: '1399', begin },
    { identificatie: '0091300000001227', naam: 'Vierde straat', woonplaats: '1399', begin },
  ],
  relaties: [
    { woonplaats: '1398', gemeente: '0765', begin: '2010-07-02' },
    // Another one than in the delivery, which has all relations too.
    { woonplaats: '1399', gemeente: '0091', begin: '2010-12-28' },
  ],
  NUM: [
    {
      identificatie: '0091200000050744',
      postcode: '8602AT',
      huisnummer: 26,
      openbareRuimte: '0091300000001227',
      begin,
    },
    {
      identificatie: '0072200000000001',
      postcode: '8862DP',
      huisnummer: 45,
      openbareRuimte: '0072300000285330',
      begin,
    },
  ],
};

(missing ? describe.skip : describe)(`the day of 13 November 2021${missing}`, () => {
  async function loadedCountry() {
    const dataset = await bench.newDataset();
    await dataset.load({ source: await bench.extract('2021-11-13', country) });
    return { dataset, content: async () => Object.fromEntries(await dataset.served()) };
  }

  const at = (straat: string, woonplaats: string, gemeente: string, id: string) => [
    { straat, woonplaats, gemeente, nummeraanduidingen: [id] },
  ];
  const before = {
    '8602AT#26#': at('Vierde straat', 'Stad', '0091', '0091200000050744'),
    '8862DP#45#': at('Eerste straat', 'Plaats', '0765', '0072200000000001'),
  };
  /**
   * The withdrawn object and its replacement share a key, so this address stays, with the id of the
   * other object.
   */
  const after = {
    ...before,
    '8602AT#26#': at('Vierde straat', 'Stad', '0340', '1900200010089007'),
    '8862DP#47#': at('Eerste straat', 'Plaats', '0765', '0072200000320755'),
    '8872NK#28#': at('Tweede straat', 'Plaats', '0765', '0072200000320756'),
    '8602AM#7#B': at('Derde straat', 'Stad', '0340', '1900200010089008'),
  };

  it('adds three addresses, and keeps the one whose object it replaces; back and forward again', async () => {
    const { dataset, content } = await loadedCountry();
    expect(await content()).toEqual(before);
    const report = await dataset.load({ mutations: [day] });
    expect(report).toMatchObject({
      peildatum: '2021-11-14',
      voorkomens: 6,
      added: 3,
      changed: 1,
      removed: 0,
    });
    expect(await content()).toEqual(after);
    await dataset.load({ rollback: '2021-11-13' });
    expect(await content()).toEqual(before);
    await dataset.load({ mutations: [day], again: true });
    expect(await content()).toEqual(after);
  });
});
