import { unpackWrites } from '../addresses/change-file.ts';
import { unpackSegment } from '../addresses/line-segment.ts';
import type { Line } from '../addresses/lines.ts';
import type { Snapshot } from '../dataset/load.ts';
import type { BulkImport } from '../storage/address-table.ts';
import type { Fence } from '../storage/lease.ts';
import { getUnpacked, paths, putJson, type Storage } from '../storage/storage.ts';
import { lambdaOfItems } from './lambda-step.ts';
import { currentManifest } from './manifest.ts';
import type { LoadContext, StepOfItems } from './step.ts';
import type { ChangeFile } from './work.ts';

/** Writes a file of changes, unless it was written. Repeating it changes nothing. @throws LockedError */
export async function applyChanges(
  { storage, addresses }: LoadContext,
  { load, changes }: { load: string; changes: string },
  fence: Fence,
  onWritten: (count: number) => void = () => undefined,
): Promise<{ written: number }> {
  if (await storage.open(paths.applied(load, changes))) return { written: 0 };
  await fence.confirm(0);
  const writes = await getUnpacked(storage, paths.changes(load, changes), unpackWrites);
  await addresses.write(writes, fence, onWritten);
  await putJson(storage, paths.applied(load, changes), { writes: writes.length });
  return { written: writes.length };
}

/** Applies a load by importing its whole snapshot, if that is faster; returns whether it did. @throws LockedError */
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
  for (const { changes, writes } of left) await putJson(storage, paths.applied(load, changes), { writes });
  return true;
}

async function* linesOf(storage: Storage, { id, segments }: Snapshot): AsyncGenerator<Line[]> {
  for (const segment of segments) yield await getUnpacked(storage, paths.snapshot(id, segment), unpackSegment);
}

/** Writes the files of changes to the table. */
export const step: StepOfItems<ChangeFile, { changes: string; written: number }> = {
  share: async () => undefined,
  total: (files) => ({ rows: files.reduce((sum, { writes }) => sum + writes, 0) }),
  async each(context, { load }, { changes, writes }) {
    const { onDone } = context;
    const fence = await context.fence();
    const { written } = await applyChanges(context, { load, changes }, fence, (rows) => onDone({ rows }));
    if (written === 0) onDone({ rows: writes });
    return { changes, written };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('apply', step);
