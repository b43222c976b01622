import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findMembers, type Member, memberAccess, type Spool } from '../../../loader/bag/extract-members.ts';
import { bufferAccess, type RandomAccess } from '../../../loader/zip/random-access.ts';
import { listEntries, readEntry } from '../../../loader/zip/zip.ts';
import { examplePeildatum, exampleVoorkomens } from '../../support/example-extract.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { readExtract } from '../../support/read-extract.ts';
import { deliveryXml } from '../../support/stand-xml.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';
import { zipOf } from './zip-of.ts';

const samples = '../shared/bag-samples';
const ifSamples = existsSync(samples) ? it : it.skip; // real extracts are not part of this repository
const sample = (name: string) => readFileSync(`${samples}/${name}`);

const demo = (packing: Packing = {}) => writeExtract(examplePeildatum, exampleVoorkomens(), packing);

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
  (existsSync(samples) ? inSweep : it.skip)('finds exactly the addresses of Weesp', async () => {
    const { peildatum, voorkomens, current, rows, problems } = await readExtract(
      sample('weesp-0457/BAGGEM0457L-15102021.zip'),
    );
    expect(peildatum).toBe('2021-10-15');
    expect(voorkomens).toEqual({ NUM: 16_113, OPR: 593, WPL: 3 });
    expect(current).toEqual({ NUM: 12_034, OPR: 320, WPL: 1 });
    expect(rows).toHaveLength(11_927);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(11_920);
    expect(new Set(rows.map(({ postcode }) => postcode)).size).toBe(626);
    expect(new Set(rows.map(({ woonplaats }) => woonplaats))).toEqual(new Set(['Weesp']));
    expect(new Set(rows.map(({ key, straat }) => `${key} ${straat}`)).size).toBe(11_920); // so none is ambiguous
    expect(problems.no_postcode.count).toBe(107);
    expect(problems.street_missing.count + problems.place_missing.count + problems.invalid_value.count).toBe(0);
  });

  ifSamples('reads the national layout with the junk of a Mac, and XML with blanks', async () => {
    const { rows, voorkomens } = await readExtract(sample('doesburg-0221-small/BAGNLDL-15092020-small.zip'));
    expect(voorkomens).toEqual({ NUM: 14, OPR: 201, WPL: 1 });
    expect(rows).toHaveLength(7);
  });

  ifSamples('reads deflated inner zips with XML in folders, once they have a Leveringsdocument', async () => {
    const zip = sample('junk-entries-zip/bag.zip');
    await expect(readExtract(zip)).rejects.toMatchObject({ code: 'missing_peildatum' });
    const files: Record<string, Buffer | string> = { 'Leveringsdocument-BAG-Extract.xml': deliveryXml('2025-12-08') };
    for (const entry of await listEntries(bufferAccess(zip), 'bag.zip'))
      if (!entry.name.endsWith('/')) files[entry.name] = await readEntry(bufferAccess(zip), entry, 'bag.zip');
    const { peildatum, rows } = await readExtract(await zipOf(files));
    expect(peildatum).toBe('2025-12-08');
    expect(rows.map(({ key }) => key)).toEqual(['1234AB#56#A', '1234AB#1#A']);
  });

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
    const second = await writeExtract(examplePeildatum, { ...exampleVoorkomens(), NUM: NUM.slice(20) });
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
    const { rows, voorkomens } = await readExtract(await writeExtract(examplePeildatum, { NUM: [], OPR: [], WPL: [] }));
    expect(voorkomens).toEqual({ NUM: 0, OPR: 0, WPL: 0 });
    expect(rows).toEqual([]);
  });
});

describe('refusing an extract', () => {
  ifSamples('refuses a delivery of mutations, by what it is', async () => {
    await expect(readExtract(sample('weesp-0457/BAGNLDM-13112021-14112021.zip'))).rejects.toMatchObject({
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
    const zip = Buffer.from((await demo()).toString('latin1').replaceAll(`9999${kind}08`, '9999XXX08'), 'latin1');
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
          read: (position, length) => (--left === 0 ? Promise.reject(failure) : zip.read(position, length)),
        };
        await expect(readExtract(source)).rejects.toBe(failure);
      }
      expect(reads).toBeGreaterThan(6);
    },
  );
});
