import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { renderReport } from '../../../bin/cli/render-load.ts';
import { runLoad } from '../../../loader/run/run-load.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/dynamodb-address-table.ts';
import { type Packing, writeExtract } from '../../../local/demo/write-extract.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';

let bench: LoadBench;

beforeAll(async () => {
  bench = await startLoadBench();
});
afterAll(() => bench.stop());

const begin = '2010-09-29';
const [street, place] = ['0457300000000035', '3631'];

/** A register of one address, whose street is current three times and whose place twice: what is first ends up last. */
async function load(turned: boolean, packing: Packing) {
  const OPR = [
    { identificatie: street, naam: 'Oudeweg', woonplaats: place, begin },
    { identificatie: street, naam: 'Nieuweweg', woonplaats: place, begin: '2020-01-01' },
    { identificatie: street, naam: 'Middenweg', woonplaats: place, begin: '2015-01-01' },
  ];
  const WPL = [
    { identificatie: place, naam: 'Nieuwstad', begin: '2020-01-01' },
    { identificatie: place, naam: 'Oudestad', begin },
  ];
  const NUM = [{ identificatie: '0457200000000001', huisnummer: 1, postcode: '1381AA', openbareRuimte: street, begin }];
  const source = join(bench.newFolder(), 'extract.zip');
  const voorkomens = turned ? { NUM, OPR: OPR.toReversed(), WPL: WPL.toReversed() } : { NUM, OPR, WPL };
  await writeFile(source, await writeExtract('2026-01-08', voorkomens, packing));
  const table = await bench.newTable();
  const addresses = dynamoDbAddressTable(bench.client, table);
  const report = await runLoad({ storage: bench.newFolder(), addresses, workers: 0, source });
  return { report, served: await bench.addressesIn(table) };
}

describe('a street or place with several current occurrences', () => {
  it.each([
    ['in one file', false, {}],
    ['in one file, in another order', true, {}],
    ['in several files', false, { perFile: 1 }],
    ['in several files, in another order', true, { perFile: 1, reversed: true }],
  ])('is as in the last of them to begin, and the others are problems: %s', async (_, turned, packing) => {
    const { report, served } = await load(turned, packing);
    expect([...served]).toEqual([['1381AA#1#', [{ straat: 'Nieuweweg', woonplaats: 'Nieuwstad' }]]]);
    expect(report).toMatchObject({ outcome: 'published', addresses: 1, problems: 3 });
    expect(report.problemReport?.several_current).toMatchObject({
      count: 3,
      examples: [{ identificatie: street }, { identificatie: street }, { identificatie: place }],
    });
    expect(renderReport(report)).toMatch(
      /several_current: 3, such as 0457300000000035 in extract\.zip > \d+OPR\d+\.zip$/,
    );
  });
});
