import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { loadStatus } from '../../../loader/storage/stored-loads.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { renderReport, renderStatus } from '../../../operator/cli/render-load.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { writeExtract } from '../../support/write-extract.ts';
import { startLoadBench } from '../steps/load-bench.ts';
import { february, january, voorkomensOf } from '../steps/months.ts';

const bench = startForTests(startLoadBench);
let sources: { january: string; february: string };

/** January, with two objects that have no postcode and one on a street that is not there. */
async function oddJanuary(folder: string): Promise<string> {
  const { NUM, OPR, WPL } = voorkomensOf(january);
  const [one = { identificatie: '', huisnummer: 1, openbareRuimte: '', begin: '' }] = NUM;
  const { postcode: _, ...without } = { postcode: '', ...one };
  const odd = [
    { ...without, identificatie: '0000200000009001' },
    { ...without, identificatie: '0000200000009002' },
    { ...one, identificatie: '0000200000009003', openbareRuimte: '0000300000009999' },
  ];
  const file = join(folder, 'odd.zip');
  await writeFile(file, await writeExtract(january.peildatum, { NUM: [...NUM, ...odd], OPR, WPL }));
  return file;
}

beforeAll(async () => {
  sources = { january: await oddJanuary(bench.newFolder()), february: await bench.extractOf(february) };
});

const counted = { withoutPostcode: 2, problems: 1 };

/** A place that serves february after january, and where its manifest is. */
async function newPlace() {
  const storage = bench.newFolder();
  const addresses = dynamoDbAddressTable(bench.client, await bench.newTable());
  const options = { storage, addresses, workers: 0 };
  await runLoad({ ...options, source: sources.january });
  await runLoad({ ...options, source: sources.february });
  return { options, manifest: join(storage, 'manifest.json') };
}

describe('a rollback', () => {
  it('reports the counts of the load that made the snapshot, then and afterwards', async () => {
    const { options } = await newPlace();
    const report = await runLoad({ ...options, rollback: january.peildatum });
    expect(report).toMatchObject({ outcome: 'published', voorkomens: 16, ...counted });
    expect(report.problemReport).toMatchObject({ street_missing: { count: 1 }, no_postcode: { count: 2 } });
    expect(renderReport(report)).toContain('Skipped: 2 without a postcode, 1 with a problem.\n  street_missing: 1');
    const look = await runLoad({ planOnly: true, ...options, source: sources.january });
    expect(look).toMatchObject({ outcome: 'unchanged', ...counted });
    const status = await loadStatus({ storage: folderStorage(options.storage), addresses: options.addresses });
    expect(renderStatus({ ...status, running: [], refused: [] })).toContain('; 1 problem\n');

    const old = { ...status, ageDays: 100, running: [], refused: [] };
    expect(renderStatus(old)).toContain('The snapshot is old');
    const source = { location: '/home/ann/.data/demo-extract.zip', size: 1, etag: null, lastModified: null };
    const demo = { ...old, published: status.published && { ...status.published, source } };
    expect(renderStatus(demo)).not.toContain('The snapshot is old');
  });

  it('to a snapshot without stored counts says so, and reports no number', async () => {
    const { options, manifest } = await newPlace();
    const kept = JSON.parse(await readFile(manifest, 'utf8'));
    for (const entry of kept.history) delete entry.problemCounts;
    await writeFile(manifest, JSON.stringify(kept));
    const report = await runLoad({ ...options, rollback: january.peildatum });
    expect(report).toMatchObject({ withoutPostcode: null, problems: null, problemReport: null });
    expect(renderReport(report)).toContain(
      'an uncounted number without a postcode, an uncounted number with a problem',
    );
    const status = await loadStatus({ storage: folderStorage(options.storage), addresses: options.addresses });
    expect(renderStatus({ ...status, running: [], refused: [] })).toContain('; problems not counted');
  });
});
