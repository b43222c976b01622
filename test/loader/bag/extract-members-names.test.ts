import { describe, expect, it } from '@jest/globals';
import { fileLabel, findMembers, listXmlFiles, memberAccess } from '../../../loader/bag/extract-members.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { deliveryXml } from '../../support/stand-xml.ts';
import { zipOf } from './zip-of.ts';

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

  it.each(['stored', 'deflated'])('of a municipality are named after every zip around them: %s', async (method) => {
    const compress = method === 'deflated';
    const inner = await zipOf({ ...usual, '0457NUM08012026.zip': await zipOf({ 'a/1.xml': '' }) }, compress);
    const zip = await zipOf({ '0457GEM08012026.zip': inner, [deliveryFile]: delivery }, compress);
    const { members } = await findMembers(bufferAccess(zip), 'a.zip');
    const [member] = members;
    if (!member) throw new Error('no member');
    const [file] = await listXmlFiles(await memberAccess(bufferAccess(zip), member, 'a.zip'), 'a.zip');
    expect(fileLabel('a.zip', member)).toBe('a.zip > 0457GEM08012026.zip > 0457NUM08012026.zip');
    expect(fileLabel('a.zip', member, file)).toBe('a.zip > 0457GEM08012026.zip > 0457NUM08012026.zip > 1.xml');
  });

  it.each(['Inactief', 'NietBag', 'InOnderzoek', '9999Inactief08012026', '__MACOSX', 'INACTIEF'])(
    'are not taken from a folder such as %s',
    async (folder) => {
      const { members } = await find({ ...usual, [`${folder}/0001NUM08012026.zip`]: '', [deliveryFile]: delivery });
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
      delivery.replace('</xb:SelectieGegevens>', `</xb:SelectieGegevens>${nested}1900-01-01${nestedEnd}`),
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
    ['before an element of another schema', delivery.replace('</xb:BAG-', '<x:End xmlns:x="x"/>$&')],
    ['with another area first', delivery.replace(/(<selecties-extract:LVC.*LVC-Extract>)(.*Registratief>)/s, '$2$1')],
  ])('is that of its selection alone: %s', async (_, xml) => {
    expect(xml).not.toBe(delivery);
    expect(await find({ ...usual, [deliveryFile]: xml })).toMatchObject({ peildatum: '2026-01-08' });
  });

  it('is not read from the metadata of macOS', async () => {
    expect(await find({ ...usual, [`__MACOSX/${deliveryFile}`]: 'binary', [deliveryFile]: delivery })).toMatchObject({
      peildatum: '2026-01-08',
    });
  });

  it('may be until one day after now, to the millisecond', async () => {
    const files = { ...usual, [deliveryFile]: delivery };
    const dayBefore = Date.parse('2026-01-07T00:00:00Z');
    expect(await find(files, { now: dayBefore })).toMatchObject({ peildatum: '2026-01-08' });
    await expect(find(files, { now: dayBefore - 1 })).rejects.toMatchObject({
      code: 'future_peildatum',
      message: expect.stringMatching(/is of 2026-01-08, which is in the future: today is 2026-01-06\. Check the clock/),
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
    ['nothing', {}, 'missing_member', 'is not an extract of the BAG: it holds nothing. Use lvbag-extract-nl.zip'],
    ['one other thing', { 'a.jpg': '' }, 'missing_member', 'is not an extract of the BAG: it holds a.jpg. Use'],
    ['two other things', { 'a.jpg': '', 'b.jpg': '' }, 'missing_member', 'it holds a.jpg and 1 more. Use'],
    [
      'three other things',
      { 'c.jpg': '', 'a.jpg': '', 'b.jpg': '' },
      'missing_member',
      'it holds c.jpg and 2 more. Use',
    ],
    ['members without a date', usual, 'missing_peildatum', `has no ${deliveryFile}, so its peildatum is unknown`],
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
    ['a Leveringsdocument of no XML', { ...usual, [deliveryFile]: 'nothing' }, 'invalid_xml', deliveryFile],
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
    await expect(find(held)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
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
    expect(await list(['a.txt', ...names, '__MACOSX/x.xml', 'x.xml.txt'])).toEqual(names.toSorted());
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
