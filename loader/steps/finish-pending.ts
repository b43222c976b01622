import type { ManifestEntry } from '../dataset/manifest.ts';
import type { Storage } from '../storage/storage.ts';
import type { ChangeFile } from './guard.ts';
import type { Found } from './manifest.ts';
import { paths } from './paths.ts';

/** The work of a load that died while applying expired or was removed: it can't go on from there. */
export class WorkGoneError extends Error {
  override readonly name = 'WorkGoneError';

  constructor({ load, peildatum, at }: ManifestEntry) {
    super(
      `The load of ${peildatum} (${load}) began to be written at ${at} and did not end, and the work that it would go on ` +
        'with is gone: it is kept for 30 days. Run "load repair", which gets the table there without it, and then the ' +
        'load again.',
    );
  }
}

/** To finish a load that died while applying, which comes before anything else. @throws WorkGoneError */
export async function finishPending(storage: Storage, pending: ManifestEntry): Promise<Found> {
  const { load, peildatum } = pending;
  const stored = await storage.get(paths.changeFiles(load));
  const files: ChangeFile[] | null = stored && JSON.parse(stored.toString());
  const there = new Set((await storage.list(paths.changesAll(load))).map(({ key }) => key));
  const isWhole = files?.every(({ changes }) => there.has(paths.changes(load, changes)));
  if (!isWhole) throw new WorkGoneError(pending);
  return { action: 'finish', load, peildatum };
}
