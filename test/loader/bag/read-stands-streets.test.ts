import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Occurrence } from '../../../loader/bag/interpret-stand.ts';
import type { ReadCounts } from '../../../loader/bag/problem-report.ts';
import { readStands, readWoonplaatsen, readXml } from '../../../loader/bag/read-stands.ts';
import type { OprVoorkomen, WplVoorkomen } from '../../../loader/bag/voorkomen.ts';
import { ExtractError } from '../../../loader/load-error.ts';
import { fileXml, type OprStand, type WplStand } from '../../support/stand-xml.ts';
import { ofPeildatum } from './nummeraanduidingen.ts';

const peildatum = '2026-01-08';
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
  const counts = readXml.OPR(xml, 'opr.xml', peildatum, (found) => visited.push(found), { strictly });
  return { visited, counts };
}

async function* chunksOf(xml: Buffer, chunkBytes = xml.length): AsyncGenerator<Buffer> {
  for (let start = 0; start < xml.length; start += chunkBytes) yield xml.subarray(start, start + chunkBytes);
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
    expect(streets([{ ...street, naam, verkorteNaam: 'Burg Nahuyssingel' }], strictly).visited[0]?.naam).toBe(naam);
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
        const voorkomens = names.map((name) => ({ ...street, naam: name.replace(/[^\P{C}]/gu, '') }));
        expect(streets(voorkomens, false)).toEqual(streets(voorkomens, true));
      }),
    );
  });

  it('are read the same, or refused, with any second byte of a letter with an accent', () => {
    const xml = Buffer.from(fileXml('OPR', [{ ...street, naam: 'De Ôlde Pôlle' }, street], peildatum));
    const outcomes = { read: 0, refused: 0 };
    for (let byte = 0; byte < 256; byte++) {
      xml[xml.indexOf('lle') - 1] = byte;
      const read = (strictly: boolean) => {
        try {
          return streetsIn(xml, strictly).visited;
        } catch (error) {
          return (error as Error).message;
        }
      };
      const found = read(true);
      expect([byte, read(false)]).toEqual([byte, found]);
      outcomes[typeof found === 'string' ? 'refused' : 'read']++;
    }
    expect(outcomes).toEqual({ read: 64, refused: 192 });
  });

  it('in ASCII are all read by the fast reader, which leaves the others to the strict one', () => {
    const [strict, fast]: [string[], string[]] = [[], []];
    const names = ['x', 'x'.repeat(80), "'t Veer", 'Mr.J.C.Bührmannlaan', 'B&W-pad'].map((naam) => ({
      ...street,
      naam,
    }));
    const xml = Buffer.from(fileXml('OPR', [{ ...street, live: false }, ...names], peildatum));
    const to = (found: string[]) => (fields: Occurrence) => void found.push(fields.naam ?? '');
    readStands(xml, 'opr.xml', 'OPR', peildatum, to(strict), (stand) => to(fast)(stand.fields()));
    expect({ strict, fast }).toEqual({
      strict: ['Mr.J.C.Bührmannlaan', 'B&W-pad'],
      fast: ['Buitenveer', 'x', 'x'.repeat(80), "'t Veer"],
    });
  });
});

describe('places', () => {
  it('are read in chunks of any size', async () => {
    const xml = Buffer.from(fileXml('WPL', [place, { ...place, naam: 'Sint Anthoniepôlder' }], peildatum));
    for (const chunkBytes of [1, 2, 7, 1_000, 1_000_000]) {
      const { visited } = await placesIn(chunksOf(xml, chunkBytes));
      expect(visited.map(({ naam }) => naam)).toEqual(['Weesp', 'Sint Anthoniepôlder']);
    }
  });

  it('do not count when withdrawn without an end date', async () => {
    const withdrawn = { ...place, identificatie: '1012', live: false };
    const { visited, counts } = await placesIn(chunksOf(Buffer.from(fileXml('WPL', [withdrawn, place], peildatum))));
    expect(visited).toMatchObject([{ identificatie: '3631', naam: 'Weesp' }]);
    expect(counts).toMatchObject({ voorkomens: 2, current: 1, notCurrent: { withdrawn: 1 } });
  });

  it.each([
    ['cut off', (xml: Buffer) => xml.subarray(0, -20)],
    ['not UTF-8', (xml: Buffer) => Buffer.concat([xml.subarray(0, 300), Buffer.from([0xff]), xml.subarray(300)])],
    ['cut off inside a letter', (xml: Buffer) => Buffer.concat([xml, Buffer.from([0xc3])])],
  ])('are refused in a file that is %s', async (_, damage) => {
    const xml = Buffer.from(fileXml('WPL', [place], peildatum));
    await expect(placesIn(chunksOf(damage(xml)))).rejects.toMatchObject({ name: 'ExtractError', code: 'invalid_xml' });
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
