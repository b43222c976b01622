import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { openStorage } from '../../../loader/storage/open.ts';
import { paths, putPacked } from '../../../loader/storage/storage.ts';
import type { LoadProposal } from '../../../loader/verdict/load-report.ts';
import { changesFilesOf, readChanges } from '../../../packages/admin/load-approvals.ts';

const load = '2026-03-08-0123456789';
const planWith = (...bytes: number[]) =>
  ({ load, csv: bytes.map((size, i) => ({ name: `10-00${i}`, changes: 1, bytes: size })) }) as unknown as LoadProposal;

describe('the files of the changes of a load', () => {
  it('have up to 4 MB of parts that belong together, in their order', () => {
    const sizes = changesFilesOf(planWith(2e6, 2e6, 1, 5e6, 3e6)).map((file) => file.map(({ bytes }) => bytes));
    expect(sizes).toEqual([[2e6, 2e6], [1], [5e6], [3e6]]);
  });

  it('begin with the names of the columns, each of them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'changes-'));
    const storage = await openStorage(folder);
    for (const [i, text] of ['a\r\n', 'b\r\n', 'c\r\n'].entries())
      await putPacked(storage, paths.changesCsv(load, `10-00${i}`), gzipSync(text));
    const proposal = planWith(2e6, 2e6, 1);
    const head = 'key,before,after,nummeraanduidingen\r\n';
    expect(await readChanges(storage, proposal, 1)).toBe(`${head}a\r\nb\r\n`);
    expect(await readChanges(storage, proposal, 2)).toBe(`${head}c\r\n`);
    for (const file of [0, 3, -1, 1.5])
      await expect(readChanges(storage, proposal, file)).rejects.toMatchObject({ code: 'not_found' });
    await rm(folder, { recursive: true });
  });
});
