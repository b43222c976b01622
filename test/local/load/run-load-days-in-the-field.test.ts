import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { LoadReport } from '../../../loader/guard/load-report.ts';
import { localGuardDefaults } from '../../../loader/names.ts';
import { paths } from '../../../loader/storage/storage.ts';
import { refusedProposals } from '../../../loader/storage/stored-loads.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import { Register, start } from '../../loader/steps/mutation-register.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { deliveryName, mutationsBetween, putDelivery } from '../../support/mutation-delivery.ts';
import { dateAfter, type RegisterDay } from '../../support/register.ts';
import type { NumStand, OprStand, Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startLoadBench);

const jan9 = '2026-01-09';
const jan10 = '2026-01-10';
const jan11 = '2026-01-11';
const jan12 = '2026-01-12';

/** A register whose first state is loaded, and `run`, which applies what its folder holds. */
async function loadedRegister(seed: number, count: number, objects?: number) {
  const register = new Register(bench, seed, count, objects);
  const dataset = await bench.newDataset({ waiveSize: true });
  await dataset.load({ source: await register.extract() });
  const run = (more: Parameters<Dataset['load']>[0] = {}) =>
    dataset.load({ mutations: [register.mutations], ...more });
  return { register, dataset, content: () => dataset.content(), run };
}

/** What the table holds after the extract of a date alone. */
async function tableOf(register: Register, date: string) {
  const dataset = await bench.newDataset({ waiveSize: true });
  await dataset.load({ source: await register.extract(date) });
  return dataset.content();
}

describe('a delivery', () => {
  it('of several days is used where the days are damaged, and one into the future is not', async () => {
    const { register, content, run } = await loadedRegister(17, 3);
    const [, second] = register.days as [RegisterDay, RegisterDay];
    await register.deliver();
    await writeFile(join(register.mutations, deliveryName(jan9, jan10)), 'damaged');
    await register.write(start, jan10, mutationsBetween(register.first, second.state));
    const future = dateAfter(new Date().toISOString().slice(0, 10), 40);
    await register.write(start, future);
    expect(await run()).toMatchObject({
      days: [deliveryName(start, jan10), deliveryName(jan10, jan11)],
      notes: [deliveryName(start, future), deliveryName(jan9, jan10)].map((name) =>
        expect.stringContaining(`instead: ${name}`),
      ),
    });
    expect(await content()).toEqual(await tableOf(register, jan11));
  });

  it('is read from the source that has it, if another one is down or has it damaged', async () => {
    const { register, content, run } = await loadedRegister(15, 2);
    await register.deliver();
    const mirror = join(register.mutations, '..', 'mirror');
    await mkdir(mirror);
    await copyFile(
      join(register.mutations, deliveryName(start, jan9)),
      join(mirror, deliveryName(start, jan9)),
    );
    await writeFile(join(register.mutations, deliveryName(start, jan9)), '<!DOCTYPE html>');
    const gone = join(mirror, 'gone.json');
    const report = await run({ mutations: [gone, register.mutations, mirror] });
    expect(report).toMatchObject({
      peildatum: jan10,
      notes: expect.arrayContaining([expect.stringContaining(gone)]),
    });
    expect(await content()).toEqual(await tableOf(register, jan10));
  });
});

/** Days of a register of 200 objects: on the second, all places get the same name. */
async function registerWithLargeDay() {
  const register = new Register(bench, 16, 0, 200);
  const { first } = register;
  const renamed = first.WPL.map((place) => ({ ...place, naam: 'Weesp aan Zee' }));
  const large = mutationsBetween(first, { ...first, WPL: renamed });
  await register.write(start, jan9);
  await register.write(jan9, jan10, large);
  await register.write(jan10, jan11);
  await register.write(jan11, jan12);
  const thresholds = { ...localGuardDefaults, alwaysAllowed: 20, maximumProblemShare: 1 };
  const dataset = await bench.newDataset({ thresholds });
  await dataset.load({ source: await register.extract() });
  const load = (more: Parameters<Dataset['load']>[0] = {}) =>
    dataset
      .load({ mutations: [register.mutations], ...more })
      .catch(({ report }: { report: LoadReport }) => report);
  return { register, dataset, load };
}

/** The ids of the stored snapshots. */
const snapshotsIn = async ({ storage }: Dataset) => [
  ...new Set((await storage.list(paths.snapshots)).map((key) => key.split('/')[1])),
];

describe('a day that changes too much', () => {
  it('is refused by itself, after the days before it, however many quiet days follow, until it is approved', async () => {
    const { register, dataset, load } = await registerWithLargeDay();
    const { storage } = dataset;
    const published: LoadReport[] = [];
    const onPublished = (report: LoadReport) => published.push(report);
    const refused = await load({ onPublished });
    expect(published).toMatchObject([{ peildatum: jan9, more: true }]);
    expect(refused).toMatchObject({ outcome: 'refused', days: [deliveryName(jan9, jan10)] });
    await register.write(jan12, dateAfter(jan12, 1));
    expect(await load({ onPublished })).toMatchObject({ load: refused.load });
    expect(await refusedProposals(storage)).toMatchObject([
      { load: refused.load, peildatum: jan10 },
    ]);
    const plan = await load({ planOnly: true });
    expect(plan).toMatchObject({ load: refused.load, days: [deliveryName(jan9, jan10)] });
    expect(await snapshotsIn(dataset)).toHaveLength(3);
    const approved = await load({ approve: refused.load ?? '' });
    expect(approved).toMatchObject({ outcome: 'published', peildatum: dateAfter(jan12, 1) });
    const places = (await dataset.content()).flatMap(([, found]) => found);
    expect(places.every(({ woonplaats }) => woonplaats.endsWith('aan Zee'))).toBe(true);
  });

  inSweep(
    'leaves no snapshot when it was corrected and its work has expired, but every other snapshot',
    async () => {
      const { register, dataset, load } = await registerWithLargeDay();
      const { storage } = dataset;
      const { load: id } = await load();
      // Another file of the same day, as large: a load of its own.
      const { first } = register;
      const renamed = first.WPL.map((place) => ({ ...place, naam: 'Weesp op Zee' }));
      await register.write(jan9, jan10, mutationsBetween(first, { ...first, WPL: renamed }));
      const { load: other } = await load();
      const before = await snapshotsIn(dataset);
      expect(before).toEqual(expect.arrayContaining([id, other]));
      await storage.delete(await storage.list(paths.workOf(id ?? '')));
      await load();
      expect(await snapshotsIn(dataset)).toEqual(before.filter((one) => one !== id));
      expect(await refusedProposals(storage)).toMatchObject([{ load: other }]);
    },
  );
});

describe('a day that was rolled back', () => {
  it('is not applied again when later days come, alone or within a delivery of several days, until it is asked for', async () => {
    const { register, content, run } = await loadedRegister(14, 4);
    const [first, second, third] = register.days as [RegisterDay, RegisterDay, RegisterDay];
    await register.deliver([first]);
    await run();
    const before = await content();
    await register.deliver([second]);
    await run();
    await run({ mutations: [], rollback: jan9 });
    expect(await content()).toEqual(before);
    await register.deliver([third]);
    await register.write(jan9, jan11, mutationsBetween(first.state, third.state));
    expect(await run()).toMatchObject({
      outcome: 'unchanged',
      reason: expect.stringContaining('was rejected or was rolled back'),
    });
    expect(await content()).toEqual(before);
    await rm(join(register.mutations, deliveryName(jan9, jan11)));
    expect(await run({ again: true })).toMatchObject({ outcome: 'published', peildatum: jan11 });
    expect(await content()).toEqual(await tableOf(register, jan11));
  });
});

describe('a chain of days', () => {
  it('keeps a woonplaats that does not match in view, with its addresses, until a delivery does or an extract comes', async () => {
    const { register, dataset, run } = await loadedRegister(16, 0, 200);
    const { first } = register;
    const [place] = first.WPL as [Voorkomens['WPL'][0]];
    const rename = { was: place, wordt: { ...place, naam: 'Weesp aan de Vecht' } };
    const wrong = { ...rename, was: { ...place, naam: 'Wesep' } };
    await register.write(start, jan9, [{ kind: 'WPL', changes: [wrong] }]);
    const { addresses } = (await run({ planOnly: true })).setAside;
    expect(addresses).toBeGreaterThan(100);
    const thresholds = {
      ...localGuardDefaults,
      maximumProblemShare: 1,
      alwaysAllowedInPlace: addresses - 1,
    };
    const refused = await dataset.tried({
      mutations: [register.mutations],
      thresholds,
      waiveSize: false,
    });
    const message = expect.stringContaining(`${addresses} addresses of 1 objects`);
    expect(refused.objections).toMatchObject([
      { code: 'too_many_set_aside', count: addresses, message },
    ]);

    const examples = [expect.stringContaining(`from 'Wesep' (2010-01-01 on), and it is 'Weesp'`)];
    const setAside = { count: 1, addresses, examples };
    const most = { thresholds: { ...thresholds, alwaysAllowedInPlace: addresses } };
    expect(await run(most)).toMatchObject({ outcome: 'published', setAside });
    await register.write(jan9, jan10);
    expect(await run(most)).toMatchObject({
      outcome: 'published',
      peildatum: jan10,
      setAside: { count: 1 },
    });
    expect(await run(most)).toMatchObject({ outcome: 'unchanged', setAside: { count: 1 } });
    await register.write(jan10, jan11, [{ kind: 'WPL', changes: [rename] }]);
    expect(await run(most)).toMatchObject({
      outcome: 'published',
      setAside: { count: 0, addresses: 0 },
    });
  });

  it.each([
    ['nothing', false, false],
    ['the copies of the storage', true, false],
    ['a day, with its copy,', true, true],
  ])(
    'goes on to later days after an older extract, if %s is lost',
    async (_, isCopyLost, isDayLost) => {
      const { register, dataset, content, run } = await loadedRegister(17, 4);
      await register.deliver(register.days.slice(0, 3));
      await run();
      await register.deliver(register.days.slice(3));
      if (isCopyLost) await dataset.storage.delete(await dataset.storage.list(paths.mutations));
      if (isDayLost) await rm(join(register.mutations, deliveryName(jan10, jan11)));
      const published: LoadReport[] = [];
      const source = await register.extract(jan10);
      const { notes } = await run({ source, onPublished: (one) => published.push(one) });
      const expected = [
        { kind: 'extract', peildatum: jan11, audit: { added: 0, changed: 0, removed: 0 } },
        { kind: 'mutations', peildatum: jan12 },
      ];
      expect(published).toMatchObject(expected.slice(Number(isDayLost)));
      expect(notes).toEqual(isDayLost ? [expect.stringContaining('the extract was skipped')] : []);
      expect(await content()).toEqual(await tableOf(register, jan12));
    },
  );
});

const begin = '2010-01-01';

const numberAt = (
  index: number,
  openbareRuimte: string,
  more: Partial<NumStand> = {},
): NumStand => ({
  identificatie: openbareRuimte.replace('30', '20'),
  huisnummer: index,
  postcode: '1381AA',
  openbareRuimte,
  begin,
  ...more,
});
const streetAt = (
  index: number,
  woonplaats: string,
  gemeente = '0457',
  from = begin,
): OprStand => ({
  identificatie: `${gemeente}30000000000${index}`,
  naam: `Straat ${index}`,
  woonplaats,
  begin: from,
});

describe('the dataset of a municipality', () => {
  const OPR = [streetAt(1, '1012'), streetAt(2, '1012')];
  const [street1] = OPR as [OprStand];
  const first: Voorkomens = {
    WPL: [{ identificatie: '1012', naam: 'Plaats 1012', begin }],
    OPR,
    NUM: OPR.map(({ identificatie }, i) => numberAt(i + 1, identificatie)),
  };

  /** A dataset with the extract of a state of municipality 0457, or of the whole country. */
  async function datasetOf(
    state: Voorkomens,
    date = start,
    layout: 'municipality' | 'national' = 'municipality',
  ) {
    const dataset = await bench.newDataset({ waiveSize: true });
    await dataset.load({ source: await bench.extract(date, state, { layout }) });
    return dataset;
  }

  /**
   * It, after days of the whole country between its states, and what the extract of the last one
   * gives.
   */
  async function following(states: Voorkomens[]) {
    const mutations = [bench.newFolder()] as [string];
    const dataset = await datasetOf(first);
    const reports: LoadReport[] = [];
    for (const [index, next] of states.entries()) {
      const vanaf = dateAfter(start, index);
      const tot = dateAfter(start, index + 1);
      await putDelivery(
        mutations[0],
        vanaf,
        tot,
        mutationsBetween(states[index - 1] ?? first, next),
      );
      reports.push(await dataset.load({ mutations }));
    }
    const alone = await datasetOf(states.at(-1) as Voorkomens, dateAfter(start, states.length));
    return { found: await dataset.content(), alone: await alone.content(), reports };
  }

  /** The streets of a state change to another place: each occurrence ends and one begins there. */
  function moved(from: Voorkomens, woonplaats: string, date: string): Voorkomens {
    const next = { volgnummer: 2, begin: date, woonplaats };
    return {
      ...from,
      OPR: from.OPR.flatMap((street) => [
        { ...street, eind: date },
        { ...street, ...next },
      ]),
    };
  }

  const weesp = { identificatie: '3631', naam: 'Plaats 3631', begin: jan9 };
  const both = { ...first, WPL: [...first.WPL, weesp] };
  const street = streetAt(3, '4000', '0457', jan10);
  const early = {
    ...first,
    WPL: [...first.WPL, { identificatie: '4000', naam: 'Nieuw', begin: jan9 }],
    NUM: [...first.NUM, numberAt(3, street.identificatie, { postcode: '1381AB', begin: jan9 })],
  };
  it.each<[string, Voorkomens[], Partial<LoadReport>[]]>([
    ['that gets another identificatie', [moved(both, '3631', jan9)], [{ changed: 2 }]],
    [
      'that gets another identificatie a day before its streets',
      [both, moved(both, '3631', jan10)],
      [
        { changed: 0, removed: 0 },
        { changed: 2, removed: 0, problems: 0 },
      ],
    ],
    [
      'that is new, with a street a day after it and its address',
      [early, { ...early, OPR: [...first.OPR, street] }],
      [{ added: 0, problems: 1 }, { added: 1 }],
    ],
  ])('follows a woonplaats %s', async (_, states, expected) => {
    const { found, alone, reports } = await following(states);
    expect(found).toEqual(alone);
    expect(reports).toMatchObject(expected);
  });

  it('takes no address of elsewhere: of a new woonplaats, or corrected onto one of its streets', async () => {
    const place = { identificatie: '5000', naam: 'Elders', begin };
    const street = streetAt(1, '5000', '0999');
    const there = numberAt(7, street.identificatie);
    const before = {
      WPL: [...first.WPL, place],
      OPR: [...first.OPR, street],
      NUM: [...first.NUM, there],
    };
    const corrected = {
      ...there,
      volgnummer: 2,
      begin: jan9,
      openbareRuimte: street1.identificatie,
    };
    const after = {
      WPL: [...before.WPL, { identificatie: '5001', naam: 'Nieuw', begin: jan9 }],
      OPR: before.OPR,
      NUM: [...first.NUM, { ...there, eind: jan9 }, corrected],
    };
    const newStreet = streetAt(2, '5001', '0999', jan10);
    const newNum = numberAt(1, newStreet.identificatie, { postcode: '9999AB', begin: jan10 });
    const later = {
      ...after,
      OPR: [...after.OPR, newStreet],
      NUM: [...after.NUM, newNum],
    };
    const dataset = await datasetOf(first);
    const mutations = [bench.newFolder()] as [string];
    await putDelivery(mutations[0], start, jan9, mutationsBetween(before, after));
    await putDelivery(mutations[0], jan9, jan10, mutationsBetween(after, later));
    const report = await dataset.load({ mutations });
    expect(report).toMatchObject({ peildatum: jan10, added: 0, setAside: { count: 0 } });
    expect((await dataset.content()).map(([key]) => key)).toEqual(['1381AA#1#', '1381AA#2#']);
  });

  it('takes its own deliveries, which no other dataset does', async () => {
    const changed = { ...first, WPL: first.WPL.map((one) => ({ ...one, naam: 'Weesp' })) };
    const name = 'BAGGEM0457M-08012026-12012026.zip';
    const own = { gemeente: '0457', name };
    const mutations = [
      await putDelivery(bench.newFolder(), start, jan12, mutationsBetween(first, changed), own),
    ];
    const dataset = await datasetOf(first);
    expect(await dataset.load({ mutations })).toMatchObject({ peildatum: jan12, changed: 2 });
    expect((await dataset.content())[0]?.[1]).toMatchObject([
      { straat: 'Straat 1', woonplaats: 'Weesp' },
    ]);

    const country = await datasetOf(first, start, 'national');
    const refused = `${name}: covers municipality 0457, and the dataset the whole country`;
    await expect(country.load({ mutations })).rejects.toThrow(refused);
  });
});
