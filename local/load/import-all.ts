import type { Line } from '../../loader/addresses/lines.ts';
import type { ChangeFile, Snapshot } from '../../loader/dataset/load.ts';
import type { BulkImport } from '../../loader/storage/address-table.ts';
import type { Fence } from '../../loader/storage/lock.ts';
import { paths, putJson, type Storage } from '../../loader/storage/storage.ts';
import { currentManifest, type LoadContext } from '../../loader/storage/stored-loads.ts';
import { snapshotLines } from '../../loader/storage/stored-register.ts';

/**
 * Applies a load by importing its whole snapshot, if that is faster; returns whether it did.
 * @throws LockedError
 */
export async function importAll(
  { storage, addresses }: LoadContext,
  { load, files }: { load: string; files: ChangeFile[] },
  fence: Fence,
  bulkImport: BulkImport,
): Promise<boolean> {
  const applied = new Set(await storage.list(paths.appliedAll(load)));
  const left = files.filter(({ changes }) => !applied.has(paths.applied(load, changes)));
  const writes = left.reduce((total, file) => total + file.writes, 0);
  const { pending } = await currentManifest(storage, addresses);
  if (pending?.load !== load || writes === 0) return false;
  const { snapshot, addresses: count, lists } = pending;
  const size = { lines: count + lists, writes };
  if (!(await bulkImport.takesOn(size))) return false;
  await fence.confirm(0);
  await bulkImport.run(linesOf(storage, snapshot), size);
  for (const { changes, writes } of left) {
    await putJson(storage, paths.applied(load, changes), { writes });
  }
  return true;
}

async function* linesOf(storage: Storage, snapshot: Snapshot): AsyncGenerator<Line[]> {
  for (const segment of snapshot.segments) yield await snapshotLines(storage, snapshot, segment);
}
