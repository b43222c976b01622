import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OpenbareRuimteTaker, readOpenbareRuimten, readWoonplaatsen } from '../../../loader/bag/openbare-ruimten.ts';
import { emptyCounts, type ReadCounts } from '../../../loader/bag/problem-report.ts';
import { readStands } from '../../../loader/bag/read-stands.ts';
import type { OpenbareRuimte, Woonplaats } from '../../../loader/bag/voorkomen.ts';
import { heldFile } from '../../../loader/zip/zip-entry.ts';
import { fileXml, type OprVoorkomen, type WplVoorkomen } from '../../../local/demo/stand-xml.ts';

const peildatum = '2026-01-08';
const street: OprVoorkomen = {
  identificatie: '0457300000000035',
  naam: 'Buitenveer',
  woonplaats: '3631',
  begin: '2010-01-01',
};
const place: WplVoorkomen = { identificatie: '3631', naam: 'Weesp', begin: '2016-01-01' };

type Read<T> = { visited: T[]; counts: ReadCounts };

function streets(voorkomens: OprVoorkomen[], strictly: boolean): Read<OpenbareRuimte> {
  const visited: OpenbareRuimte[] = [];
  const xml = heldFile(Buffer.from(fileXml('OPR', voorkomens, peildatum)));
  const counts = readOpenbareRuimten(xml, 'opr.xml', peildatum, (found) => visited.push(found), { strictly });
  return { visited, counts };
}

function placesIn(xml: Buffer, most?: number): Read<Woonplaats> {
  const visited: Woonplaats[] = [];
  const counts = readWoonplaatsen(heldFile(xml, most), 'wpl.xml', peildatum, (found) => visited.push(found));
  return { visited, counts };
}

describe.each([
  ['strict reader', true],
  ['cursor', false],
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
  ])('keep their name as the register writes it: %s', (naam) => {
    expect(streets([{ ...street, naam }], strictly).visited).toEqual([
      { identificatie: '0457300000000035', naam, woonplaats: '3631', begin: '2010-01-01' },
    ]);
  });

  it('keep their own name where they have a short one too', () => {
    const naam = 'Burgemeester Nahuyssingel';
    expect(streets([{ ...street, naam, verkorteNaam: 'Burg Nahuyssingel' }], strictly).visited[0]?.naam).toBe(naam);
  });

  it.each<[string, Partial<OprVoorkomen>]>([
    ['withdrawn', { live: false }],
    ['ended', { eind: '2020-01-01' }],
    ['future', { begin: '2026-02-01' }],
  ])('do not count when %s', (reason, change) => {
    const { visited, counts } = streets([{ ...street, ...change }, street], strictly);
    expect(visited).toHaveLength(1);
    expect(counts).toMatchObject({ voorkomens: 2, current: 1, notCurrent: { [reason]: 1 } });
  });

  it.each<[string, Partial<OprVoorkomen>]>([
    ["naam ''", { naam: '' }],
    ["naam ' Veer'", { naam: ' Veer' }],
    ["naam 'Veer\npad'", { naam: 'Veer\npad' }],
    ["WoonplaatsRef '36'", { woonplaats: '36' }],
  ])('are a problem with %s', (detail, change) => {
    const { visited, counts } = streets([{ ...street, ...change }], strictly);
    expect(visited).toEqual([]);
    expect(counts.problems).toMatchObject([{ kind: 'invalid_value', detail }]);
  });
});

describe('streets', () => {
  it('are the same by both readers, whatever their names', () => {
    const naam = fc.string({ unit: 'grapheme', maxLength: 85 });
    fc.assert(
      fc.property(fc.array(naam, { maxLength: 5 }), (names) => {
        const voorkomens = names.map((name) => ({ ...street, naam: name.replace(/[^\P{C}]/gu, '') }));
        expect(streets(voorkomens, false)).toEqual(streets(voorkomens, true));
      }),
    );
  });

  it('in plain ASCII are all taken by the cursor', () => {
    let left = 0;
    const counts = emptyCounts();
    const xml = heldFile(Buffer.from(fileXml('OPR', [street, { ...street, live: false }], peildatum)));
    const taker = new OpenbareRuimteTaker(peildatum, counts, () => {});
    readStands(xml, 'opr.xml', 'OPR', () => left++, taker);
    expect({ left, taken: counts.voorkomens }).toEqual({ left: 0, taken: 2 });
  });
});

describe('places', () => {
  it('are read whatever the size of the pieces that the file comes in', () => {
    const xml = Buffer.from(fileXml('WPL', [place, { ...place, naam: 'Sint Anthoniepôlder' }], peildatum));
    for (const chunkBytes of [1, 2, 7, 1_000, 1_000_000]) {
      expect(placesIn(xml, chunkBytes).visited.map(({ naam }) => naam)).toEqual(['Weesp', 'Sint Anthoniepôlder']);
    }
  });

  it('do not count when withdrawn without an end date', () => {
    const withdrawn = { ...place, identificatie: '1012', live: false };
    const { visited, counts } = placesIn(Buffer.from(fileXml('WPL', [withdrawn, place], peildatum)));
    expect(visited).toEqual([{ identificatie: '3631', naam: 'Weesp', begin: '2016-01-01' }]);
    expect(counts).toMatchObject({ voorkomens: 2, current: 1, notCurrent: { withdrawn: 1 } });
  });

  it.each([
    ['cut off', (xml: Buffer) => xml.subarray(0, -20)],
    ['not UTF-8', (xml: Buffer) => Buffer.concat([xml.subarray(0, 300), Buffer.from([0xff]), xml.subarray(300)])],
    ['cut off inside a letter', (xml: Buffer) => Buffer.concat([xml, Buffer.from([0xc3])])],
  ])('are refused in a file that is %s', (_, damage) => {
    const xml = Buffer.from(fileXml('WPL', [place], peildatum));
    expect(() => placesIn(damage(xml))).toThrow(expect.objectContaining({ name: 'ExtractError', code: 'invalid_xml' }));
  });

  const real = '../shared/bag-samples/gdal-lvbag/wpl.xml';
  (existsSync(real) ? it : it.skip)('are found in a real file, outlines and all', () => {
    const { visited, counts } = placesIn(readFileSync(real));
    expect(counts.voorkomens).toBe(2);
    expect(visited.every(({ naam }) => /^[A-Z]/.test(naam))).toBe(true);
  });
});
