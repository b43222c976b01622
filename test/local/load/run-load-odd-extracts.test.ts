import { describe, expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { streetsOf } from '../../support/town.ts';
import type { Packing } from '../../support/write-extract.ts';

const bench = startForTests(startLoadBench);

const begin = '2010-01-01';
const start = '2026-01-08';
const later = '2026-02-08';
const place = '3631';

/** One street with so many addresses, without objects. */
function streetOf(count: number): Voorkomens {
  const { VBO: _, LIG: __, STA: ___, ...bare } = streetsOf(count);
  return bare;
}

/** A dataset of 1,000 addresses. */
async function loaded(packing: Packing = {}) {
  const dataset = await bench.newDataset();
  await dataset.load({ source: await bench.extract(start, streetOf(1000), packing) });
  return dataset;
}

describe('an extract of another area', () => {
  const areas = { municipality: 'municipality 0457', national: 'the whole country' };
  const pairs = [
    ['municipality', 'national'],
    ['national', 'municipality'],
  ] as const;
  it.each(sweep(pairs, 1))(
    'is refused however little it changes, until it is approved: %s after %s',
    async (layout, live) => {
      const message = `the extract is of ${areas[layout]}, and the live dataset of ${areas[live]}`;
      const dataset = await loaded({ layout: live });
      const refused = await dataset.tried({
        source: await bench.extract(later, streetOf(970), { layout }),
      });
      expect(refused).toMatchObject({
        outcome: 'refused',
        audit: null,
        objections: [{ code: 'other_area', message }],
      });
      expect(await dataset.content()).toHaveLength(1000);
      const approved = await dataset.load({ approve: refused.load ?? '' });
      expect(approved).toMatchObject({ outcome: 'published', addresses: 970 });
    },
  );
});

describe('an extract that is not whole', () => {
  const twice = (of: Voorkomens): Voorkomens => ({
    ...streetOf(1000),
    NUM: [1, 2].flatMap(() => of.NUM),
  });
  it.each<[string, Voorkomens, Packing, string, RegExp]>([
    [
      'last file is full, as if one after it were missing',
      streetOf(10_000),
      {},
      'last_file_full',
      /./,
    ],
    ['occurrences are there twice', twice(streetOf(1000)), {}, 'repeated_occurrences', /./],
    [
      'file is a copy of another',
      twice(streetOf(500)),
      { perFile: 500 },
      'duplicate_member',
      /holds 9999NUM08022026-000002.xml, which is a copy of 9999NUM08022026-000001.xml/,
    ],
  ])('is refused: one whose %s', async (_, state, packing, code, message) => {
    const thresholds = { ...localGuardDefaults, alwaysAllowed: 1e6 };
    const source = await bench.extract(later, state, packing);
    const tried = await (await loaded()).tried({ thresholds, source });
    const found = 'code' in tried ? [tried] : tried.objections;
    expect(found).toContainEqual(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});

describe('an extract that was zipped again', () => {
  it('is the same one, live or rejected', async () => {
    const dataset = await loaded();
    const load = async (date: string, state: Voorkomens, packing: Packing = {}) =>
      dataset.tried({ source: await bench.extract(date, state, packing) });
    const again: Packing = { inner: 'deflated', zip64: true, reversed: true };
    expect(await load(start, streetOf(1000), again)).toMatchObject({
      outcome: 'unchanged',
      isSkipped: false,
    });
    const refused = await load(later, streetOf(400));
    expect(await load(later, streetOf(400), again)).toMatchObject({
      outcome: 'refused',
      load: refused.load,
    });
    await dataset.load({ reject: refused.load ?? '' });
    expect(await load(later, streetOf(400))).toMatchObject({
      outcome: 'unchanged',
      isSkipped: true,
    });
    expect(await load(later, streetOf(400), again)).toMatchObject({
      outcome: 'unchanged',
      isSkipped: true,
    });
    expect(await load(later, streetOf(990), again)).toMatchObject({ outcome: 'published' });
  });
});

describe('an address with more objects than an item of the table can hold', () => {
  /** The XSDs allow any text. Short ones would take five times as many objects. */
  const longUse = 'a use of some length '.repeat(6).trim();
  const withObjects = (count: number): Voorkomens => ({
    ...streetOf(1000),
    LIG: [],
    STA: [],
    VBO: Array.from({ length: count }, (_, index) => ({
      identificatie: `04570100${String(index).padStart(8, '0')}`,
      hoofdadres: '0457200000000001',
      begin,
      punt: '131000.25 480000.75',
      oppervlakte: 85,
      gebruiksdoelen: [longUse],
    })),
  });
  const reason = expect.objectContaining({
    code: 'item_too_large',
    message: expect.stringMatching(/^the item of 1381 AA 1 would have 4\d\d,\d{3} bytes/),
    examples: ['1381 AA 1'],
  });

  it('refuses the load before its first write, whatever is live, and every way out of it works', async () => {
    const thresholds = { ...localGuardDefaults, maximumObjectShare: 1 };
    const dataset = await bench.newDataset({ objecten: true, waiveSize: true, thresholds });
    const load = async (date: string, state: Voorkomens) =>
      dataset.tried({ source: await bench.extract(date, state) });
    expect(await load(start, withObjects(1_900))).toMatchObject({
      outcome: 'refused',
      objections: [reason],
    });
    expect(await dataset.content()).toEqual([]);
    expect(await load(start, withObjects(2))).toMatchObject({
      outcome: 'published',
      addresses: 1000,
    });

    const refused = await load(later, withObjects(1_900));
    expect(refused).toMatchObject({
      outcome: 'refused',
      objections: expect.arrayContaining([reason]),
    });
    const approved = await dataset.load({ approve: refused.load ?? '' }).catch((error) => error);
    expect(approved.report).toMatchObject({
      outcome: 'refused',
      objections: expect.arrayContaining([reason]),
    });
    expect(approved.message).not.toContain('approve');
    expect(await dataset.load({ reject: refused.load ?? '' })).toMatchObject({
      outcome: 'rejected',
    });
    expect(await load('2026-03-08', withObjects(1))).toMatchObject({ outcome: 'published' });
  });
});

describe('a street and a place with two current occurrences', () => {
  it('have the name of the one that began last, and the others are problems', async () => {
    const { NUM, OPR, WPL } = streetOf(1);
    const renamed = <T>(one: T) => [{ ...one, naam: 'Nieuw', begin: '2020-01-01' }, one];
    const dataset = await bench.newDataset();
    const state = { NUM, OPR: OPR.flatMap(renamed), WPL: WPL.flatMap(renamed) };
    const { problemReport } = await dataset.load({ source: await bench.extract(start, state) });
    expect(await dataset.content()).toMatchObject([
      ['1381AA#1#', [{ straat: 'Nieuw', woonplaats: 'Nieuw' }]],
    ]);
    const examples = [{ identificatie: OPR[0]?.identificatie }, { identificatie: place }];
    expect(problemReport?.several_current).toMatchObject({ count: 2, examples });
  });
});

describe('relations of woonplaatsen that are in two gemeenten', () => {
  const relatie = (woonplaats: string, gemeente: string) => ({ woonplaats, gemeente, begin });
  const doubled = (woonplaats: string) => [
    relatie(woonplaats, '0457'),
    relatie(woonplaats, '0363'),
  ];
  const of = async (relaties: ReturnType<typeof relatie>[]) =>
    (await bench.newDataset()).load({
      source: await bench.extract(start, { ...streetOf(1), relaties }),
    });

  it('are a problem of the dataset that has them, and of no other', async () => {
    const elsewhere = Array.from({ length: 59 }, (_, i) => doubled(`${1000 + i}`)).flat();
    expect(await of([relatie(place, '0457'), ...elsewhere])).toMatchObject({
      outcome: 'published',
      problems: 0,
    });
    expect(await of([...doubled(place), ...elsewhere])).toMatchObject({
      outcome: 'published',
      problems: 1,
      problemReport: { several_current: { count: 1, examples: [{ identificatie: place }] } },
    });
  });
});
