import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ByteRanges, packLines } from '../../../loader/dataset/stored-form.ts';
import { readRows } from '../../../loader/steps/extract.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { DamagedObjectError, putPacked, type Storage } from '../../../loader/storage/storage.ts';

const key = 'loads/one/rows/0';
const parts: Record<string, string[]> = {
  '138': ['1381AA#9#', '1382AA#1#'],
  '139': ['1391XE#3#'],
  '250': ['2500AA#1#'],
};
const ranges: ByteRanges = {};
let packed: Buffer;
let folder: string;
let storage: Storage;

beforeAll(async () => {
  const pieces = Object.entries(parts).map(([postcode3, lines]) => [postcode3, packLines(lines)] as const);
  let position = 0;
  for (const [postcode3, { length }] of pieces) {
    ranges[postcode3] = [position, length];
    position += length;
  }
  packed = Buffer.concat(pieces.map(([, piece]) => piece));
  folder = await mkdtemp(join(tmpdir(), 'read-rows-'));
  storage = folderStorage(folder);
});
afterAll(() => rm(folder, { recursive: true }));

async function linesOf(postcode3s?: string[]): Promise<Record<string, string[]>> {
  const rows = await readRows(storage, key, ranges, postcode3s);
  const entries = rows.map(async ({ postcode3, lines }) => [postcode3, (await lines()).toString().split('\n')]);
  return Object.fromEntries(await Promise.all(entries));
}

describe('the rows of a part', () => {
  it('are read by postcode3, all or some', async () => {
    await putPacked(storage, key, packed);
    expect(await linesOf()).toEqual(parts);
    expect(await linesOf(['130', '138', '139'])).toEqual({ '138': parts['138'], '139': parts['139'] });
    expect(await linesOf(['130'])).toEqual({});
  });

  it('are damaged, wherever the object was cut off', async () => {
    for (let length = 0; length < packed.length; length++) {
      await storage.put(key, packed.subarray(0, length));
      await expect(linesOf()).rejects.toThrow(new DamagedObjectError(key));
    }
  });
});
