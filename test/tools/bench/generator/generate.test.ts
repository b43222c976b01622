import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { diff, placeText } from '../../../../loader/addresses/lines.ts';
import { findMembers, listXmlFiles, type Member, memberAccess } from '../../../../loader/bag/extract-members.ts';
import { bufferAccess } from '../../../../loader/zip/random-access.ts';
import { block, type Plan } from '../../../../tools/bench/generator/country.ts';
import { type Generated, generatedExtract } from '../../../../tools/bench/generator/generate.ts';
import { joinLines } from '../../../support/join-lines.ts';
import { readExtract } from '../../../support/read-extract.ts';
import { schemaErrors, xsdFolder } from '../../../support/schema-errors.ts';
import { fileXml } from '../../../support/stand-xml.ts';

const plan: Plan = { seed: 7, blocks: 1_230, month: 1 };
const scale = 1 / 1_230; // one block: 10,000 occurrences

let folder: string;
let months: Generated[];
let tables: Map<string, string>[];

/** Key to its places, by the reader. */
async function tableOf({ path }: Generated): Promise<Map<string, string>> {
  const places = new Map<string, Map<string, string[]>>();
  for (const { key, woonplaats, straat, gemeente, identificatie } of (await readExtract(readFileSync(path))).rows) {
    const [found, place] = [places.get(key) ?? new Map<string, string[]>(), `${straat}\t${woonplaats}\t${gemeente}`];
    places.set(key, found.set(place, [...(found.get(place) ?? []), identificatie]));
  }
  const text = (found: Map<string, string[]>) =>
    [...found].map(([place, ids]) => `${place}\t${ids.sort().join()}`).sort();
  return new Map([...places].map(([key, found]) => [key, text(found).join('\t')]));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'generator-'));
  months = [
    await generatedExtract({ scale, seed: 7 }, folder),
    await generatedExtract({ scale, seed: 7, month: 1 }, folder),
  ];
  tables = await Promise.all(months.map(tableOf));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Counted on the lines that a load makes of the addresses, whose own tests hold them to another truth. */
function listsThatDiffer(before: Map<string, string>, after: Map<string, string>): number {
  const lines = (table: Map<string, string>) =>
    joinLines(
      [...table].map(
        ([key, places]) => `${key}\t\t${placeText({ straat: places, woonplaats: 'one' })}0457200000000001`,
      ),
    );
  return [...diff(lines(before), lines(after))].filter(({ kind }) => kind === 'list').length;
}

describe('a generated extract', () => {
  it.each([0, 1])('has exactly the declared contents: month %i', async (month) => {
    const { path, peildatum, truth } = months[month] as Generated;
    const read = await readExtract(readFileSync(path));
    expect(read.peildatum).toBe(peildatum);
    expect(read.voorkomens).toEqual(truth.voorkomens);
    expect(read.rows).toHaveLength(truth.addresses);
    expect(read.problems.no_postcode.count).toBe(truth.noPostcode);
    expect(read.problems.street_missing.count).toBe(truth.streetMissing);
    expect(read.problems.place_missing.count + read.problems.invalid_value.count).toBe(0);
    const lines = [...(tables[month] as Map<string, string>)].map(([key, places]) => `${key}\t\t${places}`);
    expect(lines).toHaveLength(truth.keys);
    expect(lines.filter((line) => line.split('\t').length > 6)).toHaveLength(truth.ambiguous);
    expect(lines.reduce((sum, line) => (sum + crc32(line)) % 2 ** 48, 0)).toBe(truth.checksum);
  });

  it('differs a month later by the declared amount, about one address in two hundred', () => {
    const [before, after] = tables as [Map<string, string>, Map<string, string>];
    const difference = months[1]?.difference;
    expect(difference).toEqual({
      added: [...after.keys()].filter((key) => !before.has(key)).length,
      removed: [...before.keys()].filter((key) => !after.has(key)).length,
      changed: [...after].filter(([key, places]) => before.has(key) && before.get(key) !== places).length,
      listsChanged: listsThatDiffer(before, after),
    });
    const writes = Object.values(difference ?? {}).reduce((sum, count) => sum + count, 0);
    expect(writes / before.size).toBeGreaterThan(0.002);
    expect(writes / before.size).toBeLessThan(0.02);
  });

  it('has the variety of the register: history, withdrawn, no postcode, own woonplaats, additions, unusual names', () => {
    const { NUM, OPR } = block({ ...plan, month: 0 }, 3);
    const share = (count: number) => count / NUM.length;
    expect(share(NUM.filter(({ eind }) => eind !== undefined).length)).toBeGreaterThan(0.1);
    expect(share(NUM.filter(({ live }) => live === false).length)).toBeGreaterThan(0.02);
    expect(share(NUM.filter(({ huisletter }) => huisletter).length)).toBeGreaterThan(0.03);
    expect(share(NUM.filter(({ huisnummertoevoeging }) => huisnummertoevoeging).length)).toBeGreaterThan(0.03);
    expect(NUM.filter(({ woonplaats }) => woonplaats).length).toBeGreaterThan(0);
    expect(NUM.filter(({ postcode }) => !postcode).length).toBeGreaterThan(50);
    expect(OPR.filter(({ naam }) => /[^ -~]/.test(naam)).length).toBeGreaterThan(0);
  });

  it('is the same for the same seed, and another for another', () => {
    expect(block(plan, 3)).toEqual(block(plan, 3));
    expect(block({ ...plan, seed: 8 }, 3)).not.toEqual(block(plan, 3));
  });

  it('has each postcode in one block, so that counts of blocks add up', () => {
    const blocks = [0, 1, 2, 3].map(
      (index) => new Set(block(plan, index).NUM.flatMap(({ postcode }) => postcode ?? [])),
    );
    const all = new Set(blocks.flatMap((postcodes) => [...postcodes]));
    expect(all.size).toBeGreaterThan(1_000);
    expect(all.size).toBe(blocks.reduce((sum, postcodes) => sum + postcodes.size, 0));
  });

  it('does not end with a full file, with which a load would expect another', async () => {
    const { path } = months[0] as Generated;
    const source = bufferAccess(readFileSync(path));
    const [member] = (await findMembers(source, path)).members;
    const files = await listXmlFiles(await memberAccess(source, member as Member, path), path);
    expect(files.map(({ size }) => size > 10_000)).toEqual([true, false]);
  });

  it('compresses about fifty to one, like the real extract', async () => {
    const { path, truth } = months[0] as Generated;
    const xmlBytes = truth.voorkomens.NUM * 1_260;
    const ratio = xmlBytes / readFileSync(path).length; // streets and places are in it too, but they are few
    expect(ratio).toBeGreaterThan(35);
    expect(ratio).toBeLessThan(70);
  });

  (existsSync(xsdFolder) ? it : it.skip)('is valid by the schemas of the Kadaster', async () => {
    const { NUM, OPR, WPL } = block(plan, 3);
    const some = NUM.filter((_, i) => i % 10 === 0);
    const date = '2026-02-08';
    const files = [fileXml('NUM', some, date), fileXml('OPR', OPR, date), fileXml('WPL', WPL, date)];
    expect(await schemaErrors(files)).toEqual([]);
  });
});
