import type { Load } from '../dataset/load.ts';
import { paths } from '../storage/paths.ts';
import { findJson } from '../storage/storage.ts';
import { currentManifest, type Found, finishPending, type LoadContext } from './manifest.ts';

/** No work of this load is in the storage, so it can't continue. */
export class UnknownLoadError extends Error {
  override readonly name = 'UnknownLoadError';
}

/**
 * Finds a load that got as far as the guard, so that it continues from there (after `merge`, which has nothing left to do).
 * It needs the extract no more. A load that died while applying comes first.
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
      `No work of load ${loadId} is kept: it is unknown, has expired, or another load was published since. Run "load run" ` +
        'with its extract; if it is blocked again, approve that load.',
    );
  }
  return { action: 'rollback', load: loadId, peildatum: load.peildatum };
}
