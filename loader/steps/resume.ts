import type { Load } from '../dataset/load.ts';
import { findJson, paths } from '../storage/storage.ts';
import { currentManifest, type Found, finishPending, type LoadContext } from './manifest.ts';

/** The storage has no work of this load, so it can't continue. */
export class UnknownLoadError extends Error {
  override readonly name = 'UnknownLoadError';
}

/**
 * Finds a load that reached the guard, so that it continues from there (after `merge`, which has nothing left to do).
 * It no longer needs the extract. A load that was interrupted while applying comes first.
 * @throws UnknownLoadError, ForeignStorageError, WorkGoneError
 */
export async function resume({ storage, addresses }: LoadContext, loadId: string): Promise<Found> {
  const { pending } = await currentManifest(storage, addresses);
  if (pending) return finishPending(storage, pending);
  const [load, plan] = await Promise.all([
    findJson<Load>(storage, paths.load(loadId)),
    storage.get(paths.plan(loadId)),
  ]);
  if (!load || !plan) {
    throw new UnknownLoadError(
      `The storage has no work of load ${loadId}: it is unknown, has expired, or another load was published since. Run "load run" ` +
        'with its extract; if it is blocked again, approve that load.',
    );
  }
  return { action: 'rollback', load: loadId, peildatum: load.peildatum };
}
