import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { SchemaParser } from '../../../loader/bag/schema.ts';
import { readMutationDelivery } from '../../../loader/mutations/mutation-delivery.ts';
import { readMutations } from '../../../loader/mutations/read-mutations.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { inSweep } from '../../support/in-sweep.ts';
import {
  mutationDeliveryXml,
  mutationsXml,
  type VoorkomenChange,
  writeMutationDelivery,
} from '../../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays } from '../../support/register.ts';
import { schemaErrors, xsdFolder } from '../../support/schema-errors.ts';
import { objectXml, relatiesXml } from '../../support/stand-xml.ts';
import { isFullSweep } from '../../support/sweep.ts';
import { writeExtract } from '../../support/write-extract.ts';
import { zipOf } from '../bag/zip-of.ts';

const realDay = '../shared/bag-samples/weesp-0457/BAGNLDM-13112021-14112021.zip';
const ifReal = existsSync(realDay) ? it : it.skip;
/** The mutations of the tests are the same each time, so `npm test` does not examine them. */
const ifXsds = existsSync(xsdFolder) ? inSweep : it.skip;
const start = '2026-01-08';
const random = new Random(3);
const days = [...laterDays(random, firstState(random, start), start, 10)];
const [day] = days.filter(({ groups }) => groups.length > 3) as [(typeof days)[number]];
const vanaf = dateAfter(day.date, -1);
const usualXml = mutationsXml(day.groups, vanaf, day.date);

const other =
  '<ml:mutatieGroep><ml:wijziging><ml:was><mlm:bagObject><Objecten:Pand><Objecten:identificatie domein="NL.IMBAG.Pand">' +
  '0072100000321226</Objecten:identificatie></Objecten:Pand></mlm:bagObject></ml:was></ml:wijziging></ml:mutatieGroep>';

function read(xml: string, options = {}) {
  return readMutations(Buffer.from(xml), 'day.xml', options);
}

/** `mutationsXml` with one part of its text replaced. */
function changed(from: string | RegExp, to: string): string {
  const made = usualXml.replace(from, to);
  if (made === usualXml) throw new Error(`nothing to replace: ${from}`);
  return made;
}

describe('a file of mutations', () => {
  ifXsds('is made valid against the schemas of Kadaster', async () => {
    const schema = 'BagvsExtractDeelbestandMutatieLvc-2.1.0.xsd';
    const files = days.map(({ date, groups }) => mutationsXml(groups, dateAfter(date, -1), date));
    expect(files).toHaveLength(10);
    expect(await schemaErrors(files, schema)).toEqual([]);
    const wrong = files.findLastIndex((file) => file.includes('</ml:mutatieGroep>'));
    files[wrong] =
      files[wrong]?.replace('</ml:mutatieGroep>', '<ml:none/></ml:mutatieGroep>') ?? '';
    expect((await schemaErrors(files, schema)).join()).toContain('none');
    const document = mutationDeliveryXml(vanaf, day.date);
    expect(await schemaErrors(document, 'BagvsExtractLeveringsdocument-2.1.0.xsd')).toEqual([]);
  });

  it('returns every change of every object, in its order', () => {
    const { mutations, ...dates } = read(usualXml);
    expect(dates).toEqual({ vanaf, tot: day.date, gemeenten: [], problems: [] });
    const expected = day.groups.flatMap(({ kind, changes }) =>
      changes.map(({ was, wordt }) => [
        kind,
        wordt.identificatie,
        wordt.volgnummer ?? 1,
        was === undefined,
      ]),
    );
    expect(
      mutations.map((one) => [one.kind, one.identificatie, one.volgnummer, one.isNew]),
    ).toEqual(expected);
  });

  it('is read the same by the strict parser alone, with anything between its groups', () => {
    const between = fc.constantFrom(
      '\t',
      ' ',
      '\n',
      '<!-- <ml:mutatieGroep> -->',
      other,
      other.replace('<Objecten:Pand>', '<Objecten:Pand >'),
    );
    fc.assert(
      fc.property(fc.array(between, { minLength: 1, maxLength: 6 }), (pieces) => {
        const xml = changed('</ml:mutatieGroep>', `</ml:mutatieGroep>${pieces.join('')}`);
        expect(read(xml)).toEqual(read(xml, { strictly: true }));
      }),
      { numRuns: isFullSweep ? 40 : 8 },
    );
  });

  it('holds buildings that are skipped as bytes, of any kind and in any kind of group', () => {
    const kinds = ['Pand', 'Verblijfsobject', 'Ligplaats', 'Standplaats'].map((kind) =>
      other.replaceAll('Pand', kind),
    );
    const added = kinds.map((group) =>
      group.replaceAll('wijziging', 'toevoeging').replaceAll('ml:was', 'ml:wordt'),
    );
    const skipped = [...kinds, ...added].join('');
    const first = usualXml.indexOf('</ml:mutatieGroep>') + '</ml:mutatieGroep>'.length;
    const last = usualXml.lastIndexOf('</ml:mutatieGroep>') + '</ml:mutatieGroep>'.length;
    const xml = [usualXml.slice(0, first), usualXml.slice(first, last), usualXml.slice(last)].join(
      skipped,
    );
    const write = jest.spyOn(SchemaParser.prototype, 'write');
    try {
      expect(read(xml)).toEqual(read(usualXml, { strictly: true }));
      const [strictBytes, withBuildings] = [usualXml, xml].map((text) => {
        write.mockClear();
        read(text);
        return write.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0);
      });
      expect(withBuildings).toBe(strictBytes);
    } finally {
      write.mockRestore();
    }
  });

  it('is read the same by the strict parser alone, with a building in the text of a value', () => {
    const street = {
      identificatie: '0457300000000035',
      naam: 'Veer',
      woonplaats: '3631',
      begin: '2010-01-01',
    };
    const xml = mutationsXml(
      [{ kind: 'OPR', changes: [{ wordt: street }] }],
      vanaf,
      day.date,
    ).replace('>Veer<', `><![CDATA[</ml:mutatieGroep>${other}]]><`);
    expect(read(xml)).toEqual(read(xml, { strictly: true }));
    expect(read(xml).problems).toMatchObject([{ detail: `naam '</ml:mutatieGroep>${other}'` }]);
  });

  it.each(['Historie', 'Objecten-ref'])(
    'skips no building once the prefix %s stands for something else',
    (prefix) => {
      const building =
        '<ml:mutatieGroep><ml:toevoeging><ml:wordt><mlm:bagObject><Objecten:Pand/></mlm:bagObject></ml:wordt></ml:toevoeging></ml:mutatieGroep>';
      const xml = usualXml
        .replace('<ml:mutatieGroep>', `${building}<ml:mutatieGroep>`)
        .replace(`xmlns:${prefix}="`, `xmlns:${prefix}="other-`);
      for (const strictly of [true, false]) {
        expect(() => read(xml, { strictly })).toThrow('in schema');
      }
    },
  );

  it.each<[string, string, string]>([
    [
      'that removes an occurrence',
      changed(/wijziging>/g, 'verwijdering>').replace(
        /<ml:wordt>.*?<\/ml:wordt><\/ml:verw/g,
        '</ml:verw',
      ),
      'removes an occurrence of object',
    ],
    [
      'in another schema',
      changed(/mutaties-lvc\/v20200601/g, 'mutaties-lvc/v20300101'),
      'v20300101',
    ],
    [
      'with an unknown kind of object',
      changed(/Objecten:Nummeraanduiding>/g, 'Objecten:Postbus>'),
      'mlm:bagObject has no element Objecten:Postbus',
    ],
    [
      'with an unknown status',
      changed('Naamgeving uitgegeven', 'Naamgeving verzonnen'),
      "status 'Naamgeving verzonnen' of object",
    ],
    ['that is cut off', usualXml.slice(0, -300), 'not well-formed XML'],
    ['whose dates are reversed', mutationsXml(day.groups, day.date, vanaf), 'contradicts itself'],
    [
      'without dates',
      changed(/<selecties-extract:Mutatieperiode>[\s\S]*?<\/selecties-extract:Mutatieperiode>/, ''),
      'has no valid dates (from and to)',
    ],
    [
      'whose dates are equal',
      mutationsXml(day.groups, day.date, day.date),
      `it covers ${day.date} to ${day.date}, and its StandTechnischeDatum is ${day.date}`,
    ],
    [
      'of another peildatum than the day it leads to',
      changed(
        `<selecties-extract:StandTechnischeDatum>${day.date}`,
        `<selecties-extract:StandTechnischeDatum>${vanaf}`,
      ),
      `it covers ${vanaf} to ${day.date}, and its StandTechnischeDatum is ${vanaf}`,
    ],
    [
      'with a group inside another group',
      changed('<ml:mutatieGroep>', `<ml:mutatieGroep>${other}`),
      'ml:mutatieGroep has no element ml:mutatieGroep',
    ],
    [
      'with buildings of another schema',
      mutationsXml([], vanaf, day.date)
        .replace('</ml:inhoud>', `</ml:inhoud>${other}`)
        .replace('/objecten/v20200601', '/objecten/v20300101'),
      'objecten/v20300101',
    ],
  ])('%s is refused by name', (_, xml, message) => {
    for (const strictly of [true, false]) expect(() => read(xml, { strictly })).toThrow(message);
  });
});

describe('a change', () => {
  const num = {
    identificatie: '0457200000199640',
    huisnummer: 9,
    postcode: '1381AA',
    openbareRuimte: '0457300000000035',
    begin: '2010-09-29',
  };
  const street = {
    identificatie: '0457300000000035',
    naam: 'Buitenveer',
    woonplaats: '3631',
    begin: '2010-01-01',
  };
  const place = { identificatie: '3631', naam: 'Weesp', begin: '2016-01-01' };
  const xmlOf = (...changes: VoorkomenChange[]) =>
    mutationsXml([{ kind: 'NUM', changes }], vanaf, day.date);
  const once = (xml: string, from: string | RegExp, to: string) => {
    expect(xml).toMatch(from);
    return xml.replace(from, to);
  };
  const usual = xmlOf({ was: num, wordt: { ...num, huisnummer: 10 } });
  const side = `<mlm:bagObject>${objectXml.NUM(num)}</mlm:bagObject>`;

  it('has what was, what it becomes, and when each holds', () => {
    const { mutations } = read(
      xmlOf({ was: num, wordt: { ...num, volgnummer: 1, eind: '2030-01-01' } }),
    );
    const held = {
      huisnummer: 9,
      huisletter: '',
      postcode: '1381AA',
      woonplaats: null,
      volgnummer: 1,
      begin: 20_100_929,
    };
    expect(mutations).toMatchObject([
      { isNew: false, was: { ...held, eind: 99_999_999 }, wordt: { ...held, eind: 20_300_101 } },
    ]);
  });

  it('may be of several occurrences of one object', () => {
    const second = { ...num, volgnummer: 2, begin: '2026-01-01' };
    const { mutations } = read(
      xmlOf({ was: num, wordt: { ...num, eind: '2026-01-01' } }, { wordt: second }),
    );
    expect(mutations.map(({ volgnummer, isNew }) => [volgnummer, isNew])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('with an invalid value is a problem of what it becomes, not of what was', () => {
    const invalid = { ...num, postcode: '0000XX' };
    const problem = {
      kind: 'invalid_value',
      file: 'day.xml',
      identificatie: num.identificatie,
      detail: "postcode '0000XX'",
    };
    expect(read(xmlOf({ was: num, wordt: invalid }))).toMatchObject({
      mutations: [{ wordt: null }],
      problems: [problem],
    });
    expect(read(xmlOf({ was: invalid, wordt: num }))).toMatchObject({
      mutations: [{ was: null }],
      problems: [],
    });
  });

  it.each<[string, string, string]>([
    [
      'of two objects in one group',
      xmlOf({ wordt: num }, { wordt: { ...num, identificatie: '0457200000199641' } }),
      'one group changes two objects, 0457200000199640 and 0457200000199641',
    ],
    [
      'that turns an object into another one',
      xmlOf({ was: num, wordt: { ...num, identificatie: '0457200000199641' } }),
      'a change of object 0457200000199641 turns one occurrence into another one',
    ],
    [
      'that turns an occurrence into another one of the same object',
      xmlOf({ was: num, wordt: { ...num, volgnummer: 2 } }),
      'a change of object 0457200000199640 turns one occurrence into another one',
    ],
    [
      'of two objects into one',
      once(usual, side, side + side),
      'two objects on one side of a change',
    ],
    [
      'of one object into two',
      once(usual, '</ml:wordt>', `${side}</ml:wordt>`),
      'two objects on one side of a change',
    ],
    [
      'of an object into nothing',
      once(usual, /<ml:wordt>.*<\/ml:wordt>/, '<ml:wordt/>'),
      'a change without its new state',
    ],
    [
      'of nothing into an object',
      once(usual, /<ml:was>.*<\/ml:was>/, '<ml:was/>'),
      'a change without its old state',
    ],
    [
      'with a value twice',
      once(
        usual,
        '<Objecten:huisnummer>',
        '<Objecten:huisnummer>1</Objecten:huisnummer><Objecten:huisnummer>',
      ),
      'a second Objecten:huisnummer in one object',
    ],
  ])('%s is refused', (_, xml, message) => {
    expect(() => read(xml)).toThrow(message);
  });

  it.each([
    [
      'NUM',
      num,
      [
        'identificatie',
        'huisnummer',
        'status',
        'OpenbareRuimteRef',
        'voorkomenidentificatie',
        'beginGeldigheid',
      ],
    ],
    [
      'OPR',
      street,
      [
        'identificatie',
        'naam',
        'status',
        'WoonplaatsRef',
        'voorkomenidentificatie',
        'beginGeldigheid',
      ],
    ],
    [
      'WPL',
      place,
      ['identificatie', 'naam', 'status', 'voorkomenidentificatie', 'beginGeldigheid'],
    ],
  ] as const)(
    'of a %s is refused when either side lacks a value that the schema requires',
    (kind, voorkomen, values) => {
      const xml = mutationsXml(
        [{ kind, changes: [{ was: voorkomen, wordt: voorkomen }] }],
        vanaf,
        day.date,
      );
      expect(read(xml).mutations).toHaveLength(1);
      for (const value of values) {
        const element = new RegExp(`<([\\w-]+:${value})\\b[^>]*>[^<]*</\\1>`, 'g');
        for (const without of [0, 1]) {
          let index = 0;
          const lacking = xml.replace(element, (found) => (index++ === without ? '' : found));
          expect(index).toBe(2);
          expect(() => read(lacking)).toThrow(`an occurrence without ${value}`);
        }
      }
    },
  );

  it('that removes an object of another kind is refused without the name of an object before it', () => {
    const removal = other.replaceAll('wijziging', 'verwijdering');
    expect(() => read(once(usual, '</ml:mutatieGroep>', `</ml:mutatieGroep>${removal}`))).toThrow(
      'removes an occurrence of object of another kind (verwijdering)',
    );
  });
});

describe('a delivery of mutations', () => {
  const read = (zip: Buffer) => readMutationDelivery(bufferAccess(zip), 'day.zip');
  const member = `9999MUT${[vanaf, day.date].map((date) => date.split('-').reverse().join('')).join('-')}`;
  const emptyXml = mutationsXml([], vanaf, day.date);
  const delivery = async (
    files: Record<string, string>,
    others: Record<string, string | Buffer> = {},
  ) => zipOf({ [`${member}.zip`]: await zipOf(files), ...others });

  it('returns the mutations of all its files in the order of their numbers', async () => {
    const { mutations, ...dates } = await read(
      await writeMutationDelivery(vanaf, day.date, day.groups, { perFile: 2 }),
    );
    expect(dates).toMatchObject({ vanaf, tot: day.date, gemeenten: [], problems: [] });
    expect(mutations).toEqual(readMutations(Buffer.from(usualXml), 'day.xml').mutations);
  });

  it.each<[string, Record<string, string>]>([
    ['in any order', { [`${member}-000002.xml`]: usualXml, [`${member}-000001.xml`]: emptyXml }],
    [
      'among other files',
      {
        'README.md': 'a note',
        [`__MACOSX/._${member}-000001.xml`]: 'binary',
        [`${member}-000001.xml`]: emptyXml,
        [`${member}-000002.XML`]: usualXml,
      },
    ],
  ])('reads its files %s, and no others beside them', async (_, files) => {
    for (const compress of [true, false]) {
      const zip = await zipOf(
        {
          'a note.txt': '',
          [`__MACOSX/._${member}.zip`]: '',
          'GEM-WPL-RELATIE-14112021-000001.xml': '<not-read/>',
          [`9999IO${member.slice(4)}.zip`]: 'not a zip',
          [`${member}.zip`]: await zipOf(files),
        },
        compress,
      );
      expect((await read(zip)).mutations).toEqual(
        readMutations(Buffer.from(usualXml), 'day.xml').mutations,
      );
    }
  });

  it('has the relations that hold after it, which are part of what it is', async () => {
    const relaties = [
      { woonplaats: '3631', gemeente: '0457', begin: '2016-01-01', eind: day.date },
      { woonplaats: '3631', gemeente: '0363', begin: day.date, eind: undefined },
      { woonplaats: '1012', gemeente: '0384', begin: '2030-01-01', eind: undefined },
    ];
    const [without, first, other] = await Promise.all(
      [undefined, relaties, relaties.slice(1)].map(async (given) =>
        read(await writeMutationDelivery(vanaf, day.date, [], { relaties: given })),
      ),
    );
    expect(without?.relaties).toBeNull();
    expect(first?.relaties?.map(({ gemeente }) => gemeente)).toEqual(['0363', '0384']);
    expect(new Set([without, first, other].map((one) => one?.hash)).size).toBe(3);
  });

  it.each<[string, () => Promise<Buffer>, string]>([
    [
      'with two files of relations',
      () =>
        delivery(
          { [`${member}-000001.xml`]: emptyXml },
          { 'GEM-WPL-RELATIE-1.zip': '', 'GEM-WPL-RELATIE-2.zip': '' },
        ),
      'contradicts itself: it holds GEM-WPL-RELATIE-1.zip and GEM-WPL-RELATIE-2.zip; one is expected',
    ],
    [
      'with relations of another date',
      async () =>
        delivery(
          { [`${member}-000001.xml`]: emptyXml },
          { 'GEM-WPL-RELATIE-1.zip': await zipOf({ 'G-000001.xml': relatiesXml([], vanaf) }) },
        ),
      `is of ${vanaf}, in a delivery of ${day.date}; get it again`,
    ],
    [
      'with relations that are no zip',
      () => delivery({ [`${member}-000001.xml`]: emptyXml }, { 'GEM-WPL-RELATIE-1.zip': 'x' }),
      'not a zip file',
    ],
    [
      'with relations without a file',
      async () =>
        delivery(
          { [`${member}-000001.xml`]: emptyXml },
          { 'GEM-WPL-RELATIE-1.zip': await zipOf({ 'a.txt': '' }) },
        ),
      'holds no XML file',
    ],
    [
      'that holds two of them',
      () => zipOf({ [`${member}.zip`]: '', [`copy/${member}.zip`]: '' }),
      `contradicts itself: it holds ${member}.zip and copy/${member}.zip; one is expected`,
    ],
    [
      'of two days, each in a member of its own',
      () => zipOf({ [`${member}.zip`]: '', '9999MUT14112021-15112021.zip': '' }),
      `holds more than one period, ${member}.zip, 9999MUT14112021-15112021.zip. Use a delivery for each`,
    ],
    [
      'of something else',
      () => zipOf({ 'a.jpg': '' }),
      'is not a delivery of mutations: it holds a.jpg. Use a delivery',
    ],
    [
      'of two other things',
      () => zipOf({ 'a.jpg': '', 'b.jpg': '' }),
      'it holds a.jpg and 1 more. Use a delivery',
    ],
    ['of nothing', () => zipOf({}), 'it holds nothing. Use a delivery'],
    [
      'that is the extract of a municipality',
      () => zipOf({ '0457GEM15102021.zip': '' }),
      'it holds 0457GEM15102021.zip. It is a full extract: pass it with --extract.',
    ],
    ['without files', () => delivery({}), 'holds no XML file; get the file again'],
    [
      'that lacks its first file',
      () => delivery({ [`${member}-000002.xml`]: usualXml }),
      'lacks file 000001 of 2; get the file again',
    ],
    [
      'that lacks a file in the middle',
      () => delivery({ [`${member}-000001.xml`]: emptyXml, [`${member}-000003.xml`]: usualXml }),
      'lacks file 000002 of 3; get the file again',
    ],
    [
      'that holds a file twice',
      () =>
        delivery({ [`${member}-000001.xml`]: emptyXml, [`copy/${member}-000001.xml`]: usualXml }),
      'holds file 000001 twice; get the file again',
    ],
    [
      'with a file that begins on another day',
      () =>
        delivery({ [`${member}-000001.xml`]: mutationsXml([], dateAfter(vanaf, -1), day.date) }),
      `contradicts itself: it covers ${dateAfter(vanaf, -1)} to ${day.date}, but its name says ${vanaf} to ${day.date}. Get`,
    ],
    [
      'with a file that ends on another day',
      () => delivery({ [`${member}-000001.xml`]: mutationsXml([], vanaf, dateAfter(day.date, 1)) }),
      `contradicts itself: it covers ${vanaf} to ${dateAfter(day.date, 1)}, but its name says ${vanaf} to ${day.date}. Get`,
    ],
  ])('%s is refused by what it holds', async (_, zip, message) => {
    await expect(read(await zip())).rejects.toThrow(message);
  });

  it('returns the problems of all its files', async () => {
    const place = { identificatie: '3631', naam: '', begin: '2016-01-01' };
    const file = (identificatie: string) =>
      mutationsXml(
        [{ kind: 'WPL', changes: [{ wordt: { ...place, identificatie } }] }],
        vanaf,
        day.date,
      );
    const zip = await delivery({
      [`${member}-000001.xml`]: file('3631'),
      [`${member}-000002.xml`]: file('3632'),
    });
    expect((await read(zip)).problems).toMatchObject([
      { identificatie: '3631', file: `day.zip > ${member}.zip > ${member}-000001.xml` },
      { identificatie: '3632', file: `day.zip > ${member}.zip > ${member}-000002.xml` },
    ]);
  });

  ifReal('of a real day leads from the one date to the other', async () => {
    const { vanaf: from, tot, mutations } = await read(await readFile(realDay));
    expect([from, tot, mutations.length]).toEqual(['2021-11-13', '2021-11-14', 6]);
  });

  it.each<[string, () => Promise<Buffer>, string]>([
    [
      'that is a full extract',
      () => writeExtract(start, firstState(random, start)),
      'It is a full extract: pass it with --extract.',
    ],
    [
      'that is a page of HTML',
      async () => Buffer.from('<!DOCTYPE html><title>Sign in</title>'),
      'day.zip',
    ],
    [
      'that is cut off',
      async () => (await writeMutationDelivery(vanaf, day.date, day.groups)).subarray(0, 900),
      'day.zip',
    ],
  ])('%s is refused by name', async (_, zip, message) => {
    await expect(read(await zip())).rejects.toThrow(message);
    await expect(read(await zip())).rejects.toHaveProperty('name', 'ExtractError');
  });
});
