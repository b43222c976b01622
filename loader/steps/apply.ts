import { unpackWrites } from '../addresses/lines.ts';
import type { ChangeFile } from '../dataset/load.ts';
import type { Fence } from '../storage/lock.ts';
import { getUnpacked, paths, putJson } from '../storage/storage.ts';
import type { LoadContext } from '../storage/stored-loads.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepOfItems } from './step.ts';

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
