import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readMutationDelivery } from '../../../loader/bag/mutation-delivery.ts';
import { objectKey } from '../../../loader/register/apply-mutations.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { DeliveryCopies, readCopy } from '../../../loader/storage/mutation-deliveries.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { writeMutationDelivery } from '../../support/mutation-delivery.ts';
import { firstState, laterDays } from '../../support/register.ts';

const folder = folderForNow('bag-deliveries-');
const random = new Random(3);
const start = '2026-01-08';
const groups = [...laterDays(random, firstState(random, start), start, 10)].flatMap((day) => day.groups);

it('a copy of a delivery is what its zip says, whether it was just read or not, and is refused when it is damaged', async () => {
  const storage = folderStorage(join(folder, 'storage'));
  const [vanaf, tot] = [start, '2026-01-09'];
  const name = 'BAGNLDM-08012026-09012026.zip';
  const zip = await writeMutationDelivery(vanaf, tot, groups);
  writeFileSync(join(folder, name), zip);
  const listed = { name, location: join(folder, name), vanaf, tot, gemeenten: [], size: zip.length };
  const { file: copy } = await new DeliveryCopies(storage, []).copy(listed);
  const expected = await readMutationDelivery(bufferAccess(zip), name);
  expect(expected.mutations.length).toBeGreaterThan(0);
  for (const { named, contents } of [await readCopy(storage, copy), await readCopy(storage, copy)]) {
    expect(named).toEqual([...new Set(expected.mutations.map(objectKey))]);
    expect(contents()).toEqual(expected);
  }
  await storage.put(copy.key, zip.subarray(1));
  await expect(readCopy(storage, copy)).rejects.toThrow(`The stored object ${copy.key} is damaged.`);
});
