import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { renderReport } from '../../../operator/cli/render-load.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';

const bench = startForTests(startLoadBench);

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
  ])('has the name of the one that began last, and the others are problems: %s', async (_, turned, packing) => {
    const { report, served } = await load(turned, packing);
    expect([...served]).toEqual([
      ['1381AA#1#', [{ straat: 'Nieuweweg', woonplaats: 'Nieuwstad', nummeraanduidingen: ['0457200000000001'] }]],
    ]);
    expect(report).toMatchObject({ outcome: 'published', nummeraanduidingen: 1, problems: 3 });
    expect(report.problemReport?.several_current).toMatchObject({
      count: 3,
      examples: [{ identificatie: street }, { identificatie: street }, { identificatie: place }],
    });
    expect(renderReport(report)).toMatch(
      /several_current: 3, such as 0457300000000035 in extract\.zip > \d+OPR\d+\.zip$/m,
    );
  });
});

describe('relations of woonplaatsen that are in two gemeenten', () => {
  const relatie = (woonplaats: string, gemeente: string) => ({ woonplaats, gemeente, begin });
  const doubled = (woonplaats: string) => [relatie(woonplaats, '0457'), relatie(woonplaats, '0363')];
  const OPR = [{ identificatie: street, naam: 'Nieuweweg', woonplaats: place, begin }];
  const WPL = [{ identificatie: place, naam: 'Nieuwstad', begin }];
  const NUM = [{ identificatie: '0457200000000001', huisnummer: 1, postcode: '1381AA', openbareRuimte: street, begin }];
  const of = async (relaties: ReturnType<typeof relatie>[]) => {
    const source = join(bench.newFolder(), 'extract.zip');
    await writeFile(source, await writeExtract('2026-01-08', { NUM, OPR, WPL, relaties }));
    const addresses = dynamoDbAddressTable(bench.client, await bench.newTable());
    return runLoad({ storage: bench.newFolder(), addresses, workers: 0, source });
  };

  it('are a problem of the dataset that has them, and of no other', async () => {
    const elsewhere = Array.from({ length: 59 }, (_, i) => doubled(`${1000 + i}`)).flat();
    expect(await of([relatie(place, '0457'), ...elsewhere])).toMatchObject({ outcome: 'published', problems: 0 });
    expect(await of([...doubled(place), ...elsewhere])).toMatchObject({
      outcome: 'published',
      problems: 1,
      problemReport: { several_current: { count: 1, examples: [{ identificatie: place }] } },
    });
  });

  const sample = resolve('../shared/bag-samples/doesburg-0221-small/BAGNLDL-15092020-small.zip');
  (existsSync(sample) ? it : it.skip)(
    'do not refuse the real extract of five addresses beside 59 of them',
    async () => {
      const addresses = dynamoDbAddressTable(bench.client, await bench.newTable());
      const run = runLoad({ storage: bench.newFolder(), addresses, workers: 0, source: sample });
      expect(await run).toMatchObject({ outcome: 'published', addresses: 5, objections: [] });
    },
  );
});
