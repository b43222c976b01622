import { beforeAll, describe, expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import type { LoadReport } from '../../../loader/verdict/load-report.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { newDataset, Register, start } from '../../loader/steps/mutation-register.ts';
import { inSweep } from '../../support/in-sweep.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import type { Packing } from '../../support/write-extract.ts';

const bench = startForTests(startLoadBench);
let register: Register;

beforeAll(async () => {
  register = new Register(bench, 1, 0);
});

const begin = '2010-01-01';
const later = '2026-02-08';

/** One street with so many addresses. */
function streetOf(count: number): Voorkomens {
  const openbareRuimte = '0457300000000001';
  return {
    WPL: [{ identificatie: '3631', naam: 'Weesp', begin }],
    OPR: [{ identificatie: openbareRuimte, naam: 'Buitenveer', woonplaats: '3631', begin }],
    NUM: Array.from({ length: count }, (_, index) => ({
      ...{ identificatie: `04572${String(index).padStart(11, '0')}`, huisnummer: index + 1 },
      ...{ postcode: '1381AA', openbareRuimte, begin },
    })),
  };
}

/** The dataset of 1,000 addresses, and what loads another extract onto it. */
async function loaded(packing: Packing = {}) {
  const { options, content } = await newDataset(bench);
  const judged = { ...options, waiveSize: false, thresholds: localGuardDefaults };
  await runLoad({ ...judged, source: await register.extractOf(start, streetOf(1000), packing) });
  const load = async (date: string, state: Voorkomens, more: Packing = {}, options = {}) =>
    runLoad({ ...judged, ...options, source: await register.extractOf(date, state, more) }).then(
      (report) => report,
      (error: { report: LoadReport }) => error.report ?? error,
    );
  return { load, options: judged, content };
}

describe('an extract of another area', () => {
  it.each(
    sweep(
      [
        ['municipality', 'national', 'the extract is of municipality 0457, and the live dataset of the whole country'],
        ['national', 'municipality', 'the extract is of the whole country, and the live dataset of municipality 0457'],
      ] as const,
      1,
    ),
  )('is refused however little it changes, until it is approved: %s after %s', async (layout, live, message) => {
    const { load, options, content } = await loaded({ layout: live });
    const refused = await load(later, streetOf(970), { layout });
    expect(refused).toMatchObject({ outcome: 'refused', audit: null, objections: [{ code: 'other_area', message }] });
    expect(await content()).toHaveLength(1000);
    const approved = await runLoad({ ...options, approve: refused.load ?? '' });
    expect(approved).toMatchObject({ outcome: 'published', addresses: 970 });
  });

  inSweep('is loaded where that was asked for, which its report says', async () => {
    const { load } = await loaded();
    const report = await load(later, streetOf(970), { layout: 'municipality' }, { waiveSize: true });
    expect(report).toMatchObject({ outcome: 'published', waived: [{ code: 'other_area' }] });
  });
});

describe('an extract that is not whole', () => {
  it.each([
    ['whose last file is full, as if one after it were missing', streetOf(10_000), 'last_file_full'],
    [
      'that has occurrences twice',
      { ...streetOf(1000), NUM: [1, 2].flatMap(() => streetOf(1000).NUM) },
      'repeated_occurrences',
    ],
  ])('is refused: one %s', async (_, state, code) => {
    const { load } = await loaded();
    const report = await load(later, state, {}, { thresholds: { ...localGuardDefaults, alwaysAllowed: 1e6 } });
    expect(report.outcome).toBe('refused');
    expect(report.objections).toContainEqual(expect.objectContaining({ code }));
  });

  it('is refused when one file is a copy of another', async () => {
    const { load } = await loaded();
    const copied = { ...streetOf(1000), NUM: [1, 2].flatMap(() => streetOf(500).NUM) };
    expect(await load(later, copied, { perFile: 500 })).toMatchObject({
      code: 'duplicate_member',
      message: expect.stringMatching(/holds 9999NUM08022026-000002.xml, which is a copy of 9999NUM08022026-000001.xml/),
    });
  });
});

describe('an extract that was zipped again', () => {
  it('is the same one, live or rejected', async () => {
    const { load, options } = await loaded();
    const again: Packing = { inner: 'deflated', zip64: true, reversed: true };
    expect(await load(start, streetOf(1000), again)).toMatchObject({ outcome: 'unchanged', isSkipped: false });
    const refused = await load(later, streetOf(400));
    expect(await load(later, streetOf(400), again)).toMatchObject({ outcome: 'refused', load: refused.load });
    await runLoad({ ...options, reject: refused.load ?? '' });
    expect(await load(later, streetOf(400))).toMatchObject({ outcome: 'unchanged', isSkipped: true });
    expect(await load(later, streetOf(400), again)).toMatchObject({ outcome: 'unchanged', isSkipped: true });
    expect(await load(later, streetOf(990), again)).toMatchObject({ outcome: 'published' });
  });
});

describe('an address with more objects than an item of the table can hold', () => {
  const withObjects = (count: number): Voorkomens => ({
    ...streetOf(1000),
    ...{ LIG: [], STA: [] },
    VBO: Array.from({ length: count }, (_, index) => ({
      identificatie: `04570100${String(index).padStart(8, '0')}`,
      hoofdadres: '0457200000000000',
      ...{ begin, punt: '131000.25 480000.75', oppervlakte: 85, gebruiksdoelen: ['woonfunctie'] },
    })),
  });
  const reason = expect.objectContaining({
    code: 'item_too_large',
    message: expect.stringMatching(/^the item of 1381 AA 1 would have 4\d\d,\d{3} bytes/),
    examples: ['1381AA#1#'],
  });

  it('refuses the load before its first write, whatever is live, and every way out of it works', async () => {
    const { options, content } = await newDataset(bench);
    const dataset = { ...options, objecten: true, thresholds: { ...localGuardDefaults, maximumObjectShare: 1 } };
    const load = async (date: string, state: Voorkomens) =>
      runLoad({ ...dataset, source: await register.extractOf(date, state) }).catch((error) => error.report ?? error);
    expect(await load(start, withObjects(9_500))).toMatchObject({ outcome: 'refused', objections: [reason] });
    expect(await content()).toEqual([]);
    expect(await load(start, withObjects(2))).toMatchObject({ outcome: 'published', addresses: 1000 });

    const refused = await load(later, withObjects(9_500));
    expect(refused).toMatchObject({ outcome: 'refused', objections: expect.arrayContaining([reason]) });
    const approved = await runLoad({ ...dataset, approve: refused.load }).catch((error) => error);
    expect(approved.report).toMatchObject({ outcome: 'refused', objections: expect.arrayContaining([reason]) });
    expect(approved.message).not.toContain('approve');
    expect(await runLoad({ ...dataset, reject: refused.load })).toMatchObject({ outcome: 'rejected' });
    expect(await load('2026-03-08', withObjects(1))).toMatchObject({ outcome: 'published' });
  });
});
