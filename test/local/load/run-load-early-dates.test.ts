import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { writeExtract } from '../../support/write-extract.ts';

const bench = startForTests(startLoadBench);

const [street, place] = ['0457300000000035', '3631'];

describe('an object that is older than its registration', () => {
  it.each(['0000-00-00', '0001-01-01', '0999-12-31'])('is current like any other: %s', async (begin) => {
    const OPR = [{ identificatie: street, naam: 'Buitenveer', woonplaats: place, begin }];
    const WPL = [{ identificatie: place, naam: 'Weesp', begin }];
    const NUM = [
      { identificatie: '0457200000000001', huisnummer: 1, postcode: '1381AA', openbareRuimte: street, begin },
    ];
    const source = join(bench.newFolder(), 'extract.zip');
    await writeFile(source, await writeExtract('2026-01-08', { NUM, OPR, WPL }));
    const table = await bench.newTable();
    const addresses = dynamoDbAddressTable(bench.client, table);
    const report = await runLoad({ storage: bench.newFolder(), addresses, workers: 0, source });
    expect(report).toMatchObject({ outcome: 'published', nummeraanduidingen: 1, problems: 0 });
    expect([...(await bench.addressesIn(table))]).toEqual([
      ['1381AA#1#', [{ straat: 'Buitenveer', woonplaats: 'Weesp', nummeraanduidingen: ['0457200000000001'] }]],
    ]);
  });
});
