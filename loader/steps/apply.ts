import { unpackWrites } from '../addresses/lines.ts';
import type { ChangeFile } from '../dataset/load.ts';
import { getUnpacked, paths, putJson } from '../storage/storage.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepOfItems } from './step.ts';

/**
 * Writes the files of changes to the table, unless they were written. Repeating it changes nothing.
 */
export const step: StepOfItems<ChangeFile, { changes: string; written: number }> = {
  share: async () => undefined,
  total: (files) => ({ rows: files.reduce((sum, { writes }) => sum + writes, 0) }),
  async each(context, { load }, { changes, writes: rows }) {
    const { storage, addresses, onDone } = context;
    const fence = await context.fence();
    if (await storage.open(paths.applied(load, changes))) {
      onDone({ rows });
      return { changes, written: 0 };
    }
    await fence.confirm(0);
    const writes = await getUnpacked(storage, paths.changes(load, changes), unpackWrites);
    await addresses.write(writes, fence, (rows) => onDone({ rows }));
    await putJson(storage, paths.applied(load, changes), { writes: writes.length });
    return { changes, written: writes.length };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('apply', step);
