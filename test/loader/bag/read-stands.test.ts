import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { Occurrence } from '../../../loader/bag/interpret-stand.ts';
import type { ReadCounts } from '../../../loader/bag/problem-report.ts';
import { readStands, readWoonplaatsen, readXml } from '../../../loader/bag/read-stands.ts';
import { SchemaParser } from '../../../loader/bag/schema.ts';
import type { NumVoorkomen, OprVoorkomen, WplVoorkomen } from '../../../loader/bag/voorkomen.ts';
import { ExtractError } from '../../../loader/load-error.ts';
import { fileXml, type NumStand, type OprStand, type WplStand } from '../../support/stand-xml.ts';
import { sweep } from '../../support/sweep.ts';
import { numXml, ofPeildatum, peildatum, read, someNum } from './nummeraanduidingen.ts';

const samples = '../shared/bag-samples';
const ifSamples = existsSync(samples) ? it : it.skip; // real extracts are not part of this repository
const moment = '2020-01-01T10:00:00.000';
const usual = numXml(someNum);

describe.each(['strict', 'fast'] as const)('nummeraanduidingen, by the %s reader', (reader) => {
  it('are read with all that an address needs', () => {
    expect(read(numXml({ ...someNum, woonplaats: '1050' }), reader)).toMatchObject({
      visited: [
        {
          identificatie: '0457200000199640',
          huisnummer: 9,
          huisletter: 'a',
          huisnummertoevoeging: 'bis',
          postcode: '1381AA',
          openbareRuimte: '0457300000000035',
          woonplaats: '1050',
        },
      ],
    });
  });

  it('may lack huisletter, huisnummertoevoeging, postcode and their own woonplaats', () => {
    const { identificatie, huisnummer, openbareRuimte, begin } = someNum;
    expect(
      read(numXml({ identificatie, huisnummer, openbareRuimte, begin }), reader),
    ).toMatchObject({
      visited: [{ huisletter: '', huisnummertoevoeging: '', postcode: null, woonplaats: null }],
    });
  });

  it.each<[string, string]>([
    ['a comment', usual.replace('>9<', '><!-- nine -->9<')],
    ['CDATA', usual.replace('>1381AA<', '><![CDATA[1381AA]]><')],
    ['character references', usual.replace('>1381AA<', '>&#49;381&#x41;A<')],
    ['a processing instruction', usual.replace('<sl:stand>', '<?note?><sl:stand>')],
    ['blanks between elements', usual.replaceAll('><', '>\n  <')],
    [
      'blanks around number and date',
      usual.replace('>9<', '> 9\n<').replace('>2010-09-29<', '> 2010-09-29 <'),
    ],
    [
      'other prefixes',
      usual.replaceAll('Objecten:', 'o:').replaceAll('xmlns:Objecten=', 'xmlns:o='),
    ],
    [
      'a default namespace',
      usual
        .replaceAll('Historie:', '')
        .replace(
          '<Voorkomen>',
          '<Voorkomen xmlns="www.kadaster.nl/schemas/lvbag/imbag/historie/v20200601">',
        ),
    ],
    [
      'another order',
      usual.replace(
        /(<Objecten:huisnummer>.*?)(<Objecten:postcode>.*?<\/Objecten:postcode>)/,
        '$2$1',
      ),
    ],
    [
      'attributes, in other quotes',
      usual.replace('<sl:stand>', "<sl:stand id='1'>").replace(/domein="(.*?)"/g, "domein='$1'"),
    ],
    ['a document number with entities', numXml({ ...someNum, documentnummer: 'B&W <1>' })],
    ['a document number outside ASCII', numXml({ ...someNum, documentnummer: 'Beslüit’' })],
    [
      'two stands in a comment',
      usual.replace(
        '<sl:stand>',
        `<!--${numXml(someNum, someNum).replace(/^.*?(?=<sl:stand>)/s, '')}--><sl:stand>`,
      ),
    ],
    [
      'a comment that holds the end of the header, and a stand',
      usual.replace(
        '<sl:inhoud>',
        `<!--</sl:inhoud>${usual.replace(/^.*?(?=<sl:stand>)/s, '')}-->$&`,
      ),
    ],
    ['the name of its encoding in lower case', usual.replace('UTF-8', 'utf-8')],
    ['no name of its encoding', usual.replace(' encoding="UTF-8"', '')],
    ['a byte order mark', `\uFEFF${usual}`],
    ['line ends of Windows', usual.replaceAll('\n', '\r\n')],
    [
      'a stand in a comment',
      usual.replace('<sl:stand>', `<!-- ${usual.slice(-1500, -60)} --><sl:stand>`),
    ],
  ])('are read the same with %s', (_, xml) => {
    expect(xml).not.toBe(usual);
    const outcome = read(xml, reader);
    expect(outcome).toEqual(read(usual, 'strict'));
    expect(outcome).toMatchObject({ visited: [{ postcode: '1381AA' }] });
  });

  it.each<[string, (xml: string) => string, string]>([
    [
      'objects of another schema',
      (xml) => xml.replaceAll('/objecten/v20200601', '/objecten/v2'),
      'unknown_schema',
    ],
    [
      'another peildatum',
      (xml) => xml.replace('Datum>2026-01-08<', 'Datum>2026-01-07<'),
      'mixed_peildatums',
    ],
    [
      'no peildatum',
      (xml) => xml.replace(/<selecties-extract:LVC.*?LVC-Extract>/s, ''),
      'invalid_xml',
    ],
    [
      'no standBestand',
      (xml) => xml.replace(/<sl:standBestand>.*<\/sl:standBestand>/s, ''),
      'invalid_xml',
    ],
    ['another root', () => '<root/>', 'unknown_schema'],
    ['nothing', () => '', 'invalid_xml'],
    ['no end', (xml) => xml.slice(0, -5), 'invalid_xml'],
    [
      'an end after an occurrence',
      (xml) => xml.slice(0, xml.indexOf('</sl:stand>') + 11),
      'invalid_xml',
    ],
    ['more after its end', (xml) => `${xml}<more/>`, 'invalid_xml'],
    [
      'text between occurrences',
      (xml) => xml.replace('</sl:stand>', '</sl:stand>text'),
      'invalid_xml',
    ],
    [
      'an element that the schema does not have',
      (xml) => xml.replace('NietBagLV>', 'NietBAG>'),
      'invalid_xml',
    ],
    [
      'a value twice',
      (xml) => xml.replace(/(<Objecten:postcode>.*?<\/Objecten:postcode>)/, '$1$1'),
      'invalid_xml',
    ],
    ['two objects in one stand', (xml) => xml.replace('</sl:stand><sl:stand>', ''), 'invalid_xml'],
    [
      'a stand without an object',
      (xml) => xml.replace('<sl:stand>', '<sl:stand/><sl:stand>'),
      'invalid_xml',
    ],
    [
      'no street',
      (xml) => xml.replace(/<Objecten:ligtAan>.*?<\/Objecten:ligtAan>/, ''),
      'invalid_xml',
    ],
    [
      'no status',
      (xml) => xml.replace(/<Objecten:status>.*?<\/Objecten:status>/, ''),
      'invalid_xml',
    ],
    [
      'an unknown status',
      (xml) => xml.replace('Naamgeving uitgegeven', 'Naamgeving gewijzigd'),
      'invalid_xml',
    ],
    [
      'an invalid date',
      (xml) => xml.replace('Geldigheid>2010-09-29<', 'Geldigheid>29-09-2010<'),
      'invalid_xml',
    ],
    [
      'an end that is not a date',
      (xml) => xml.replace('eindGeldigheid>2', 'eindGeldigheid>x'),
      'invalid_xml',
    ],
    ['an unknown entity', (xml) => xml.replace('BAG-2010', 'BAG&nbsp;2010'), 'invalid_xml'],
    ['a DOCTYPE', (xml) => xml.replace('?>', '?><!DOCTYPE x>'), 'invalid_xml'],
    ['two byte order marks', (xml) => `\uFEFF\uFEFF${xml}`, 'invalid_xml'],
    [
      'an element within a value',
      (xml) => xml.replace('>bis<', '><Objecten:status/>bis<'),
      'invalid_xml',
    ],
    [
      'a value with an unknown child',
      (xml) => xml.replace('>9<', '><!-- --><x/>9<'),
      'unknown_schema',
    ],
    ['another encoding', (xml) => xml.replace('UTF-8', 'ISO-8859-1'), 'invalid_xml'],
  ])('are refused in a file with %s', (_, change, code) => {
    const xml = numXml({ ...someNum, eind: '2030-01-01', tijdstipNietBagLV: moment }, someNum);
    expect(change(xml)).not.toBe(xml);
    expect(read(change(xml), reader)).toMatchObject({
      code,
      message: expect.stringContaining('a.xml: '),
    });
  });

  it('are refused in a file that is not UTF-8', () => {
    const xml = Buffer.from(numXml({ ...someNum, documentnummer: 'ü' }), 'latin1');
    expect(read(xml, reader)).toMatchObject({
      code: 'invalid_xml',
      message: expect.stringContaining('not UTF-8'),
    });
  });

  it.each<[string, (xml: string) => string, string]>([
    [
      'type OPR, not NUM',
      (xml) => xml.replace('Type>NUM<', 'Type>OPR<'),
      'holds objects of type OPR, not NUM',
    ],
    [
      'no type',
      (xml) => xml.replace(/<sl:objectType>.*<\/sl:objectType>/, ''),
      'holds objects of type unknown, not NUM',
    ],
    [
      'an empty date',
      (xml) => xml.replace('Datum>2026-01-08<', 'Datum><'),
      'is of no date, in an extract of 2026-01-08; get the extract again',
    ],
  ])('are refused in a file of %s, by what it says', (_, change, message) => {
    const xml = numXml(someNum);
    expect(change(xml)).not.toBe(xml);
    expect(read(change(xml), reader)).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('are refused in a file of another schema by the name of that schema', () => {
    expect(read(numXml().replaceAll('v20200601', 'v20180601'), reader)).toMatchObject({
      message: expect.stringContaining(
        'http://www.kadaster.nl/schemas/lvbag/extract-deelbestand-lvc/v20180601',
      ),
    });
  });

  it.each<[string, (xml: string) => string]>([
    [
      "identificatie '045720000019964'",
      (xml) => xml.replace('0457200000199640', '045720000019964'),
    ],
    ["huisnummer '0'", (xml) => xml.replace('>9<', '>0<')],
    ["huisnummer '09'", (xml) => xml.replace('>9<', '>09<')],
    ["huisnummer '100000'", (xml) => xml.replace('>9<', '>100000<')],
    ["huisletter 'ab'", (xml) => xml.replace('>a<', '>ab<')],
    ["huisletter '1'", (xml) => xml.replace('>a<', '>1<')],
    ["huisletter ''", (xml) => xml.replace('>a<', '><')],
    ["huisnummertoevoeging 'zwart'", (xml) => xml.replace('>bis<', '>zwart<')],
    ["huisnummertoevoeging 'bis-'", (xml) => xml.replace('>bis<', '>bis-<')],
    ["huisnummertoevoeging ''", (xml) => xml.replace('>bis<', '><')],
    ["huisnummertoevoeging ' bis'", (xml) => xml.replace('>bis<', '> bis<')],
    ["postcode '1381aa'", (xml) => xml.replace('1381AA', '1381aa')],
    ["postcode '0381AA'", (xml) => xml.replace('1381AA', '0381AA')],
    ["postcode '1381AAA'", (xml) => xml.replace('1381AA', '1381AAA')],
    ["postcode '1381AA '", (xml) => xml.replace('1381AA', '1381AA ')],
    [
      "identificatie '04572000001996400'",
      (xml) => xml.replace('0457200000199640', '04572000001996400'),
    ],
    [
      "OpenbareRuimteRef '04573000000000350'",
      (xml) => xml.replace('0457300000000035', '04573000000000350'),
    ],
    ["WoonplaatsRef '105'", (xml) => xml.replace('>1050<', '>105<')],
    ["OpenbareRuimteRef '35'", (xml) => xml.replace('0457300000000035', '35')],
    ["WoonplaatsRef '10500'", (xml) => xml.replace('>1050<', '>10500<')],
  ])('are counted as a problem, and not visited, with %s', (detail, change) => {
    const xml = numXml({ ...someNum, woonplaats: '1050' });
    expect(change(xml)).not.toBe(xml);
    expect(read(change(xml), reader)).toMatchObject({
      visited: [],
      counts: {
        voorkomens: 1,
        current: 0,
        problems: [{ kind: 'invalid_value', file: 'a.xml', detail }],
      },
    });
  });

  it('are not a problem with an invalid value when they do not count anyway', () => {
    const outcome = read(numXml({ ...someNum, live: false, postcode: '0000XX' }), reader);
    expect(outcome).toMatchObject({
      visited: [],
      counts: { voorkomens: 1, problems: [], notCurrent: { withdrawn: 1 } },
    });
  });

  it('are visited for their date or for a later one, with their span, in every state', () => {
    const days = ['2026-01-07', peildatum, '2026-01-09', '2026-01-10'];
    const moments = [undefined, moment];
    const each = days.flatMap((begin) =>
      [undefined, ...days].flatMap((eind) =>
        [true, false].flatMap((live) =>
          moments.flatMap((tijdstipInactief) =>
            moments.flatMap((tijdstipInactiefLV) =>
              moments.map((tijdstipNietBagLV) => ({
                begin,
                eind,
                live,
                tijdstipInactief,
                tijdstipInactiefLV,
                tijdstipNietBagLV,
              })),
            ),
          ),
        ),
      ),
    );
    const nums = each.map(
      (state, i) => ({ ...someNum, ...state, huisnummer: i + 1, volgnummer: i + 1 }) as NumStand,
    );
    const outcome = read(numXml(...nums), reader);
    if (!('counts' in outcome)) throw new Error(outcome.message);
    const held = nums.filter(
      ({ begin, eind, live, tijdstipInactief, tijdstipInactiefLV, tijdstipNietBagLV }) => {
        const isOut = !live || tijdstipInactief || tijdstipInactiefLV || tijdstipNietBagLV;
        return !isOut && (eind === undefined || (eind > begin && eind > peildatum));
      },
    );
    const spanOf = ({ huisnummer, volgnummer, begin, eind }: NumStand) => ({
      huisnummer,
      volgnummer,
      begin: Number(begin.replaceAll('-', '')),
      eind: eind ? Number(eind.replaceAll('-', '')) : 99_999_999,
    });
    expect(outcome.visited).toMatchObject(
      held.filter(({ begin }) => begin <= peildatum).map(spanOf),
    );
    expect(outcome.later).toMatchObject(held.filter(({ begin }) => begin > peildatum).map(spanOf));
    expect(outcome.counts).toMatchObject({
      voorkomens: nums.length,
      current: outcome.visited.length,
      notCurrent: { withdrawn: nums.length / 2, future: nums.length / 4 },
    });
  });

  it('are passed on for a later date when they begin after the snapshot, unless a value is invalid', () => {
    const begin = '2026-01-09';
    const valid = { ...someNum, begin };
    const invalid = { ...someNum, identificatie: '0457200000199641', begin, postcode: '0000XX' };
    const found: string[] = [];
    const later = (num: NumVoorkomen) => void found.push(num.identificatie);
    const strictly = reader === 'strict';
    readXml.NUM(Buffer.from(numXml(invalid, valid)), 'a.xml', peildatum, () => undefined, {
      strictly,
      later,
    });
    expect(found).toEqual([valid.identificatie]);
  });

  it.each([
    'identificatie',
    'huisnummer',
    'status',
    'voorkomenidentificatie',
    'beginGeldigheid',
    'OpenbareRuimteRef',
  ])('are refused without a value that the schema requires: %s', (value) => {
    const element = new RegExp(`<([\\w-]+:${value})\\b[^>]*>[^<]*</\\1>`);
    expect(numXml(someNum)).toMatch(element);
    expect(read(numXml(someNum).replace(element, ''), reader)).toMatchObject({
      code: 'invalid_xml',
      message: expect.stringContaining(`an occurrence without ${value}`),
    });
  });

  it.each([
    ['0', true],
    ['01', true],
    ['+1', true],
    ['99999', true],
    ['100000', false],
    ['-1', false],
    ['1.0', false],
    ['', false],
  ])('are refused with a voorkomenidentificatie outside 0 to 99999: %j', (volgnummer, isRead) => {
    const xml = numXml(someNum).replace('identificatie>1<', `identificatie>${volgnummer}<`);
    expect(read(xml, reader)).toMatchObject(
      isRead
        ? { visited: [{ volgnummer: Number(volgnummer) }] }
        : {
            code: 'invalid_xml',
            message: expect.stringContaining(
              `voorkomenidentificatie '${volgnummer}' of object 0457200000199640 is not a whole number of 0 to 99999`,
            ),
          },
    );
  });

  it.each<[keyof NumStand, unknown[]]>([
    ['huisnummer', [1, 99_999]],
    ['huisletter', ['a', 'z', 'A', 'Z']],
    ['huisnummertoevoeging', ['0', 'z', 'abcd', '9999', 'AZaz']],
    ['postcode', ['1000AA', '9999ZZ', '1234BX', '5678YC']],
  ])('may have any %s that the register allows', (name, values) => {
    const outcome = read(
      numXml(...values.map((value) => ({ ...someNum, [name]: value }) as NumStand)),
      reader,
    );
    expect(outcome).toMatchObject({
      visited: values.map((value) => ({ [name]: value })),
      counts: { problems: [] },
    });
  });

  ifSamples.each([
    ['doesburg-0221-small/expanded/0221NUM15092020-000001.xml', 15],
    ['gdal-lvbag/num.xml', 3],
  ])('are all found in a real file that was formatted manually: %s', (name, voorkomens) => {
    const xml = readFileSync(`${samples}/${name}`);
    expect(read(xml, reader)).toMatchObject({ code: 'mixed_peildatums' });
    expect(read(ofPeildatum(xml), reader)).toMatchObject({ counts: { voorkomens } });
  });

  ifSamples.each([
    'gdal-lvbag/opr.xml',
    'gdal-lvbag/lig_old.gfs',
    'gob-unit-fixtures/mutations.xml',
  ])('are not searched for in another kind of file: %s', (name) => {
    expect(read(readFileSync(`${samples}/${name}`), reader)).toHaveProperty('code');
  });
});

/** How many occurrences each reader reads. */
function byReader(xml: string): { strict: number; fast: number } {
  const counts = { strict: 0, fast: 0 };
  const count = (reader: 'strict' | 'fast') => () => {
    counts[reader]++;
  };
  readStands(Buffer.from(xml), 'a.xml', 'NUM', peildatum, count('strict'), count('fast'));
  return counts;
}

describe('the fast reader', () => {
  const ends: [string, Partial<NumStand>][] = [
    ['of one that ended', { eind: '2020-01-01' }],
    ['of one that will end', { eind: '2026-02-01' }],
    ['of an occurrence without an end', {}],
  ];
  it.each(sweep(ends, 1))(
    'reads as the strict one whichever byte of a value differs, %s',
    (_, values) => {
      const xml = numXml({ ...someNum, ...values });
      const start = xml.indexOf('<sl:stand>');
      for (const { 0: value, index } of xml.slice(start).matchAll(/(?<=>)[^<]+/g)) {
        for (let at = start + index; at < start + index + value.length; at++) {
          for (const byte of sweep('0/:x&\u007f', 2)) {
            const changed = xml.slice(0, at) + byte + xml.slice(at + 1);
            assert.deepEqual([changed, read(changed, 'fast')], [changed, read(changed, 'strict')]);
          }
        }
      }
    },
  );

  it('reads everything that Kadaster writes without the strict reader', () => {
    const every = [
      someNum,
      { ...someNum, woonplaats: '1050', eind: '2030-01-01', tijdstipInactief: moment },
      { ...someNum, live: false, tijdstipInactiefLV: moment, tijdstipNietBagLV: moment },
      { ...someNum, huisnummer: 1, volgnummer: 2, type: 'Ligplaats' as const },
    ];
    const xml = numXml(...every)
      .replaceAll('<sl:stand>', '\r\n\t <sl:stand>')
      .replace('Z.9837/D.6498', 'B&amp;W-1774, F&#xfc;r');
    expect(byReader(xml)).toEqual({ strict: 0, fast: 4 });
  });

  it('is used unless the strict one is asked for', () => {
    const xml = Buffer.from(numXml(...Array.from({ length: 50 }, () => someNum)));
    const write = jest.spyOn(SchemaParser.prototype, 'write');
    const strictBytes = (options?: { strictly: boolean }) => {
      write.mockClear();
      readXml.NUM(xml, 'a.xml', peildatum, () => undefined, options);
      return write.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0);
    };
    try {
      expect(strictBytes()).toBeLessThan(xml.length / 10);
      expect(strictBytes({ strictly: true })).toBe(xml.length);
    } finally {
      write.mockRestore();
    }
  });

  it('reads an occurrence of any length', () => {
    const nums = Array.from({ length: 400 }, (_, i) => ({
      ...someNum,
      identificatie: String(457200000100000 + i).padStart(16, '0'),
      documentnummer: i === 33 ? 'x'.repeat(70_000) : '&'.repeat(i % 17),
      ...(i % 50 === 7 ? { woonplaats: '1050', eind: '2030-01-01' } : {}),
    }));
    const xml = numXml(...nums).replaceAll('<sl:stand><', (found, at) =>
      at % 5 ? found : `${' '.repeat(9_000)}${found}`,
    );
    expect(xml.length).toBeGreaterThan(800_000);
    expect(byReader(xml)).toEqual({ strict: 0, fast: 400 });
    expect(read(xml, 'fast')).toEqual(read(xml, 'strict'));
  });

  it('visits in the order of the file', () => {
    const numbers = Array.from({ length: 20 }, (_, i) => i + 1);
    const xml = numXml(...numbers.map((huisnummer) => ({ ...someNum, huisnummer }))).replace(
      '>7<',
      '><!-- -->7<',
    );
    const visited: number[] = [];
    readXml.NUM(Buffer.from(xml), 'a.xml', peildatum, ({ huisnummer }) => visited.push(huisnummer));
    expect(visited).toEqual(numbers);
  });
});

const street: OprStand = {
  identificatie: '0457300000000035',
  naam: 'Buitenveer',
  woonplaats: '3631',
  begin: '2010-01-01',
};
const place: WplStand = { identificatie: '3631', naam: 'Weesp', begin: '2016-01-01' };

type Read<T> = { visited: T[]; counts: ReadCounts };

function streets(voorkomens: OprStand[], strictly: boolean): Read<OprVoorkomen> {
  return streetsIn(Buffer.from(fileXml('OPR', voorkomens, peildatum)), strictly);
}

function streetsIn(xml: Buffer, strictly: boolean): Read<OprVoorkomen> {
  const visited: OprVoorkomen[] = [];
  const counts = readXml.OPR(xml, 'opr.xml', peildatum, (found) => visited.push(found), {
    strictly,
  });
  return { visited, counts };
}

async function* chunksOf(xml: Buffer, chunkBytes = xml.length): AsyncGenerator<Buffer> {
  for (let start = 0; start < xml.length; start += chunkBytes) {
    yield xml.subarray(start, start + chunkBytes);
  }
}

async function placesIn(xml: AsyncIterable<Buffer>): Promise<Read<WplVoorkomen>> {
  const visited: WplVoorkomen[] = [];
  const counts = await readWoonplaatsen(xml, 'wpl.xml', peildatum, (found) => visited.push(found));
  return { visited, counts };
}

describe.each([
  ['strict reader', true],
  ['fast reader', false],
])('streets, by the %s', (_, strictly) => {
  it.each([
    'Buitenveer',
    "'t Nauwe Steegje",
    '’s-Gravelandsevaart',
    'Mr.J.C.Bührmannlaan',
    'Jozef Israëlsstraat',
    'Dr. & Mevr. Smit-pad',
    'Cafe\u0301laan',
    '\u00a0Veer\u2028pad\u0085',
    '\u{1f3e0}'.repeat(80),
    'x'.repeat(80),
    'x',
  ])('keep their name as the register writes it: %s', (naam) => {
    expect(streets([{ ...street, naam }], strictly).visited).toMatchObject([
      { identificatie: '0457300000000035', naam, woonplaats: '3631' },
    ]);
  });

  it('keep their full name if they also have a short one', () => {
    const naam = 'Burgemeester Nahuyssingel';
    expect(
      streets([{ ...street, naam, verkorteNaam: 'Burg Nahuyssingel' }], strictly).visited[0]?.naam,
    ).toBe(naam);
  });

  it.each<[string, Partial<OprStand>]>([
    ['withdrawn', { live: false }],
    ['ended', { eind: '2020-01-01' }],
    ['future', { begin: '2026-02-01' }],
  ])('do not count when %s', (reason, change) => {
    const { visited, counts } = streets([{ ...street, ...change }, street], strictly);
    expect(visited).toHaveLength(1);
    expect(counts).toMatchObject({ voorkomens: 2, current: 1, notCurrent: { [reason]: 1 } });
  });

  it.each<[string, Partial<OprStand>]>([
    ["naam ''", { naam: '' }],
    ["naam ' Veer'", { naam: ' Veer' }],
    ["naam 'Veer\npad'", { naam: 'Veer\npad' }],
    [`naam '${'x'.repeat(81)}'`, { naam: 'x'.repeat(81) }],
    [`naam '${'\u{1f3e0}'.repeat(81)}'`, { naam: '\u{1f3e0}'.repeat(81) }],
    ["WoonplaatsRef '36'", { woonplaats: '36' }],
    ["WoonplaatsRef '36311'", { woonplaats: '36311' }],
    ["identificatie '045730000000003'", { identificatie: '045730000000003' }],
    ["identificatie '04573000000000355'", { identificatie: '04573000000000355' }],
  ])('are a problem with %s', (detail, change) => {
    const { visited, counts } = streets([{ ...street, ...change }], strictly);
    expect(visited).toEqual([]);
    expect(counts.problems).toMatchObject([{ kind: 'invalid_value', detail }]);
  });
});

describe('streets', () => {
  it('are read the same by both readers, with any names', () => {
    const naam = fc.string({ unit: 'grapheme', maxLength: 85 });
    fc.assert(
      fc.property(fc.array(naam, { maxLength: 5 }), (names) => {
        const voorkomens = names.map((name) => ({
          ...street,
          naam: name.replace(/[^\P{C}]/gu, ''),
        }));
        expect(streets(voorkomens, false)).toEqual(streets(voorkomens, true));
      }),
    );
  });

  it.each([
    ['the name', 'Buitenveer'],
    ['the documentnummer', 'BAG-2010/1'],
  ])(
    'are read the same, or refused, with any bytes of a letter with an accent in %s',
    (_, text) => {
      const xml = Buffer.from(
        fileXml('OPR', [street, street], peildatum).replace(text, 'De Pôlle, \ufffd'),
      );
      const at = xml.indexOf('ô');
      const outcomes = { read: 0, refused: 0 };
      const check = (...bytes: number[]) => {
        xml.set(bytes, at);
        const read = (strictly: boolean) => {
          try {
            return streetsIn(xml, strictly).visited;
          } catch (error) {
            return (error as Error).message;
          }
        };
        const found = read(true);
        expect([bytes, read(false)]).toEqual([bytes, found]);
        outcomes[typeof found === 'string' ? 'refused' : 'read']++;
      };
      for (let byte = 0; byte < 256; byte++) check(0xc3, byte);
      expect(outcomes).toEqual({ read: 64, refused: 192 });
      for (let byte = 0x80; byte < 256; byte++) check(byte, 0x80);
      for (let byte = 0xb0; byte < 0xc0; byte++) check(0xef, 0xbf, byte); // XML does not allow the last two
      expect(outcomes).toEqual({ read: 108, refused: 292 });
    },
  );

  it('are read by the fast reader, which leaves names with references to the strict one', () => {
    const strict: string[] = [];
    const fast: string[] = [];
    const names = ['x', 'x'.repeat(80), "'t Veer", 'Mr.J.C.Bührmannlaan', 'B&W-pad'].map(
      (naam) => ({
        ...street,
        naam,
      }),
    );
    const xml = Buffer.from(fileXml('OPR', [{ ...street, live: false }, ...names], peildatum));
    const to = (found: string[]) => (fields: Occurrence) => void found.push(fields.naam ?? '');
    readStands(xml, 'opr.xml', 'OPR', peildatum, to(strict), (stand) => to(fast)(stand.fields()));
    expect({ strict, fast }).toEqual({
      strict: ['B&W-pad'],
      fast: ['Buitenveer', 'x', 'x'.repeat(80), "'t Veer", 'Mr.J.C.Bührmannlaan'],
    });
  });
});

describe('places', () => {
  it('are read in chunks of any size', async () => {
    const xml = Buffer.from(
      fileXml('WPL', [place, { ...place, naam: 'Sint Anthoniepôlder' }], peildatum),
    );
    for (const chunkBytes of [1, 2, 7, 1_000, 1_000_000]) {
      const { visited } = await placesIn(chunksOf(xml, chunkBytes));
      expect(visited.map(({ naam }) => naam)).toEqual(['Weesp', 'Sint Anthoniepôlder']);
    }
  });

  it('do not count when withdrawn without an end date', async () => {
    const withdrawn = { ...place, identificatie: '1012', live: false };
    const { visited, counts } = await placesIn(
      chunksOf(Buffer.from(fileXml('WPL', [withdrawn, place], peildatum))),
    );
    expect(visited).toMatchObject([{ identificatie: '3631', naam: 'Weesp' }]);
    expect(counts).toMatchObject({ voorkomens: 2, current: 1, notCurrent: { withdrawn: 1 } });
  });

  it.each([
    ['cut off', (xml: Buffer) => xml.subarray(0, -20)],
    [
      'not UTF-8',
      (xml: Buffer) =>
        Buffer.concat([xml.subarray(0, 300), Buffer.from([0xff]), xml.subarray(300)]),
    ],
    ['cut off inside a letter', (xml: Buffer) => Buffer.concat([xml, Buffer.from([0xc3])])],
  ])('are refused in a file that is %s', async (_, damage) => {
    const xml = Buffer.from(fileXml('WPL', [place], peildatum));
    await expect(placesIn(chunksOf(damage(xml)))).rejects.toMatchObject({
      name: 'ExtractError',
      code: 'invalid_xml',
    });
  });

  it('are refused as damaged in a damaged file, even if its bytes are not XML', async () => {
    async function* damaged() {
      yield Buffer.from('<sl:stand>');
      throw new ExtractError('corrupt_zip', 'wpl.xml', 'damaged: its CRC-32 is wrong');
    }
    await expect(placesIn(damaged())).rejects.toMatchObject({ code: 'corrupt_zip' });
  });

  const real = '../shared/bag-samples/gdal-lvbag/wpl.xml';
  (existsSync(real) ? it : it.skip)('are found in a real file, outlines and all', async () => {
    const { visited, counts } = await placesIn(chunksOf(ofPeildatum(readFileSync(real))));
    expect(counts.voorkomens).toBe(2);
    expect(visited.every(({ naam }) => /^[A-Z]/.test(naam))).toBe(true);
  });
});
