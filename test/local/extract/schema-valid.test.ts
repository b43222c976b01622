import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { validateXML } from 'xmllint-wasm';
import { demoPeildatum, demoVoorkomens } from '../../../local/extract/demo.ts';
import { deliveryXml, fileXml } from '../../../local/extract/stand-xml.ts';

const xsds = '../shared/bag-samples/kadaster-xsd/lvbag-extract-20200928';
const ifXsds = existsSync(xsds) ? it : it.skip; // the Kadaster's schemas are not part of this repository

/** One flat folder of schemas: their file names differ, so only the folders in what they import have to go. */
const schemas = globSync(`${xsds}/**/*.xsd`).map((path) => ({
  fileName: basename(path),
  contents: readFileSync(path, 'utf8').replace(/schemaLocation="[^"]*\//g, 'schemaLocation="'),
}));

async function errors(contents: string, schema: string): Promise<string[]> {
  const result = await validateXML({
    xml: { fileName: 'file.xml', contents },
    schema: schemas.filter(({ fileName }) => fileName === schema),
    preload: schemas.filter(({ fileName }) => fileName !== schema),
  });
  return result.errors.map(({ message }) => message);
}

const standXsd = 'BagvsExtractDeelbestandExtractLvc-2.1.0.xsd';
const begin = '2010-01-01';

describe('what the extract writer writes, by the schemas of the Kadaster', () => {
  ifXsds.each(['NUM', 'OPR', 'WPL'] as const)('is valid for the demo: %s', async (kind) => {
    expect(await errors(fileXml(kind, demoVoorkomens()[kind], demoPeildatum), standXsd)).toEqual([]);
  });

  ifXsds('is valid with every optional element', async () => {
    const moment = '2020-01-01T10:00:00.000';
    const everything = { eind: '2020-01-01', tijdstipInactief: moment, tijdstipInactiefLV: moment };
    const num = { identificatie: '0457200000000001', huisnummer: 1, huisletter: 'a', huisnummertoevoeging: 'bis' };
    const nums = [
      {
        ...num,
        begin,
        ...everything,
        tijdstipNietBagLV: moment,
        openbareRuimte: '0457300000000001',
        woonplaats: '1012',
      },
      { ...num, begin, postcode: '1381AA', openbareRuimte: '0457300000000001', documentnummer: 'B&W <1>' },
    ];
    expect(await errors(fileXml('NUM', nums, '2026-01-08'), standXsd)).toEqual([]);
    const opr = { identificatie: '0457300000000001', naam: 'Dr. & Mevr. van Häckelstraat', woonplaats: '1012', begin };
    expect(await errors(fileXml('OPR', [{ ...opr, verkorteNaam: 'Dr vHäckelstr' }], '2026-01-08'), standXsd)).toEqual(
      [],
    );
  });

  ifXsds('is valid as a Leveringsdocument', async () => {
    expect(await errors(deliveryXml('2026-01-08'), 'BagvsExtractLeveringsdocument-2.1.0.xsd')).toEqual([]);
  });

  ifXsds('is found invalid when it is: the schemas are really applied', async () => {
    const num = { identificatie: '0457200000000001', huisnummer: 0, openbareRuimte: '0457300000000001', begin };
    expect((await errors(fileXml('NUM', [num], '2026-01-08'), standXsd)).join()).toContain('huisnummer');
  });
});
