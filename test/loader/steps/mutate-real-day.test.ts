import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { differences } from '../../../loader/storage/stored-loads.ts';
import { inSweep } from '../../support/in-sweep.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { startLoadBench } from './load-bench.ts';

/** A national day as Kadaster delivered it. */
const day = new URL('../../../../shared/bag-samples/weesp-0457/BAGNLDM-13112021-14112021.zip', import.meta.url)
  .pathname;
const missing = existsSync(day) ? '' : ` (skipped: ${day} is missing)`;

const begin = '2010-06-01';

/** A made-up country that has the four streets of the day's nummeraanduidingen, and the object that it withdraws. */
const country: Voorkomens = {
  WPL: [
    { identificatie: '1398', naam: 'Plaats', begin },
    { identificatie: '1399', naam: 'Stad', begin },
  ],
  OPR: [
    { identificatie: '0072300000285330', naam: 'Eerste straat', woonplaats: '1398', begin },
    { identificatie: '0072300000285600', naam: 'Tweede straat', woonplaats: '1398', begin },
    { identificatie: '0091300000001225', naam: 'Derde straat', woonplaats: '1399', begin },
    { identificatie: '0091300000001227', naam: 'Vierde straat', woonplaats: '1399', begin },
  ],
  relaties: [
    { woonplaats: '1398', gemeente: '0765', begin: '2010-07-02' },
    // Another one than in the delivery, which has all relations too.
    { woonplaats: '1399', gemeente: '0091', begin: '2010-12-28' },
  ],
  NUM: [
    {
      identificatie: '0091200000050744',
      postcode: '8602AT',
      huisnummer: 26,
      openbareRuimte: '0091300000001227',
      begin,
    },
    {
      identificatie: '0072200000000001',
      postcode: '8862DP',
      huisnummer: 45,
      openbareRuimte: '0072300000285330',
      begin,
    },
  ],
};

(missing ? describe.skip : describe)(`the day of 13 November 2021${missing}`, () => {
  const bench = startForTests(startLoadBench);

  async function loadedCountry() {
    const dataset = await bench.newDataset();
    await dataset.load({ source: await bench.extract('2021-11-13', country) });
    return { dataset, content: async () => Object.fromEntries(await dataset.served()) };
  }

  const at = (straat: string, woonplaats: string, gemeente: string, id: string) => [
    { straat, woonplaats, gemeente, nummeraanduidingen: [id] },
  ];
  const before = {
    '8602AT#26#': at('Vierde straat', 'Stad', '0091', '0091200000050744'),
    '8862DP#45#': at('Eerste straat', 'Plaats', '0765', '0072200000000001'),
  };
  /** The withdrawn object and its replacement share a key, so this address stays, with the id of the other object. */
  const after = {
    ...before,
    '8602AT#26#': at('Vierde straat', 'Stad', '0340', '1900200010089007'),
    '8862DP#47#': at('Eerste straat', 'Plaats', '0765', '0072200000320755'),
    '8872NK#28#': at('Tweede straat', 'Plaats', '0765', '0072200000320756'),
    '8602AM#7#B': at('Derde straat', 'Stad', '0340', '1900200010089008'),
  };

  it('adds three addresses, and keeps the one whose object it replaces; back and forward again', async () => {
    const { dataset, content } = await loadedCountry();
    expect(await content()).toEqual(before);
    const report = await dataset.load({ mutations: [day] });
    expect(report).toMatchObject({ peildatum: '2021-11-14', voorkomens: 6, added: 3, changed: 1, removed: 0 });
    expect(await content()).toEqual(after);
    await dataset.load({ rollback: '2021-11-13' });
    expect(await content()).toEqual(before);
    await dataset.load({ mutations: [day], again: true });
    expect(await content()).toEqual(after);
  });

  inSweep('names the objects behind its changes', async () => {
    const { dataset } = await loadedCountry();
    const { load } = await dataset.load({ planOnly: true, mutations: [day] });
    const named = [];
    for await (const { key, nummeraanduidingen } of differences(dataset.storage, load ?? '')) {
      named.push([key, nummeraanduidingen]);
    }
    expect(named).toEqual([
      ['8602AM#7#B', ['1900200010089008']],
      ['8602AT#26#', ['0091200000050744', '1900200010089007']],
      ['8862DP#47#', ['0072200000320755']],
      ['8872NK#28#', ['0072200000320756']],
    ]);
  });
});
