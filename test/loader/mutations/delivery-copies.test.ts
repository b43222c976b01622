import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { objectKey } from '../../../loader/mutations/apply-mutations.ts';
import { DeliveryCopies, readCopy } from '../../../loader/mutations/delivery-copies.ts';
import { readMutationDelivery } from '../../../loader/mutations/mutation-delivery.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { writeMutationDelivery } from '../../support/mutation-delivery.ts';
import { firstState, laterDays } from '../../support/register.ts';

const folder = folderForNow('bag-deliveries-');
const random = new Random(3);
const start = '2026-01-08';
const groups = [...laterDays(random, firstState(random, start), start, 10)].flatMap(
  (day) => day.groups,
);

const vanaf = start;
const tot = '2026-01-09';
const name = 'BAGNLDM-08012026-09012026.zip';

/**
 * A delivery with the name of the whole country, as a list has it, and its copy in a new storage.
 */
async function listed(gemeente: string | null) {
  const zip = await writeMutationDelivery(vanaf, tot, groups, { gemeente });
  const location = join(folder, name);
  writeFileSync(location, zip);
  const storage = folderStorage(join(folder, `storage ${gemeente}`));
  const copy = new DeliveryCopies(storage, []).copy({
    name,
    location,
    vanaf,
    tot,
    gemeenten: [],
    size: zip.length,
  });
  return { zip, storage, copy };
}

describe('a copy of a delivery', () => {
  it('is what its zip says, whether it was just read or not, and is refused when it is damaged', async () => {
    const { zip, storage, copy } = await listed(null);
    const { file } = await copy;
    const expected = await readMutationDelivery(bufferAccess(zip), name);
    expect(expected.mutations.length).toBeGreaterThan(0);
    for (const { named, contents } of [
      await readCopy(storage, file),
      await readCopy(storage, file),
    ]) {
      expect(named).toEqual([...new Set(expected.mutations.map(objectKey))]);
      expect(contents()).toEqual(expected);
    }
    await storage.put(file.key, zip.subarray(1));
    await expect(readCopy(storage, file)).rejects.toThrow(
      `The stored object ${file.key} is damaged.`,
    );
  });

  it('is not made of a delivery of a gemeente under the name of the whole country', async () => {
    const { copy } = await listed('0457');
    await expect(copy).rejects.toThrow(
      'but its documents say of 2026-01-08 to 2026-01-09 for municipality 0457',
    );
  });
});
