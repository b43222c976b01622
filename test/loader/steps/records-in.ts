import { unpackRecords } from '../../../loader/register/rows.ts';
import { linesOf } from '../../../loader/register/stored-form.ts';
import { getUnpacked, type Storage } from '../../../loader/storage/storage.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import { recordKeys } from '../../../loader/storage/stored-register.ts';

/** Every record that is stored with the live snapshot, whatever its bucket. */
export async function recordsIn(storage: Storage): Promise<string[]> {
  const { published } = await readManifest(storage);
  const records: string[] = [];
  for (const key of published ? recordKeys(published.snapshot) : [])
    records.push(...linesOf((await getUnpacked(storage, key, unpackRecords)).subarray(0, -1)));
  return records.sort();
}
