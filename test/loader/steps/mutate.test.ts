import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { occurrencesIn, unpackReference } from '../../../loader/register/reference-file.ts';
import { paths, type Storage } from '../../../loader/storage/storage.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import type { LoadReport } from '../../../loader/verdict/load-report.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { type MutationGroup, mutationsBetween, writeMutationDelivery } from '../../support/mutation-delivery.ts';
import { dateAfter, type RegisterDay } from '../../support/register.ts';
import type { OprStand } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { startLoadBench } from './load-bench.ts';
import { digitsOf, newDataset, Register, start } from './mutation-register.ts';
import { recordsIn } from './records-in.ts';

const bench = startForTests(startLoadBench);

/** What a table holds after loading only the extract of a date. */
async function loaded(register: Register, date: string) {
  const { options, content } = await newDataset(bench);
  await runLoad({ ...options, source: await register.extract(date) });
  return {
    table: await content(),
    stored: await storedOccurrences(options.storage),
    counts: await publishedCounts(options.storage),
  };
}

/** What the live snapshot was counted to have. */
async function publishedCounts(storage: Storage) {
  const { nummeraanduidingen, addresses, lists, problemCounts } = (await readManifest(storage)).published ?? {};
  return { nummeraanduidingen, addresses, lists, problemCounts };
}

/** Every record and occurrence that is stored with the live snapshot. */
async function storedOccurrences(storage: Storage): Promise<string[]> {
  const id = (await readManifest(storage)).published?.snapshot.id ?? '';
  const found = await recordsIn(storage);
  const reference = (await storage.get(paths.snapshotReference(id))) as Buffer;
  for (const { kind, identificatie, volgnummer } of occurrencesIn(unpackReference(reference)))
    found.push(`${kind} ${identificatie} ${volgnummer}`);
  return found.sort();
}

describe('days of mutations', () => {
  it('give a woonplaats the gemeente that it has after a merger, on the day that it begins and with what a day says', async () => {
    const register = new Register(bench, 11, 4);
    const jan = (day: number) => dateAfter(start, day);
    const [weesp, muiden] = register.first.WPL.map(({ identificatie }) => identificatie) as [string, string];
    const begin = '2010-01-01';
    const relaties = [
      { woonplaats: weesp, gemeente: '0457', begin, eind: jan(2) },
      { woonplaats: weesp, gemeente: '0363', begin: jan(2) },
      { woonplaats: muiden, gemeente: '0424', begin },
    ];
    const state = { ...register.first, relaties };
    const { options, content } = await newDataset(bench);
    await runLoad({ ...options, source: await register.extractOf(start, state) });
    const deliver = async (day: number, given?: typeof relaties) => {
      const zip = await writeMutationDelivery(jan(day - 1), jan(day), [], { relaties: given });
      await mkdir(register.mutations, { recursive: true });
      await writeFile(join(register.mutations, `BAGNLDM-${digitsOf(jan(day - 1))}-${digitsOf(jan(day))}.zip`), zip);
      return runLoad({ ...options, mutations: [register.mutations] });
    };
    const gemeenten = async () => {
      const places = (await content()).flatMap(([, found]) => found);
      return Object.fromEntries(places.map(({ woonplaats, gemeente }) => [woonplaats, gemeente ?? null]));
    };
    const extractOf = async (date: string, all: typeof relaties) => {
      const other = await newDataset(bench);
      await runLoad({ ...other.options, source: await register.extractOf(date, { ...state, relaties: all }) });
      return other.content();
    };
    const first = await gemeenten();
    expect(first).toMatchObject({ Weesp: '0457', Muiden: '0424', Amsterdam: null });
    const quiet = await deliver(1, relaties);
    expect(quiet.gemeenteChanged).toBe(0);
    expect(quiet.problemReport).toMatchObject({ gemeente_missing: { count: 1 }, gemeente_unknown: { count: 0 } });
    // Without the file of relations the ones that are known begin all the same.
    const merged = await deliver(2);
    expect(merged.gemeenteChanged).toBeGreaterThan(0);
    expect(merged.gemeenteChanged).toBeGreaterThanOrEqual(merged.changed - 2);
    expect(await gemeenten()).toEqual({ ...first, Weesp: '0363' });
    expect(await content()).toEqual(await extractOf(jan(2), relaties));
    const later = [...relaties, { woonplaats: '1014', gemeente: '9990', begin: jan(3) }];
    const named = await deliver(3, later);
    expect(named.problemReport).toMatchObject({ gemeente_missing: { count: 0 }, gemeente_unknown: { count: 1 } });
    expect(await gemeenten()).toEqual({ ...first, Weesp: '0363', Amsterdam: '9990' });
    expect(await content()).toEqual(await extractOf(jan(3), later));
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
    const { options, content } = await newDataset(bench);
    await runLoad({ ...options, source: await register.extractOf(start, before) });
    await runLoad({ ...options, mutations: [register.mutations] });
    const expected = await newDataset(bench);
    await runLoad({ ...expected.options, source: await register.extractOf('2026-01-09', after) });
    expect(await content()).toEqual(await expected.content());
    expect(await publishedCounts(options.storage)).toEqual(await publishedCounts(expected.options.storage));
  });

  inSweep('give the same result however they are divided into loads, after the extract or with it', async () => {
    const register = new Register(bench, 12, 5);
    await register.deliver();
    const last = register.days.at(-1)?.date as string;
    const { table: expected, stored } = await loaded(register, last);
    const together = await newDataset(bench);
    const all = { ...together.options, source: await register.extract(), mutations: [register.mutations] };
    const report = await runLoad(all);
    expect(report).toMatchObject({ peildatum: last, extractPeildatum: start, days: expect.arrayContaining([]) });
    expect(report.days).toHaveLength(5);
    expect(await together.content()).toEqual(expected);

    // The extract again, with the days since: a load that finds the work of its plan.
    for (const planOnly of [true, false]) await runLoad({ ...all, again: true, planOnly });
    expect(await together.content()).toEqual(expected);
    expect(await storedOccurrences(together.options.storage)).toEqual(stored);

    const divided = await newDataset(bench);
    await runLoad({ ...divided.options, source: await register.extract() });
    const files = register.days.map(({ date }) => `BAGNLDM-${digitsOf(dateAfter(date, -1))}-${digitsOf(date)}.zip`);
    const named = (from: number, to: number) => files.slice(from, to).map((file) => join(register.mutations, file));
    await runLoad({ ...divided.options, mutations: named(0, 2) });
    await runLoad({ ...divided.options, mutations: named(1, 5) });
    expect(await divided.content()).toEqual(expected);
  });

  it('need only the records that the snapshot names, whatever a killed process left beside them', async () => {
    const register = new Register(bench, 13, 2);
    await register.deliver();
    const { options } = await newDataset(bench);
    const storage = bench.newFolder();
    const all = { ...options, storage, mutations: [register.mutations] };
    await runLoad({ ...options, storage, source: await register.extract() });
    const snapshot = join(storage, 'snapshots', (await readdir(join(storage, 'snapshots')))[0] ?? '');
    const dead = spawnSync(process.execPath, ['--version']).pid;
    const unfinished = `13.${dead}.00000000-0000-0000-0000-000000000000.part`;
    for (const folder of [snapshot, join(snapshot, 'nummeraanduidingen')])
      await writeFile(join(folder, unfinished), 'half');
    expect(await runLoad(all)).toMatchObject({ outcome: 'published', peildatum: register.days.at(-1)?.date });
  });

  it.each([
    [
      'a gap',
      'No mutations follow 2026-01-08: the next delivery',
      async (register: Register) => {
        await register.deliver(register.days.slice(1));
      },
    ],
    [
      'a delivery that spans the date',
      'spans that date',
      async (register: Register) => {
        await mkdir(register.mutations, { recursive: true });
        await register.write('2026-01-07', '2026-01-10', []);
      },
    ],
    [
      'a delivery that is cut off',
      'BAGNLDM-08012026-09012026.zip',
      async (register: Register) => {
        await register.deliver(register.days);
        const file = join(register.mutations, 'BAGNLDM-08012026-09012026.zip');
        await writeFile(file, (await readFile(file)).subarray(0, 700));
      },
    ],
    [
      'an earlier reading that is not ours',
      'objects that BAGNLDM-08012026-09012026.zip changes do not match it',
      async (register: Register) => {
        await mkdir(register.mutations, { recursive: true });
        const other = new Register(bench, 99, 8);
        const groups = other.days.flatMap((day) => day.groups).filter(({ changes }) => changes.some(({ was }) => was));
        await register.write('2026-01-08', '2026-01-09', groups);
      },
    ],
  ])('stop at %s, with a named error, and change nothing', async (_, message, damage) => {
    const register = new Register(bench, 15, 3);
    const { options, content } = await newDataset(bench);
    await runLoad({ ...options, source: await register.extract() });
    const before = await content();
    await damage(register);
    await expect(runLoad({ ...options, mutations: [register.mutations] })).rejects.toThrow(message);
    expect(await content()).toEqual(before);
  });

  const unusable: [what: string, message: string, plan: object, damage: (file: string) => Promise<void>][] = [
    [
      'damaged',
      'BAGNLDM-10012026-11012026.zip',
      { stopped: expect.stringContaining('BAGNLDM-10012026-11012026.zip') },
      async (file: string) => writeFile(file, (await readFile(file)).subarray(0, 700)),
    ],
    [
      'not about what we have',
      'objects that BAGNLDM-10012026-11012026.zip changes do not match it',
      { stopped: null, more: true },
      async (file: string) => {
        const groups = new Register(bench, 99, 8).days.flatMap((day) => day.groups);
        const other = groups.filter(({ changes }) => changes.some(({ was }) => was));
        await writeFile(file, await writeMutationDelivery('2026-01-10', '2026-01-11', other));
      },
    ],
  ];
  it.each(sweep(unusable, 1))(
    'before one that is %s are applied, and the error is reported',
    async (_, message, plan, damage) => {
      const register = new Register(bench, 15, 4);
      await register.deliver();
      const { table: expected } = await loaded(register, '2026-01-10');
      const { options, content } = await newDataset(bench);
      await runLoad({ ...options, source: await register.extract() });
      await damage(join(register.mutations, 'BAGNLDM-10012026-11012026.zip'));
      const wanted = { ...options, mutations: [register.mutations] };
      expect(await runLoad({ ...wanted, planOnly: true })).toMatchObject({ peildatum: '2026-01-10', ...plan });
      const published: LoadReport[] = [];
      await expect(runLoad({ ...wanted, onPublished: (report) => published.push(report) })).rejects.toThrow(message);
      expect(published).toMatchObject([{ peildatum: '2026-01-10', days: { length: 2 } }]);
      expect(await content()).toEqual(expected);
      await register.deliver();
      expect(await runLoad(wanted)).toMatchObject({ peildatum: '2026-01-12', stopped: null });
      expect(await content()).toEqual((await loaded(register, '2026-01-12')).table);
    },
  );

  it('of the whole country change only the addresses of the loaded municipality', async () => {
    const register = new Register(bench, 21, 4);
    await register.deliver();
    const { table: expected } = await loaded(register, register.days.at(-1)?.date as string);
    // The same objects under other identifications: of another municipality, which the extract does not hold.
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
    const { options, content } = await newDataset(bench);
    const extract = await register.extract(start, { layout: 'municipality' });
    const report = await runLoad({ ...options, source: extract, mutations: [register.mutations] });
    expect(report).toMatchObject({ outcome: 'published', peildatum: register.days.at(-1)?.date });
    expect(await content()).toEqual(expected);
  });
});

describe('a full extract after days of mutations', () => {
  it('finds no difference if the days were applied correctly', async () => {
    const register = new Register(bench, 17, 6);
    await register.deliver();
    const { options, content } = await newDataset(bench);
    await runLoad({ ...options, source: await register.extract(), mutations: [register.mutations] });
    const before = await content();
    // It is published some days after its date, when later days have been applied already.
    const [, , third] = register.days.map(({ date }) => date);
    const report = await runLoad({ ...options, source: await register.extract(third) });
    expect(report).toMatchObject({
      outcome: 'published',
      peildatum: register.days.at(-1)?.date,
      extractPeildatum: third,
      audit: { added: 0, changed: 0, removed: 0 },
    });
    expect(await content()).toEqual(before);
  });

  it.each([
    ['corrected', async () => undefined, true],
    ['replaced by a web page', async (file: string) => writeFile(file, '<!DOCTYPE html>'), false],
  ])('is brought forward to the live date by the current list, if a delivery was %s', async (_, replace, isRight) => {
    const register = new Register(bench, 18, 6);
    const renumbers = ({ groups }: RegisterDay) => groups.filter(({ kind }) => kind === 'NUM').length > 1;
    const at = register.days.findIndex((day, index) => index > 0 && renumbers(day));
    const [before, wrong] = register.days.slice(at - 1) as [RegisterDay, RegisterDay];
    await register.deliver(register.days.slice(0, at));
    const name = await register.write(before.date, wrong.date, []);
    const { options, content } = await newDataset(bench);
    const mutations = [register.mutations];
    await runLoad({ ...options, source: await register.extract(), mutations });
    const applied = await content();
    await register.deliver([wrong]);
    await replace(name);
    const report = await runLoad({ ...options, source: await register.extract(before.date), mutations });
    expect(report).toMatchObject({ outcome: 'published', peildatum: wrong.date, extractPeildatum: before.date });
    const { table } = await loaded(register, wrong.date);
    expect(applied).not.toEqual(table);
    expect(await content()).toEqual(isRight ? table : applied);
    const differences = Object.values(report.audit ?? {}).reduce((sum, count) => sum + count, 0);
    expect(differences > 0).toBe(isRight);
  });
});
