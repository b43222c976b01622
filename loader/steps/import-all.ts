import { unpackWrites } from '../dataset/change-file.ts';
import type { Line } from '../dataset/lines.ts';
import type { Load } from '../dataset/load.ts';
import type { BulkImport } from '../storage/address-table.ts';
import { getJson, getObject, putJson, type Storage } from '../storage/storage.ts';
import type { ChangeFile } from './guard.ts';
import { paths } from './paths.ts';
import type { Places } from './step.ts';

/**
 * Applies the first load of an empty table in one go, and marks its files of changes as applied. Any other load, or one
 * of which something was applied already, is left to single writes.
 * @throws LockedError
 */
export async function importAll(
  { storage, addresses }: Places,
  { load, files, owner }: { load: string; files: ChangeFile[]; owner: string },
  bulkImport: BulkImport,
): Promise<void> {
  const { base } = await getJson<Load>(storage, paths.load(load));
  if (base || files.length === 0 || (await storage.list(paths.appliedAll(load))).length > 0) return;
  await addresses.lock.check(owner);
  await bulkImport(linesOf(storage, load, files));
  for (const { changes, writes } of files) await putJson(storage, paths.applied(load, changes), { writes });
}

async function* linesOf(storage: Storage, load: string, files: ChangeFile[]): AsyncGenerator<Line[]> {
  for (const { changes } of files) {
    const writes = unpackWrites(await getObject(storage, paths.changes(load, changes)));
    yield writes.flatMap((write) => ('put' in write ? [write.put] : []));
  }
}
