import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from '@jest/globals';
import { noProgress } from '../../../loader/steps/step.ts';
import { openStorage } from '../../../loader/storage/open.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { uploadMutations } from '../../../operator/deployment/state-machine-load.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { deliveryName } from '../../support/mutation-delivery.ts';

const folder = folderForNow('bag-adres-uploads-');
const to = (storage: Storage) => ({ storage, bucket: 'snapshots', progress: noProgress });

it('a delivery on this machine is copied once, and again if its contents were corrected', async () => {
  const storage = await openStorage(join(folder, 'bucket'));
  const file = join(folder, deliveryName('2026-01-08', '2026-01-09'));
  const upload = async (contents: string) => {
    await writeFile(file, contents);
    const [location = ''] = await uploadMutations([file], to(storage));
    expect(basename(location)).toBe(basename(file));
    const stored = await storage.get(location.replace('s3://snapshots/', ''));
    expect(stored?.toString()).toBe(contents);
    return location;
  };
  const first = await upload('as it was published');
  const corrected = await upload('as it was corrected');
  expect(await upload('as it was corrected')).toBe(corrected);
  expect(await storage.list('uploads/')).toHaveLength(2);
  expect(corrected).not.toBe(first);
});

it('a delivery elsewhere stays where it is', async () => {
  const storage = await openStorage(join(folder, 'bucket-of-none'));
  const location = `s3://deliveries/${deliveryName('2026-01-08', '2026-01-09')}`;
  expect(await uploadMutations([location], to(storage))).toEqual([location]);
  expect(await storage.list('uploads/')).toEqual([]);
});
