import { expect, it } from '@jest/globals';
import { RowsByNumber } from '../../../loader/register/rows.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { DamagedObjectError, putPacked } from '../../../loader/storage/storage.ts';
import { gatherRows, type StoredRows } from '../../../loader/storage/stored-register.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const storage = folderStorage(folderForNow('bag-adres-rows-'));

/** Stores the rows of a worker, each text for its number. */
async function store(key: string, texts: Record<number, string>): Promise<StoredRows> {
  const rows = new RowsByNumber();
  for (const [number, text] of Object.entries(texts)) rows.of(Number(number)).write(text);
  const { pieces, ranges } = rows.pieces();
  await putPacked(storage, key, pieces);
  return { key, ranges };
}

it('the rows for a destination are those of all workers in their order, and no other bytes', async () => {
  const stored = [
    await store('rows/000', { 13: 'a\nb\n', 14: 'c\n' }),
    await store('rows/001', { 14: 'd\n' }),
    await store('rows/002', { 12: 'e\n', 13: 'f\n' }),
  ];
  const gathered = async (place: string) => (await gatherRows(storage, stored, place)).toString();
  expect(await Promise.all(['012', '013', '014', '015'].map(gathered))).toEqual([
    'e\n',
    'a\nb\nf\n',
    'c\nd\n',
    '',
  ]);

  const bytes = (await storage.get('rows/002')) as Buffer;
  const damaged = Array.from({ length: 4 }, (_, at) => Buffer.from(bytes).fill('x', at, at + 1));
  for (const wrong of [...damaged, bytes.subarray(0, 3), Buffer.alloc(0)]) {
    await storage.put('rows/002', wrong);
    const outcomes = await Promise.allSettled([gathered('012'), gathered('013'), gathered('014')]);
    const failed = outcomes.filter(({ status }) => status === 'rejected');
    expect(failed).toContainEqual({
      status: 'rejected',
      reason: new DamagedObjectError('rows/002'),
    });
    expect(outcomes[2]).toEqual({ status: 'fulfilled', value: 'c\nd\n' });
  }
});
