import { unpackWrites } from '../dataset/change-file.ts';
import { getObject, putJson } from '../storage/storage.ts';
import { paths } from './paths.ts';
import type { Places } from './step.ts';

/**
 * Writes one file of changes into the table. A file that was written before is left alone; one that was written in part
 * is written again: every write says all about its key, so nothing is lost or doubled.
 * @param owner must hold the lock
 * @throws LockedError
 */
export async function applyChanges(
  { storage, addresses }: Places,
  { load, changes, owner }: { load: string; changes: string; owner: string },
  onWritten: (count: number) => void = () => undefined,
): Promise<{ written: number }> {
  if (await storage.open(paths.applied(load, changes))) return { written: 0 };
  await addresses.lock.check(owner);
  const writes = unpackWrites(await getObject(storage, paths.changes(load, changes)));
  await addresses.write(writes, onWritten);
  await putJson(storage, paths.applied(load, changes), { writes: writes.length });
  return { written: writes.length };
}
