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

describe('a nummeraanduiding with several current occurrences', () => {
  const [id, other] = ['0457200000000001', '0457200000000002'];
  const num = { openbareRuimte: street, begin };
  /** A correction that was left open: the second occurrence has another postcode, the third one begins first. */
  const [first, second, third] = [
    { ...num, identificatie: id, huisnummer: 1, postcode: '1381AA' },
    { ...num, identificatie: id, huisnummer: 2, postcode: '2513AA', begin: '2020-01-01', volgnummer: 2 },
    { ...num, identificatie: id, huisnummer: 3, postcode: '1381AA', begin: '2005-01-01', volgnummer: 3 },
  ];
  const neighbour = { ...num, identificatie: other, huisnummer: 4, postcode: '1381AA' };

  it.each([
    ['one after the other', [first, second, third, neighbour], {}],
    ['each in a separate part', [first, second, third, neighbour], { perFile: 1 }],
    ['not one after the other', [third, neighbour, second, first], {}],
    ['not consecutive, each in a separate part', [second, neighbour, first, third], { perFile: 1 }],
  ])('has the address of the one that began last, and the others are problems: %s', async (_, NUM, packing) => {
    const OPR = [{ identificatie: street, naam: 'Buitenveer', woonplaats: place, begin }];
    const WPL = [{ identificatie: place, naam: 'Weesp', begin }];
    const source = join(bench.newFolder(), 'extract.zip');
    await writeFile(source, await writeExtract('2026-01-08', { NUM, OPR, WPL }, packing));
    const table = await bench.newTable();
    const addresses = dynamoDbAddressTable(bench.client, table);
    const report = await runLoad({ storage: bench.newFolder(), addresses, workers: 0, source, partBytes: 1 });
    expect([...(await bench.addressesIn(table)).keys()].sort()).toEqual(['1381AA#4#', '2513AA#2#']);
    expect(report).toMatchObject({ nummeraanduidingen: 2, problems: 2 });
    expect(report.problemReport?.several_current).toMatchObject({
      count: 2,
      examples: [{ identificatie: id }, { identificatie: id }],
    });
  });
});
