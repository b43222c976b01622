import { readManifest } from '../steps/manifest.ts';
import { UnknownLoadError } from '../steps/resume.ts';
import { paths } from '../storage/storage.ts';
import { inSession, type LoadOptions } from './session.ts';

/** The load has begun to write, so its work is needed to finish it. */
export class PendingLoadError extends Error {
  override readonly name = 'PendingLoadError';
}

/** What was removed. Plain JSON. */
export type DiscardReport = { load: string; objects: number; bytes: number };

/**
 * Removes the work of a load that was not published, with its approval and its snapshot. The live dataset and the work of
 * other loads stay.
 * @throws PendingLoadError, UnknownLoadError, LockedError
 */
export async function discardLoad({ load, ...options }: LoadOptions & { load: string }): Promise<DiscardReport> {
  return inSession(options, async ({ storage }) => {
    const { pending, history } = await readManifest(storage);
    if (pending?.load === load) {
      throw new PendingLoadError(
        `Load ${load} has begun to write, so its work is needed to finish it. Run "load run", or "load repair" first.`,
      );
    }
    const isKept = history.some(({ snapshot }) => snapshot.id === load);
    const prefixes = [paths.workOf(load), paths.approval(load), ...(isKept ? [] : [paths.snapshotOf(load)])];
    const found = (await Promise.all(prefixes.map((prefix) => storage.list(prefix)))).flat();
    if (found.length === 0) {
      throw new UnknownLoadError(
        `The storage has no work of load ${load}. Run "load status" to see which loads are blocked.`,
      );
    }
    await storage.delete(found.map(({ key }) => key));
    return { load, objects: found.length, bytes: found.reduce((sum, { size }) => sum + size, 0) };
  });
}
