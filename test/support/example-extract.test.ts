import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { exampleExtract, examplePeildatum, exampleVoorkomens } from './example-extract.ts';
import { schemaErrors, xsdFolder } from './schema-errors.ts';
import { deliveryXml, fileXml, relatiesXml } from './stand-xml.ts';
import { sweep } from './sweep.ts';

it('the example extract has the same bytes every time', async () => {
  expect((await exampleExtract()).equals(await exampleExtract())).toBe(true);
});

const ifXsds = existsSync(xsdFolder) ? it : it.skip;
const begin = '2010-01-01';

describe('the XML of the extract writer, checked against the schemas of Kadaster', () => {
  const kinds = ['NUM', 'OPR', 'WPL', 'VBO', 'LIG', 'STA'] as const;
  ifXsds.each(sweep(kinds, 2))('is valid for the example: %s', async (kind) => {
    const { [kind]: voorkomens = [] } = exampleVoorkomens();
    expect(voorkomens.length).toBeGreaterThan(0);
    expect(await schemaErrors(fileXml(kind, voorkomens, examplePeildatum))).toEqual([]);
  });

  ifXsds('is valid for the example: the relations between woonplaatsen and gemeenten', async () => {
    const relaties = exampleVoorkomens().relaties ?? [];
    const ended = relaties.map((one) => ({ ...one, eind: examplePeildatum, status: 'voorlopig' }));
    const xml = relatiesXml([...relaties, ...ended], examplePeildatum);
    expect(await schemaErrors(xml, 'BagvsGwrDeelbestandLvc-2.1.0.xsd')).toEqual([]);
    expect(
      await schemaErrors(xml.replace('definitief', '<x/>'), 'BagvsGwrDeelbestandLvc-2.1.0.xsd'),
    ).not.toEqual([]);
  });

  ifXsds('is valid with every optional element', async () => {
    const moment = '2020-01-01T10:00:00.000';
    const everything = { eind: '2020-01-01', tijdstipInactief: moment, tijdstipInactiefLV: moment };
    const num = {
      identificatie: '0457200000000001',
      huisnummer: 1,
      huisletter: 'a',
      huisnummertoevoeging: 'bis',
    };
    const nums = [
      {
        ...num,
        begin,
        ...everything,
        tijdstipNietBagLV: moment,
        openbareRuimte: '0457300000000001',
        woonplaats: '1012',
      },
      {
        ...num,
        begin,
        postcode: '1381AA',
        openbareRuimte: '0457300000000001',
        documentnummer: 'B&W <1>',
      },
    ];
    expect(await schemaErrors(fileXml('NUM', nums, '2026-01-08'))).toEqual([]);
    const opr = {
      identificatie: '0457300000000001',
      naam: 'Dr. & Mevr. van Häckelstraat',
      woonplaats: '1012',
      begin,
    };
    expect(
      await schemaErrors(fileXml('OPR', [{ ...opr, verkorteNaam: 'Dr vHäckelstr' }], '2026-01-08')),
    ).toEqual([]);
  });

  ifXsds('is valid as a Leveringsdocument', async () => {
    expect(
      await schemaErrors(deliveryXml('2026-01-08'), 'BagvsExtractLeveringsdocument-2.1.0.xsd'),
    ).toEqual([]);
  });

  ifXsds('is found invalid when it is: the schemas are really applied', async () => {
    const num = {
      identificatie: '0457200000000001',
      huisnummer: 0,
      openbareRuimte: '0457300000000001',
      begin,
    };
    expect((await schemaErrors(fileXml('NUM', [num], '2026-01-08'))).join()).toContain(
      'huisnummer',
    );
  });
});
