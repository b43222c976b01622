import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  fileLabel,
  findMembers,
  listXmlFiles,
  type Member,
  memberAccess,
  type Spool,
} from '../../../loader/bag/extract-members.ts';
import { bufferAccess, type RandomAccess } from '../../../loader/zip/random-access.ts';
import { listEntries, readEntry } from '../../../loader/zip/zip.ts';
import { examplePeildatum, exampleVoorkomens } from '../../support/example-extract.ts';
import { readExtract } from '../../support/read-extract.ts';
import { deliveryXml } from '../../support/stand-xml.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';
import { zipOf } from './zip-of.ts';

const samples = '../shared/bag-samples';
const ifSamples = existsSync(samples) ? it : it.skip; // real extracts are not part of this repository
const sample = (name: string) => readFileSync(`${samples}/${name}`);

const demo = (packing: Packing = {}) =>
  writeExtract(examplePeildatum, exampleVoorkomens(), packing);

const appleDouble = Buffer.from('0005160700020000', 'hex');
const junk = {
  '.DS_Store': appleDouble,
  'README.md': Buffer.from('a note'),
  'folder/': Buffer.alloc(0),
  '__MACOSX/._9999NUM08012026.zip': appleDouble,
  'GEM-WPL-RELATIE-08012026-000001.xml': Buffer.from('<not-read/>'),
  '9999InOnderzoek08012026.zip': Buffer.from('never opened'),
  '9999Inactief08012026.zip': Buffer.from('never opened'),
  '9999NietBag08012026.zip': Buffer.from('never opened'),
  '9999VBO08012026.zip': Buffer.from('never opened'),
};
const junkInside = {
  '.DS_Store': appleDouble,
  '__MACOSX/9999NUM08012026/._9999NUM08012026-000001.xml': appleDouble,
  '._9999NUM08012026-000001.xml': appleDouble,
};

describe('reading an extract', () => {
  ifSamples('reads the national layout with the junk of a Mac, and XML with blanks', async () => {
    const { rows, voorkomens } = await readExtract(
      sample('doesburg-0221-small/BAGNLDL-15092020-small.zip'),
    );
    expect(voorkomens).toEqual({ NUM: 14, OPR: 201, WPL: 1 });
    expect(rows).toHaveLength(7);
  });

  ifSamples(
    'reads deflated inner zips with XML in folders, once they have a Leveringsdocument',
    async () => {
      const zip = sample('junk-entries-zip/bag.zip');
      await expect(readExtract(zip)).rejects.toMatchObject({ code: 'missing_peildatum' });
      const files: Record<string, Buffer | string> = {
        'Leveringsdocument-BAG-Extract.xml': deliveryXml('2025-12-08'),
      };
      for (const entry of await listEntries(bufferAccess(zip), 'bag.zip')) {
        if (!entry.name.endsWith('/')) {
          files[entry.name] = await readEntry(bufferAccess(zip), entry, 'bag.zip');
        }
      }
      const { peildatum, rows } = await readExtract(await zipOf(files));
      expect(peildatum).toBe('2025-12-08');
      expect(rows.map(({ key }) => key)).toEqual(['1234AB#56#A', '1234AB#1#A']);
    },
  );

  it.each<[string, Packing]>([
    ['deflated inner zips', { inner: 'deflated' }],
    ['a municipality, one more level', { layout: 'municipality' }],
    ['a municipality, deflated at every level', { layout: 'municipality', inner: 'deflated' }],
    ['ZIP64 at every level', { zip64: true }],
    ['entries in the opposite order', { reversed: true }],
    ['many XML files', { perFile: 7 }],
    ['junk around the members', { extra: junk }],
    ['junk inside the members', { extraInside: junkInside }],
  ])('makes no difference: %s', async (_, packing) => {
    const usual = await readExtract(await demo());
    const { rows, voorkomens, peildatum } = await readExtract(await demo(packing));
    expect({ rows, voorkomens, peildatum }).toEqual({
      rows: usual.rows,
      voorkomens: usual.voorkomens,
      peildatum: examplePeildatum,
    });
    expect(rows.length).toBeGreaterThan(40);
  });

  it('names the copy of a deflated inner zip after its contents', async () => {
    const names: string[] = [];
    const spool: Spool = async (stream, name) => {
      names.push(name);
      return bufferAccess(Buffer.concat(await stream.toArray()));
    };
    const packing: Packing = { layout: 'municipality', inner: 'deflated' };
    const { NUM, ...others } = exampleVoorkomens();
    const zips = [
      demo(packing),
      demo(packing),
      writeExtract(examplePeildatum, { ...others, NUM: NUM.slice(1) }, packing),
    ];
    for (const zip of zips) await findMembers(bufferAccess(await zip), 'a.zip', { spool });
    const [first, again, other] = names;
    expect(first).toMatch(/^[0-9a-f]{8}-0457GEM08012026\.zip$/);
    expect([again, other === first]).toEqual([first, false]);
  });

  it('reads several members of one kind', async () => {
    const { NUM } = exampleVoorkomens();
    const second = await writeExtract(examplePeildatum, {
      ...exampleVoorkomens(),
      NUM: NUM.slice(20),
    });
    const source = bufferAccess(second);
    const member = (await findMembers(source, 'second.zip')).members[0];
    if (!member) throw new Error('no member');
    const inner = await memberAccess(source, member, 'second.zip');
    const first = { ...exampleVoorkomens(), NUM: NUM.slice(0, 20) };
    const zip = await writeExtract(examplePeildatum, first, {
      extra: { '0000NUM08012026.zip': await inner.read(0, inner.size) },
    });
    expect((await readExtract(zip)).voorkomens.NUM).toBe(NUM.length);
  });

  it('reads files that hold no objects', async () => {
    const { rows, voorkomens } = await readExtract(
      await writeExtract(examplePeildatum, { NUM: [], OPR: [], WPL: [] }),
    );
    expect(voorkomens).toEqual({ NUM: 0, OPR: 0, WPL: 0 });
    expect(rows).toEqual([]);
  });

  it('reads several files of a member that hold no objects', async () => {
    const header = ' '.repeat(2_129);
    const files = await zipOf({
      '9999NUM-000001.xml': 'x',
      '9999NUM-000002.xml': header,
      '9999NUM-000003.xml': header,
    });
    expect(await listXmlFiles(bufferAccess(files), '9999NUM.zip')).toHaveLength(3);
  });
});

describe('refusing an extract', () => {
  ifSamples('refuses a delivery of mutations, by what it is', async () => {
    await expect(
      readExtract(sample('weesp-0457/BAGNLDM-13112021-14112021.zip')),
    ).rejects.toMatchObject({
      code: 'mutation_delivery',
      message: expect.stringContaining('a delivery of mutations'),
    });
  });

  ifSamples('refuses the old schema, by its name', async () => {
    await expect(
      readExtract(sample('schiermonnikoog-0088-draft-schema/BAGGEM0088L-15112019.zip')),
    ).rejects.toMatchObject({
      code: 'unknown_schema',
      message: expect.stringContaining('v20180601'),
    });
  });

  it.each(['NUM', 'OPR', 'WPL'])('names the missing member: %s', async (kind) => {
    const zip = Buffer.from(
      (await demo()).toString('latin1').replaceAll(`9999${kind}08`, '9999XXX08'),
      'latin1',
    );
    await expect(readExtract(zip)).rejects.toMatchObject({
      code: 'missing_member',
      message: expect.stringContaining(`9999${kind}`),
    });
  });

  it('refuses a member whose files have another date than its name', async () => {
    const older = bufferAccess(await writeExtract('2025-12-08', exampleVoorkomens()));
    const [member] = (await findMembers(older, 'older.zip')).members as [Member];
    const inner = await memberAccess(older, member, 'older.zip');
    const zip = await demo({ extra: { '9999NUM08012026.zip': await inner.read(0, inner.size) } });
    await expect(readExtract(zip)).rejects.toMatchObject({
      code: 'mixed_peildatums',
      file: 'extract.zip > 9999NUM08012026.zip > 9999NUM08122025-000001.xml',
      message: expect.stringContaining('is of 2025-12-08, in an extract of 2026-01-08'),
    });
  });
});

describe('an extract whose reads fail', () => {
  it.each<Packing>([{}, { layout: 'municipality', inner: 'deflated' }])(
    'fails with the error of the read, whichever read fails: %j',
    async (packing) => {
      const zip = bufferAccess(await demo(packing));
      let reads = 0;
      const counting: RandomAccess = {
        size: zip.size,
        read: (position, length) => {
          reads++;
          return zip.read(position, length);
        },
      };
      await readExtract(counting);
      for (let failing = 1; failing <= reads; failing++) {
        let left = failing;
        const failure = new Error(`read ${failing} failed`);
        const source: RandomAccess = {
          size: zip.size,
          read: (position, length) =>
            --left === 0 ? Promise.reject(failure) : zip.read(position, length),
        };
        await expect(readExtract(source)).rejects.toBe(failure);
      }
      expect(reads).toBeGreaterThan(6);
    },
  );
});

const deliveryFile = 'Leveringsdocument-BAG-Extract.xml';
const delivery = deliveryXml('2026-01-08');
const usual = { '9999NUM08012026.zip': '', '9999OPR08012026.zip': '', '9999WPL08012026.zip': '' };

async function find(files: Record<string, string | Buffer>, options = {}, compress = true) {
  return findMembers(bufferAccess(await zipOf(files, compress)), 'a.zip', options);
}

describe('the members of an extract', () => {
  it('come by kind, then by name, in whatever order and folder they are', async () => {
    const { members } = await find({
      'b/9999OPR08012026.zip': '',
      '9999WPL08012026.zip': '',
      '0003NUM08012026.zip': '',
      '0001NUM08012026.zip': '',
      'a/0002NUM08012026.zip': '',
      [deliveryFile]: delivery,
    });
    expect(members.map(({ kind, name }) => [kind, name])).toEqual([
      ['NUM', '0001NUM08012026.zip'],
      ['NUM', '0002NUM08012026.zip'],
      ['NUM', '0003NUM08012026.zip'],
      ['OPR', '9999OPR08012026.zip'],
      ['WPL', '9999WPL08012026.zip'],
    ]);
  });

  it.each(['stored', 'deflated'])(
    'of a municipality are named after every zip around them: %s',
    async (method) => {
      const compress = method === 'deflated';
      const inner = await zipOf(
        { ...usual, '0457NUM08012026.zip': await zipOf({ 'a/1.xml': '' }) },
        compress,
      );
      const zip = await zipOf({ '0457GEM08012026.zip': inner, [deliveryFile]: delivery }, compress);
      const { members } = await findMembers(bufferAccess(zip), 'a.zip');
      const [member] = members;
      if (!member) throw new Error('no member');
      const [file] = await listXmlFiles(
        await memberAccess(bufferAccess(zip), member, 'a.zip'),
        'a.zip',
      );
      expect(fileLabel('a.zip', member)).toBe('a.zip > 0457GEM08012026.zip > 0457NUM08012026.zip');
      expect(fileLabel('a.zip', member, file)).toBe(
        'a.zip > 0457GEM08012026.zip > 0457NUM08012026.zip > 1.xml',
      );
    },
  );

  it.each(['Inactief', 'NietBag', 'InOnderzoek', '9999Inactief08012026', '__MACOSX', 'INACTIEF'])(
    'are not taken from a folder such as %s',
    async (folder) => {
      const { members } = await find({
        ...usual,
        [`${folder}/0001NUM08012026.zip`]: '',
        [deliveryFile]: delivery,
      });
      expect(members.map(({ name }) => name)).toEqual(Object.keys(usual));
    },
  );
});

describe('the peildatum of an extract', () => {
  const nested = '<x:Other xmlns:x="x"><x:Deep><x:Deep><x:MUT-Extract>';
  const nestedEnd = '</x:MUT-Extract></x:Deep></x:Deep></x:Other>';

  it.each([
    ['between blanks', deliveryXml('\n  2026-01-08 ')],
    ['before the selection', delivery.replace('<xb:Sel', `${nested}1900-01-01${nestedEnd}<xb:Sel`)],
    [
      'after the selection',
      delivery.replace(
        '</xb:SelectieGegevens>',
        `</xb:SelectieGegevens>${nested}1900-01-01${nestedEnd}`,
      ),
    ],
    [
      'deeper within the selection',
      delivery.replace(
        '</selecties-extract:LVC-Extract>',
        `<x:Old xmlns:x="x"><x:MUT-Extract><x:StandTechnischeDatum>1900-01-01</x:StandTechnischeDatum></x:MUT-Extract></x:Old>$&`,
      ),
    ],
    [
      'in another element',
      delivery.replace(
        '<xb:naam>',
        '<x:Old-Extract xmlns:x="x"><x:StandTechnischeDatum>1900-01-01</x:StandTechnischeDatum></x:Old-Extract>$&',
      ),
    ],
    [
      'before an element of another schema',
      delivery.replace('</xb:BAG-', '<x:End xmlns:x="x"/>$&'),
    ],
    [
      'with another area first',
      delivery.replace(/(<selecties-extract:LVC.*LVC-Extract>)(.*Registratief>)/s, '$2$1'),
    ],
  ])('is that of its selection alone: %s', async (_, xml) => {
    expect(xml).not.toBe(delivery);
    expect(await find({ ...usual, [deliveryFile]: xml })).toMatchObject({
      peildatum: '2026-01-08',
    });
  });

  it('is not read from the metadata of macOS', async () => {
    expect(
      await find({ ...usual, [`__MACOSX/${deliveryFile}`]: 'binary', [deliveryFile]: delivery }),
    ).toMatchObject({
      peildatum: '2026-01-08',
    });
  });

  it('may be until one day after now, to the millisecond', async () => {
    const files = { ...usual, [deliveryFile]: delivery };
    const dayBefore = Date.parse('2026-01-07T00:00:00Z');
    expect(await find(files, { now: dayBefore })).toMatchObject({ peildatum: '2026-01-08' });
    await expect(find(files, { now: dayBefore - 1 })).rejects.toMatchObject({
      code: 'future_peildatum',
      message: expect.stringMatching(
        /is of 2026-01-08, which is in the future: today is 2026-01-06\. Check the clock/,
      ),
    });
  });
});

describe('an extract is refused, by what it is or holds', () => {
  const many = (from: number, to: number, name: (number: string) => string) =>
    Array.from({ length: to - from + 1 }, (_, i) => name(String(from + i).padStart(4, '0')));
  const files = (names: string[]) => Object.fromEntries(names.map((name) => [name, '']));
  const others = many(1, 20, (number) => `${number}.txt`);
  const older = many(1, 20, (number) => `${number}NUM08122025.zip`);

  it.each<[string, Record<string, string>, string, string]>([
    [
      'nothing',
      {},
      'missing_member',
      'is not an extract of the BAG: it holds nothing. Use lvbag-extract-nl.zip',
    ],
    [
      'one other thing',
      { 'a.jpg': '' },
      'missing_member',
      'is not an extract of the BAG: it holds a.jpg. Use',
    ],
    [
      'two other things',
      { 'a.jpg': '', 'b.jpg': '' },
      'missing_member',
      'it holds a.jpg and 1 more. Use',
    ],
    [
      'three other things',
      { 'c.jpg': '', 'a.jpg': '', 'b.jpg': '' },
      'missing_member',
      'it holds c.jpg and 2 more. Use',
    ],
    [
      'members without a date',
      usual,
      'missing_peildatum',
      `has no ${deliveryFile}, so its peildatum is unknown`,
    ],
    [
      'a municipality without a date',
      { '0457GEM08012026.zip': '' },
      'missing_peildatum',
      `has no ${deliveryFile}, so its peildatum is unknown`,
    ],
    [
      'a member twice, in whatever folder',
      { ...usual, 'copy/9999NUM08012026.zip': '', [deliveryFile]: delivery },
      'duplicate_member',
      'holds 9999NUM08012026.zip twice, so its contents are unknown; get the extract again',
    ],
    [
      'two Leveringsdocuments, even of one date',
      { ...usual, [deliveryFile]: delivery, [`copy/${deliveryFile}`]: delivery },
      'duplicate_member',
      `copy/${deliveryFile}`,
    ],
    [
      'a member only in a folder such as Inactief',
      {
        'Inactief/9999NUM08012026.zip': '',
        '9999OPR08012026.zip': '',
        '9999WPL08012026.zip': '',
        [deliveryFile]: delivery,
      },
      'missing_member',
      'has no member 9999NUM*.zip',
    ],
    [
      'mutations without a Leveringsdocument',
      { '9999MUT08012026.zip': '' },
      'mutation_delivery',
      'a delivery of mutations',
    ],
    [
      'a Leveringsdocument of no XML',
      { ...usual, [deliveryFile]: 'nothing' },
      'invalid_xml',
      deliveryFile,
    ],
    [
      'a Leveringsdocument of a later schema',
      { ...usual, [deliveryFile]: delivery.replaceAll('v20200601', 'v20300101') },
      'unknown_schema',
      `a.zip > ${deliveryFile}`,
    ],
    [
      'a day that no calendar has',
      { ...usual, [deliveryFile]: deliveryXml('2026-02-30') },
      'missing_peildatum',
      "its StandTechnischeDatum is not a date: '2026-02-30'",
    ],
    [
      'a delivery of mutations',
      { [deliveryFile]: delivery.replaceAll('LVC-Extract', 'MUT-Extract') },
      'mutation_delivery',
      `a.zip > ${deliveryFile}: a delivery of mutations; use a full extract`,
    ],
    [
      'a delivery of an unknown kind',
      { [deliveryFile]: delivery.replaceAll('LVC-Extract', 'LVC') },
      'unknown_schema',
      'a delivery of kind unknown; LVC-Extract is needed',
    ],
    [
      'a delivery of another kind',
      { [deliveryFile]: delivery.replaceAll('LVC-Extract', 'APD-Extract') },
      'unknown_schema',
      'a delivery of kind APD-Extract; LVC-Extract is needed',
    ],
    [
      'a date with more than a date',
      { ...usual, [deliveryFile]: deliveryXml('2026-01-08T00:00:00Z') },
      'missing_peildatum',
      "its StandTechnischeDatum is not a date: '2026-01-08T00:00:00Z'",
    ],
    [
      'its first twenty entries and no members',
      { ...files(others), '0021.txt': '', [deliveryFile]: delivery },
      'missing_member',
      `has no member 9999NUM*.zip; it holds ${others.join(', ')}. Use`,
    ],
    [
      'members of one other date, of which it names twenty',
      {
        ...files(older),
        '0021NUM08122025.zip': '',
        '9999OPR08122025.zip': '',
        '9999WPL08122025.zip': '',
        [deliveryFile]: delivery,
      },
      'mixed_peildatums',
      `is of 2026-01-08 by its ${deliveryFile}, but holds ${older.join(', ')}; get the extract again`,
    ],
    [
      'members of two dates',
      { ...usual, ...files(older), [deliveryFile]: delivery },
      'mixed_peildatums',
      `holds members with different dates: ${older.join(', ')}. Use an extract of one date`,
    ],
  ])('%s', async (_, held, code, message) => {
    await expect(find(held)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

describe('the XML files of a member', () => {
  const list = async (names: string[]) => {
    const zip = await zipOf(Object.fromEntries(names.map((name) => [name, ''])));
    return (await listXmlFiles(bufferAccess(zip), 'num.zip')).map(({ name }) => name);
  };
  const file = (number: number) => `9999NUM08012026-${String(number).padStart(6, '0')}.xml`;

  it('may be in any order, and are read by name', async () => {
    const names = [2, 10, 1, 9, 3, 8, 4, 7, 5, 6, 11].map(file);
    expect(await list(names)).toEqual(names.toSorted());
  });

  it('may have no number, beside others that do', async () => {
    const names = ['num.xml', file(1), 'other.XML', file(2), 'x-12345.xml', 'x_000003.xml'];
    expect(await list(['a.txt', ...names, '__MACOSX/x.xml', 'x.xml.txt'])).toEqual(
      names.toSorted(),
    );
  });

  it.each([
    ['every file', [], 'holds no XML file; get the file again'],
    ['the first', [2, 3], 'lacks file 000001 of 3; get the file again'],
    ['one in the middle', [4, 1, 2], 'lacks file 000003 of 4; get the file again'],
    ['all but the last', [12], 'lacks file 000001 of 12; get the file again'],
    ['none, but have the first twice', [1, 2, 1], 'holds file 000001 twice; get the file again'],
    ['none, but have the last twice', [1, 2, 2], 'holds file 000002 twice; get the file again'],
  ])('are refused when they lack %s', async (_, numbers, message) => {
    const names = numbers.map((number, i) => `${i}/${file(number)}`);
    await expect(list(names)).rejects.toThrow(message);
  });
});
