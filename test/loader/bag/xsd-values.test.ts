import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { xsdDate, xsdInteger } from '../../../loader/bag/xsd-values.ts';
import { readMutations } from '../../../loader/mutations/read-mutations.ts';
import { type MutationGroup, mutationsXml } from '../../support/mutation-delivery.ts';
import { schemaErrors, xsdFolder } from '../../support/schema-errors.ts';
import { fileXml, type VboStand } from '../../support/stand-xml.ts';
import { numXml, outcomeOf, peildatum, read, someNum } from './nummeraanduidingen.ts';

const ifXsds = existsSync(xsdFolder) ? it : it.skip;
const usual = numXml({ ...someNum, eind: '2030-01-01' });
const inOnderzoek = `<sl:stand><sl-bag-extract:kenmerkInOnderzoek>
  <k:KenmerkNummeraanduidingInOnderzoek xmlns:k="www.kadaster.nl/schemas/lvbag/imbag/kenmerkinonderzoek/v20200601"
    xmlns:h="www.kadaster.nl/schemas/lvbag/imbag/historie/v20200601">
    <k:kenmerk>huisnummer</k:kenmerk>
    <k:identificatieVanNummeraanduiding domein="NL.IMBAG.Nummeraanduiding">0457200000199640</k:identificatieVanNummeraanduiding>
    <k:inOnderzoek>J</k:inOnderzoek>
    <k:documentdatum>2020-01-01</k:documentdatum><k:documentnummer>1</k:documentnummer>
    <k:historieInOnderzoek><h:HistorieInOnderzoek>
      <h:tijdstipRegistratie>2020-01-01T10:00:00</h:tijdstipRegistratie><h:beginGeldigheid>2020-01-01</h:beginGeldigheid>
      <h:BeschikbaarLVInOnderzoek><h:tijdstipRegistratieLV>2020-01-01T10:00:00</h:tijdstipRegistratieLV></h:BeschikbaarLVInOnderzoek>
    </h:HistorieInOnderzoek></k:historieInOnderzoek>
  </k:KenmerkNummeraanduidingInOnderzoek></sl-bag-extract:kenmerkInOnderzoek></sl:stand>`;

/**
 * Forms that the XSDs allow and Kadaster's files don't have, which say the same as the usual file.
 */
const forms: [string, (xml: string) => string][] = [
  ['dates in UTC', (xml) => xml.replace(/(Geldigheid>[\d-]+)</g, '$1Z<')],
  ['dates with a time zone', (xml) => xml.replace(/(Geldigheid>[\d-]+)</g, '$1+02:00<')],
  [
    'a peildatum with a time zone',
    (xml) => xml.replace(`Datum>${peildatum}<`, `Datum>${peildatum}+01:00<`),
  ],
  [
    'a voorkomenidentificatie with a sign',
    (xml) => xml.replace('identificatie>1<', 'identificatie>+1<'),
  ],
  [
    'a voorkomenidentificatie with zeros',
    (xml) => xml.replace('identificatie>1<', 'identificatie> 001 <'),
  ],
  [
    'an end after the year 9999',
    (xml) => xml.replace('eindGeldigheid>2030-01-01', 'eindGeldigheid>12030-01-01'),
  ],
  [
    'further types in its header',
    (xml) => xml.replace(/<sl:objectType>NUM.*?>/, '$&<sl:objectType>PND</sl:objectType>'),
  ],
  [
    'what is in onderzoek beside it',
    (xml) => xml.replace('<sl:stand>', `${inOnderzoek}<sl:stand>`),
  ],
];

describe('a file that Kadaster’s XSDs call valid', () => {
  it.each(['strict', 'fast'] as const)('is read as the usual form, by the %s reader', (reader) => {
    const values = (xml: string) => {
      const outcome = read(xml, reader);
      if (!('visited' in outcome)) return outcome;
      const eind = (one: { eind: number }) => (one.eind > 2030_00_00 ? 'after 2030' : one.eind);
      return outcome.visited.map((num) => ({ ...num, eind: eind(num) }));
    };
    for (const [form, change] of forms) {
      const xml = change(usual);
      expect(xml).not.toBe(usual);
      expect({ form, read: values(xml) }).toEqual({ form, read: values(usual) });
    }
  });

  ifXsds('is one with each of these forms', async () => {
    expect(await schemaErrors(forms.map(([, change]) => change(usual)))).toEqual([]);
    expect((await schemaErrors(usual.replace('>2030-01-01<', '>2030-1-1<'))).join()).toContain(
      '2030-1-1',
    );
  });

  const vbo: VboStand = {
    identificatie: '0457010000000001',
    hoofdadres: '0457200000199640',
    begin: '2010-09-29',
    punt: '131009.0 482405.25',
    oppervlakte: 85,
    gebruiksdoelen: ['woonfunctie', 'hotel (met ontbijt)'],
  };
  const vboXml = fileXml('VBO', [vbo], peildatum).replace('</gml:pos>', '</gml:coordinates>');
  const described = vboXml.replace(
    '<gml:pos>131009.0 482405.25 0.0',
    '<gml:name>1 2</gml:name><gml:coordinates>131009,482405.25,0',
  );

  it.each(['strict', 'fast'] as const)(
    'may name any gebruiksdoel and any GML of a point, by the %s reader',
    (reader) => {
      expect(outcomeOf('VBO', described, reader)).toMatchObject({
        visited: [
          {
            gebruiksdoelen: ['hotel (met ontbijt)', 'woonfunctie'],
            locatie: { x: 131_009, y: 482_405.25 },
          },
        ],
        counts: { problems: [] },
      });
    },
  );

  ifXsds('may do so', async () => {
    expect(await schemaErrors(described)).toEqual([]);
  });

  const vanaf = '2026-01-07';
  const tot = peildatum;
  const group: MutationGroup = { kind: 'NUM', changes: [{ wordt: { ...someNum, begin: vanaf } }] };
  const mutations = mutationsXml([group], vanaf, tot);
  const zoned = mutations.replace(/(Tot|Vanaf|Datum|Geldigheid)>([\d-]+)</g, '$1>$2+01:00<');

  it('may have a time zone at every date of a file of mutations', () => {
    expect(zoned).not.toBe(mutations);
    expect(readMutations(Buffer.from(zoned), 'a.xml')).toEqual(
      readMutations(Buffer.from(mutations), 'a.xml'),
    );
  });

  ifXsds('may have that in the schema of mutations', async () => {
    expect(await schemaErrors(zoned, 'BagvsExtractDeelbestandMutatieLvc-2.1.0.xsd')).toEqual([]);
  });
});

describe('a refusal', () => {
  it.each([
    [
      '<Objecten:huisletter>a',
      '<Objecten:straatnaam>a</Objecten:straatnaam>$&',
      'Nummeraanduiding has no element Objecten:straatnaam',
    ],
    [
      'beginGeldigheid>2010-09-29',
      'beginGeldigheid>29-9-2010',
      "beginGeldigheid '29-9-2010' of object 0457200000199640 is not a date",
    ],
    [
      'Naamgeving uitgegeven',
      'Naamgeving',
      "status 'Naamgeving' of object 0457200000199640 is not a status of NUM in the schema",
    ],
    ['UTF-8', 'ISO-8859-1', 'encoded in ISO-8859-1, and only UTF-8 is read'],
  ])('names the rule that is broken: %s as %s', (before, after, rule) => {
    const xml = usual.replace(before, after);
    expect(xml).not.toBe(usual);
    expect(read(xml, 'fast')).toMatchObject({
      code: 'invalid_xml',
      message: expect.stringContaining(rule),
    });
  });
});

describe('xsdDate', () => {
  it.each([
    ['2021-10-15', '2021-10-15'],
    ['\n2021-10-15Z ', '2021-10-15'],
    ['2021-10-15-05:00', '2021-10-15'],
    ['0000-00-00', '0000-00-00'],
    ['-0044-03-15', '0000-01-01'],
    ['10000-01-01', '9999-12-31'],
    ['2021-10-15T00:00:00', null],
    ['2021-10-15+1', null],
    ['21-10-15', null],
    ['', null],
  ])('of %j is %j', (text, date) => {
    expect(xsdDate(text)).toBe(date);
  });
});

describe('xsdInteger', () => {
  it.each([
    ['12', 12],
    [' +012\n', 12],
    ['-3', -3],
    ['1.0', null],
    ['1e3', null],
    ['99999999999999999999', null],
    ['', null],
  ])('of %j is %j', (text, value) => {
    expect(xsdInteger(text)).toBe(value);
  });
});
