import { beforeAll, describe, expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { renderExplanation } from '../../../operator/cli/explain-commands.ts';
import { explainAddress } from '../../../operator/explain/explain-address.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { Register, start } from '../../loader/steps/mutation-register.ts';
import { deliveryName, mutationsBetween } from '../../support/mutation-delivery.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const begin = '2010-01-01';
const street = '0457300000000001';
const place = '3631';
const num = (index: number, more = {}) => ({
  identificatie: `045720000000000${index}`,
  huisnummer: index,
  postcode: '1381AA',
  openbareRuimte: street,
  begin,
  ...more,
});
const first: Voorkomens = {
  WPL: [{ identificatie: place, naam: 'Weesp', begin }],
  OPR: [{ identificatie: street, naam: 'Buitenveer', woonplaats: place, begin }],
  NUM: [num(1), num(2), num(3)],
  relaties: [{ woonplaats: place, gemeente: '0457', begin, eind: '2026-01-10' }],
};
/** What the deliveries say. */
const relaties = [
  ...(first.relaties ?? []),
  { woonplaats: place, gemeente: '9990', begin: '2026-01-10' },
];
const jan9 = '2026-01-09';
const jan10 = '2026-01-10';

const bench = startForTests(startLoadBench);
let storage: Storage;

/**
 * On the ninth number 2 goes and number 4 moves in from another postcode; on the tenth the street
 * gets another name.
 */
beforeAll(async () => {
  const register = new Register(bench, 1, 0);
  const second: Voorkomens = {
    ...first,
    NUM: [num(1), num(2, { eind: jan9 }), num(3), num(4, { begin: jan9 })],
  };
  const renamed: Voorkomens = {
    ...second,
    OPR: [
      { ...(first.OPR[0] as Voorkomens['OPR'][number]), eind: jan10 },
      {
        ...(first.OPR[0] as Voorkomens['OPR'][number]),
        volgnummer: 2,
        begin: jan10,
        naam: 'Binnenveer',
      },
    ],
  };
  await register.write(start, jan9, mutationsBetween(first, second), { relaties });
  const { options } = await bench.newDataset({ waiveSize: true });
  storage = options.storage;
  await runLoad({ ...options, source: await register.extractOf(start, first) });
  await runLoad({ ...options, mutations: [register.mutations] });
  await register.write(jan9, jan10, mutationsBetween(second, renamed), { relaties });
  await runLoad({ ...options, mutations: [register.mutations] });
});

describe('the explanation of an address with objects', () => {
  it('names each occurrence behind its surface, what brought it, and what changed it', async () => {
    const register = new Register(bench, 1, 0);
    const vbo = (more = {}) => ({
      identificatie: '0457010000000001',
      hoofdadres: num(1).identificatie,
      punt: '131234.5 480123.4',
      begin,
      oppervlakte: 85,
      gebruiksdoelen: ['woonfunctie'],
      ...more,
    });
    const before = { ...first, VBO: [vbo()], LIG: [], STA: [] };
    const after = {
      ...before,
      VBO: [vbo({ eind: jan9 }), vbo({ volgnummer: 2, begin: jan9, oppervlakte: 90 })],
    };
    await register.write(start, jan9, mutationsBetween(before, after));
    const { options } = await bench.newDataset({ waiveSize: true });
    const all = { ...options, objecten: true };
    await runLoad({ ...all, source: await register.extractOf(start, before) });
    const ofObject = async () =>
      (await explainAddress(options.storage, '1381AA#1#')).voorkomens.filter(
        ({ kind }) => kind === 'VBO',
      );
    const text = (m2: number) =>
      `Verblijfsobject in gebruik, ${m2} m2, woonfunctie, at 131234.5 480123.4, hoofdadres ${num(1).identificatie}`;
    expect(await ofObject()).toMatchObject([
      { volgnummer: 1, gives: text(85), from: `the extract of ${start}` },
    ]);
    await runLoad({ ...all, mutations: [register.mutations] });
    expect(await ofObject()).toMatchObject([
      { volgnummer: 2, gives: text(90), from: deliveryName(start, jan9) },
    ]);
    const { changes, since } = await explainAddress(options.storage, '1381AA#1#');
    expect(changes).toMatchObject([
      { kind: 'VBO', volgnummer: 1, before: `${text(85)} (from ${begin})` },
      { kind: 'VBO', volgnummer: 2, before: null, after: `${text(90)} (from ${jan9})` },
    ]);
    const because = `voorkomen 2 of VBO 0457010000000001, from ${deliveryName(start, jan9)}`;
    expect(since).toEqual({ date: jan9, because });
  });
});

describe('the explanation of an address', () => {
  it('names the objects behind it, what brought each, and what changed them since', async () => {
    const found = await explainAddress(storage, '1381AA#1#');
    expect(found).toMatchObject({
      peildatum: jan10,
      places: ['Binnenveer, Weesp (gemeente 9990)'],
      since: { date: jan10 },
      extract: { peildatum: start },
      earlier: [
        { peildatum: jan9, places: ['Buitenveer, Weesp (gemeente 0457)'] },
        { peildatum: start, places: ['Buitenveer, Weesp (gemeente 0457)'] },
      ],
      notes: [],
    });
    expect(found.voorkomens.filter(({ isCurrent }) => isCurrent)).toMatchObject([
      {
        kind: 'NUM',
        identificatie: '0457200000000001',
        begin,
        eind: null,
        from: `the extract of ${start}`,
      },
      {
        kind: 'OPR',
        identificatie: street,
        volgnummer: 2,
        gives: `Binnenveer, woonplaats ${place}`,
        from: deliveryName(jan9, jan10),
      },
      { kind: 'WPL', identificatie: place, gives: 'Weesp', from: `the extract of ${start}` },
    ]);
    expect(found.changes.map(({ delivery, volgnummer }) => [delivery, volgnummer])).toEqual([
      [deliveryName(jan9, jan10), 1],
      [deliveryName(jan9, jan10), 2],
    ]);
  });

  it('names the gemeente of its woonplaats, from when, and which file says so', async () => {
    const found = await explainAddress(storage, '1381AA#1#');
    const from = `GEM-WPL-RELATIE of ${deliveryName(jan9, jan10)}`;
    const gemeente = { code: '9990', naam: null, provincie: null };
    expect(found.relaties).toEqual([
      { woonplaats: place, gemeente, begin: jan10, eind: null, isCurrent: true, from },
    ]);
    expect(renderExplanation(found)).toContain(
      `woonplaats 3631: gemeente 9990, without a name in this version (from 2026-01-10, current), from ${from}`,
    );
  });

  it('names which of several relations of its woonplaats lost, and why', async () => {
    const register = new Register(bench, 1, 0);
    const { options } = await bench.newDataset({ waiveSize: true });
    const several = [
      { begin: '2011-01-01', gemeente: '0458' },
      { begin: '2011-01-01', gemeente: '0457' },
      { begin, gemeente: '0459' },
    ];
    const doubled = several.map((one) => ({ woonplaats: place, ...one }));
    await runLoad({
      ...options,
      source: await register.extractOf(start, { ...first, relaties: doubled }),
    });
    const { places, relaties } = await explainAddress(options.storage, '1381AA#1#');
    expect(places).toEqual(['Buitenveer, Weesp (gemeente 0458)']);
    expect(
      relaties.map(({ gemeente, isCurrent, lostTo }) => [gemeente.code, isCurrent, lostTo]),
    ).toEqual([
      ['0459', false, 'another relation, which began later'],
      ['0457', false, 'another relation, which has the higher number'],
      ['0458', true, undefined],
    ]);
  });

  it('says by which delivery an address came, and by which another one went', async () => {
    const added = await explainAddress(storage, '1381AA#4#');
    expect(added.changes[0]).toMatchObject({
      delivery: deliveryName(start, jan9),
      before: null,
      identificatie: num(4).identificatie,
    });
    const gone = await explainAddress(storage, '1381AA#2#');
    const ended = `voorkomen 1 of NUM ${num(2).identificatie}, which ended`;
    expect(gone).toMatchObject({ places: [], since: { date: jan9, because: ended } });
    expect(gone.changes[0]?.after).toContain('2010-01-01 to 2026-01-09');
    expect(gone.earlier).toMatchObject([
      { peildatum: start, places: ['Buitenveer, Weesp (gemeente 0457)'] },
    ]);
    expect(renderExplanation(gone)).toContain(
      '1381 AA 2 is not an address, in the dataset of 2026-01-10',
    );
  });

  it('names which of several open voorkomens lost, and why', async () => {
    const register = new Register(bench, 1, 0);
    const open = [
      num(1),
      num(1, { volgnummer: 2, begin: '2020-01-01', huisnummer: 5 }),
      num(1, { volgnummer: 3, begin: '2020-01-01', huisnummer: 6 }),
    ];
    const { options } = await bench.newDataset({ waiveSize: true });
    const thresholds = { ...localGuardDefaults, maximumProblemShare: 1 };
    await runLoad({
      ...options,
      thresholds,
      source: await register.extractOf(start, { ...first, NUM: open }),
    });
    const found = await explainAddress(options.storage, '1381AA#5#');
    expect(found.places).toEqual([]);
    expect(found.voorkomens.filter(({ kind }) => kind === 'NUM')).toMatchObject([
      { volgnummer: 1, isCurrent: false, lostTo: 'voorkomen 3, which began later' },
      { volgnummer: 2, isCurrent: false, lostTo: 'voorkomen 3, which has the higher number' },
      { volgnummer: 3, isCurrent: true },
    ]);
    expect(renderExplanation(found)).toContain(
      'not used: it lost to voorkomen 3, which has the higher number',
    );
  });

  it('names since when the register has it so, though a delivery touched it later', async () => {
    const register = new Register(bench, 1, 0);
    const { options } = await bench.newDataset({ waiveSize: true });
    const touched = {
      ...first,
      NUM: [num(1, { eind: '2030-01-01' }), num(2), num(3, { eind: jan10 })],
    };
    await register.write(start, jan9, mutationsBetween(first, touched), { relaties });
    await register.write(jan9, jan10, [], { relaties });
    const source = await register.extractOf(start, { ...first, relaties: [] });
    await runLoad({ ...options, source, mutations: [register.mutations] });
    expect((await explainAddress(options.storage, '1381AA#1#')).since).toEqual({
      date: jan10,
      because: `the relation of woonplaats ${place} to gemeente 9990, from GEM-WPL-RELATIE of ${deliveryName(jan9, jan10)}`,
    });
    expect((await explainAddress(options.storage, '1381AA#3#')).since).toEqual({
      date: jan10,
      because: `voorkomen 1 of NUM ${num(3).identificatie}, which ended`,
    });
  });

  it('has the changes of all deliveries in their order, also of a delivery that its extract was loaded again with', async () => {
    const register = new Register(bench, 1, 0);
    const { options } = await bench.newDataset({ waiveSize: true });
    const [renamed] = first.OPR as [Voorkomens['OPR'][number]];
    const second = { ...first, OPR: [{ ...renamed, naam: 'Binnenveer' }] };
    const third = { ...first, OPR: [{ ...renamed, naam: 'Achterveer' }] };
    await register.write(start, jan9, mutationsBetween(first, second), { relaties });
    const source = await register.extractOf(start, first);
    await runLoad({ ...options, source, mutations: [register.mutations] });
    await runLoad({ ...options, source, mutations: [register.mutations], again: true });
    await register.write(jan9, jan10, mutationsBetween(second, third), { relaties });
    await runLoad({ ...options, mutations: [register.mutations] });
    const { changes, voorkomens } = await explainAddress(options.storage, '1381AA#1#');
    expect(changes.map(({ delivery }) => delivery)).toEqual([
      deliveryName(start, jan9),
      deliveryName(jan9, jan10),
    ]);
    expect(voorkomens.find(({ kind }) => kind === 'OPR')).toMatchObject({
      gives: `Achterveer, woonplaats ${place}`,
      from: deliveryName(jan9, jan10),
    });
  });

  it('names the day whose delivery corrected an address away, and claims nothing about one without a street', async () => {
    const register = new Register(bench, 1, 0);
    const { options } = await bench.newDataset({ waiveSize: true });
    const thresholds = { ...localGuardDefaults, minimumAddresses: 0, maximumProblemShare: 1 };
    const [street] = first.OPR as [Voorkomens['OPR'][number]];
    const corrected = num(1, { tijdstipInactief: `${jan9}T10:00:00.000` });
    const after = { ...first, OPR: [{ ...street, eind: jan9 }], NUM: [corrected, num(2), num(3)] };
    await register.write(start, jan9, mutationsBetween(first, after), { relaties });
    await runLoad({ ...options, source: await register.extractOf(start, first) });
    await runLoad({ ...options, thresholds, mutations: [register.mutations] });
    const gone = await explainAddress(options.storage, '1381AA#1#');
    expect(gone).toMatchObject({ places: [], since: { date: jan9 } });
    const without = await explainAddress(options.storage, '1381AA#2#');
    expect(renderExplanation(without)).toContain('says since when it is not.');
  });

  it('of a key that never was an address is empty', async () => {
    expect(await explainAddress(storage, '1381AB#1#')).toMatchObject({
      places: [],
      since: null,
      voorkomens: [],
      relaties: [],
      changes: [],
      earlier: [],
    });
  });
});
