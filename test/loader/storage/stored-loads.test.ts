import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { differences, loadStatus, sampleTable } from '../../../loader/storage/stored-loads.ts';
import { renderReport, renderStatus } from '../../../operator/cli/render-load.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { startLoadBench } from '../steps/load-bench.ts';
import { february, january, voorkomensOf } from '../steps/months.ts';

const bench = startForTests(startLoadBench);

/** January, with two objects that have no postcode and one on a street that is not there. */
async function oddJanuary(): Promise<string> {
  const { NUM, OPR, WPL } = voorkomensOf(january);
  const [one = { identificatie: '', huisnummer: 1, openbareRuimte: '', begin: '' }] = NUM;
  const { postcode: _, ...without } = { postcode: '', ...one };
  const odd = [
    { ...without, identificatie: '0000200000009001' },
    { ...without, identificatie: '0000200000009002' },
    { ...one, identificatie: '0000200000009003', openbareRuimte: '0000300000009999' },
  ];
  return bench.extract(january.peildatum, { NUM: [...NUM, ...odd], OPR, WPL });
}

const counted = { withoutPostcode: 2, problems: 1 };

/** A dataset that serves February after January, and where its manifest is. */
async function newPlace() {
  const folder = bench.newFolder();
  const dataset = await bench.newDataset({ storage: folder });
  const source = await oddJanuary();
  await dataset.load({ source });
  await dataset.load({ month: february });
  return { dataset, source, manifest: join(folder, 'manifest.json') };
}

describe('the age of what is live', () => {
  it('is counted in whole days since the peildatum', async () => {
    const { dataset } = await newPlace();
    const day = 86_400_000;
    const midnight = Date.parse(february.peildatum);
    const ages = [0, day - 1, day, 10 * day - 1, 10 * day].map(async (passed) => {
      return (await loadStatus(dataset, midnight + passed)).ageDays;
    });
    expect(await Promise.all(ages)).toEqual([0, 0, 1, 9, 10]);
  });
});

describe('a rollback', () => {
  it('reports the counts of the load that made the snapshot, then and afterwards', async () => {
    const { dataset, source } = await newPlace();
    const report = await dataset.load({ rollback: january.peildatum });
    expect(report).toMatchObject({ outcome: 'published', voorkomens: 16, ...counted });
    expect(report.problemReport).toMatchObject({
      street_missing: { count: 1 },
      no_postcode: { count: 2 },
    });
    expect(renderReport(report)).toContain(
      'Skipped: 2 without a postcode, 1 with a problem.\n  street_missing: 1',
    );
    const look = await dataset.load({ planOnly: true, source });
    expect(look).toMatchObject({ outcome: 'unchanged', ...counted });
    const status = await loadStatus(dataset);
    expect(renderStatus({ ...status, running: [], refused: [] })).toContain('; 1 problem\n');

    const old = { ...status, ageDays: 100, running: [], refused: [] };
    expect(renderStatus(old)).toContain('Load a newer one: "load run".');
    const extract = {
      peildatum: january.peildatum,
      identity: '',
      isNational: false,
      gemeenten: ['0457'],
    };
    const municipal = { ...old, published: status.published && { ...status.published, extract } };
    expect(renderStatus(municipal)).toContain('Load a newer one: "load run --extract FILE".');
    const demoSource = {
      location: '/home/ann/.data/demo-extract.zip',
      size: 1,
      etag: null,
      lastModified: null,
    };
    const demo = {
      ...old,
      published: status.published && { ...status.published, source: demoSource },
    };
    expect(renderStatus(demo)).not.toContain('The snapshot is old');
  });

  it('to a snapshot without stored counts says so, and reports no number', async () => {
    const { dataset, manifest } = await newPlace();
    const kept = JSON.parse(await readFile(manifest, 'utf8'));
    for (const entry of kept.history) delete entry.problemCounts;
    await writeFile(manifest, JSON.stringify(kept));
    const report = await dataset.load({ rollback: january.peildatum });
    expect(report).toMatchObject({ withoutPostcode: null, problems: null, problemReport: null });
    expect(renderReport(report)).toContain(
      'an uncounted number without a postcode, an uncounted number with a problem',
    );
    const status = await loadStatus(dataset);
    expect(renderStatus({ ...status, running: [], refused: [] })).toContain(
      '; problems not counted',
    );
  });
});

describe('the sample of the table', () => {
  it('has nothing to compare before the first load', async () => {
    expect(await sampleTable(await bench.newDataset())).toBeNull();
  });

  it('finds no difference after a load, and every difference that something else wrote', async () => {
    const dataset = await bench.after([january]);
    const sample = () => sampleTable(dataset);
    expect(await sample()).toMatchObject({ differing: [], damaged: [] });
    expect((await sample())?.addresses).toBeGreaterThan(10);
    await bench.putLines(dataset.table, [
      lineOf({ key: '1381AA#7#', places: [{ straat: 'Kerkstraat', woonplaats: 'Weesp' }] }),
    ]);
    expect(await sample()).toMatchObject({ differing: ['1381AA#7#'] });
    await dataset.repair();
    expect(await sample()).toMatchObject({ differing: [] });
  });

  it('names a damaged part of the snapshot, and compares the rest', async () => {
    const dataset = await bench.newDataset();
    const { load } = await dataset.load({ month: january });
    await dataset.storage.put(`snapshots/${load}/13`, Buffer.alloc(10));
    const found = await sampleTable(dataset);
    expect(found).toMatchObject({ differing: [], damaged: [`snapshots/${load}/13`] });
    expect(found?.addresses).toBeGreaterThan(0);
  });
});

describe('the differences of a load', () => {
  it('are addresses, not lists of toevoegingen', async () => {
    const dataset = await bench.newDataset({ waiveSize: true });
    await dataset.load({ month: january });
    const { NUM, ...state } = voorkomensOf(january);
    const bare = NUM.find(
      ({ postcode, huisletter, huisnummertoevoeging }) =>
        postcode && !huisletter && !huisnummertoevoeging,
    );
    const added = [
      { ...(bare as (typeof NUM)[number]), identificatie: '0000200000009001', huisletter: 'Q' },
    ];
    const source = await bench.extract(february.peildatum, { ...state, NUM: [...NUM, ...added] });
    const { load, listsChanged } = await dataset.load({ planOnly: true, source });
    const found: string[] = [];
    for await (const { key } of differences(dataset.storage, `${load}`)) found.push(key);
    expect({ found, listsChanged }).toEqual({
      found: [expect.stringMatching(/#Q$/)],
      listsChanged: 1,
    });
  });
});
