import { existsSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { fromBufferPromise } from 'yauzl';
import { gemeenteProblems, readGemeenteRelaties } from '../../../loader/bag/gemeente-relaties.ts';
import { dayOf, noEind } from '../../../loader/bag/voorkomen.ts';
import { relatiesXml } from '../../support/stand-xml.ts';

const samples = '../shared/bag-samples';
const ifSamples = existsSync(samples) ? it : it.skip; // real extracts are not part of this repository

/** The XML in the zip of relations that is in a sample. */
async function sampleXml(path: string, name: string): Promise<Buffer> {
  let bytes: Buffer = readFileSync(`${samples}/${path}`);
  for (const wanted of [`${name}.zip`, `${name}-000001.xml`]) {
    const zip = await fromBufferPromise(bytes);
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === wanted) bytes = await buffer(await zip.openReadStreamPromise(entry));
    }
  }
  return bytes;
}

const peildatum = '2026-01-08';
const weesp = { woonplaats: '3631', gemeente: '0457', begin: '2016-01-01', eind: '2022-03-24' };
const amsterdam = { woonplaats: '3631', gemeente: '0363', begin: '2022-03-24' };
const xml = relatiesXml(
  [weesp, amsterdam, { ...amsterdam, gemeente: '0384', status: 'voorlopig' }],
  peildatum,
);
const read = (text: string) => readGemeenteRelaties(Buffer.from(text), 'relaties.xml', peildatum);
const once = (from: string, to: string) => {
  expect(xml).toContain(from);
  return xml.replace(from, to);
};

describe('the relations between woonplaatsen and gemeenten', () => {
  it('are those with the status definitief, with their dates', () => {
    expect(read(xml)).toEqual({
      relaties: [
        { woonplaats: '3631', gemeente: '0457', begin: 20160101, eind: 20220324 },
        { woonplaats: '3631', gemeente: '0363', begin: 20220324, eind: noEind },
      ],
      problems: [],
    });
  });

  it('are the same with other prefixes, comments, blanks, CDATA and entities', () => {
    const odd = xml
      .replaceAll('gwr-product:', 'p:')
      .replace('xmlns:gwr-product', 'xmlns:p')
      .replaceAll('>definitief<', '><![CDATA[def]]>initief<')
      .replaceAll('0457', '&#x30;457')
      .replaceAll('>2016-01-01<', '> 2016-01-01\n<')
      .replaceAll(
        '<p:GemeenteWoonplaatsRelatie>',
        '\n<!-- a relation --><p:GemeenteWoonplaatsRelatie>\n  ',
      );
    expect(read(odd)).toEqual(read(xml));
  });

  ifSamples.each([
    ['weesp-0457/BAGGEM0457L-15102021.zip', '15102021', 5_713, 0],
    ['weesp-0457/BAGNLDM-13112021-14112021.zip', '14112021', 5_763, 0],
    ['doesburg-0221-small/BAGNLDL-15092020-small.zip', '15092020', 6_001, 325], // as Kadaster delivered it
  ])(
    'are read from %s, each woonplaats with its gemeente on its date',
    async (path, digits, count, repeated) => {
      const date = digits.replace(/(..)(..)(....)/, '$3-$2-$1');
      const { relaties, problems } = readGemeenteRelaties(
        await sampleXml(path, `GEM-WPL-RELATIE-${digits}`),
        'xml',
        date,
      );
      expect(relaties).toHaveLength(count);
      expect(problems).toEqual([]);
      const current = relaties.filter(
        ({ begin, eind }) => begin <= dayOf(date) && eind > dayOf(date),
      );
      expect(current.length - new Set(current.map(({ woonplaats }) => woonplaats)).size).toBe(
        repeated,
      );
      expect(
        current.filter(({ gemeente }) => gemeente === '0457').map(({ woonplaats }) => woonplaats),
      ).toContain('3631');
    },
  );

  it('with a code that is no code are problems', () => {
    expect(read(once('>0457<', '>457<'))).toMatchObject({
      relaties: [{ gemeente: '0363' }],
      problems: [
        {
          kind: 'invalid_value',
          file: 'relaties.xml',
          identificatie: '3631',
          detail: "gemeente '457'",
        },
      ],
    });
  });

  it.each([
    [
      'of another date',
      () => xml.replace(peildatum, '2026-01-09'),
      'is of 2026-01-09, in a delivery of 2026-01-08',
    ],
    [
      'without a date',
      () => xml.replace(/<selecties-extract:StandT.*>/, ''),
      'is of no date, in a delivery of',
    ],
    [
      'in another version',
      () => xml.replaceAll('v20200601', 'v20300601'),
      'not in version v20200601 of BAG 2.0',
    ],
    [
      'with an unknown element',
      () => once('<gwr-product:status>', '<gwr-product:x/><gwr-product:status>'),
      'GemeenteWoonplaatsRelatie has no element gwr-product:x',
    ],
    [
      'without a status',
      () => once('<gwr-product:status>definitief</gwr-product:status>', ''),
      'a relation without status',
    ],
    [
      'with two gemeenten',
      () =>
        once(
          '</gwr-product:gerelateerdeGemeente>',
          '<gwr-product:identificatie>0001</gwr-product:identificatie>$&',
        ),
      'a second gemeente in one relation',
    ],
    [
      'without a begin',
      () => xml.replace(/<bagtypes:begin.*?<\/bagtypes:begin[^>]*>/, ''),
      'a relation without begin',
    ],
    [
      'with a date of another form',
      () => once('>2016-01-01<', '>1-1-2016<'),
      "'1-1-2016' in a relation is not a date (xs:date)",
    ],
    [
      'with a DOCTYPE',
      () => xml.replace('?>', '?><!DOCTYPE x [<!ENTITY e "e">]>'),
      'has a DOCTYPE',
    ],
    ['that is cut off', () => xml.slice(0, -20), 'not well-formed XML'],
    [
      'that is not UTF-8',
      () => Buffer.from(once('>definitief<', '>\u00e9<'), 'latin1'),
      'not UTF-8',
    ],
  ])('in a file %s are refused by its name', (_, damaged, message) => {
    const bytes = Buffer.from(damaged());
    const reading = () => readGemeenteRelaties(bytes, 'relaties.xml', peildatum);
    expect(reading).toThrow(message);
    expect(reading).toThrow(/^relaties\.xml: /);
  });
});

describe('the problems with gemeenten', () => {
  const kinds = (...gemeenten: (string | undefined)[]) =>
    gemeenteProblems(
      gemeenten.map((gemeente, i) => ({
        identificatie: `100${i}`,
        naam: 'Weesp',
        ...(gemeente && { gemeente }),
      })),
      'relaties.zip',
    ).map(({ kind, identificatie }) => `${kind} ${identificatie}`);

  it('are the woonplaatsen without one, and each code without a name', () => {
    expect(kinds('0457', undefined, '9990', '9990')).toEqual([
      'gemeente_missing 1001',
      'gemeente_unknown 9990',
    ]);
    expect(kinds('0457')).toEqual([]);
    expect(kinds()).toEqual([]);
  });

  it('are one where no woonplaats has one', () => {
    expect(kinds(undefined, undefined)).toEqual(['gemeente_missing GEM-WPL-RELATIE']);
  });
});
