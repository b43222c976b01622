import type { Objection } from '../../loader/dataset/guard.ts';
import type { Load } from '../../loader/dataset/load.ts';
import type { Plan } from '../../loader/steps/guard.ts';
import { paths } from '../../loader/steps/paths.ts';
import { getJson, type Storage } from '../../loader/storage/storage.ts';
import type { LoadRequest } from './loads.ts';

/** A load that the guard stopped, or would stop; it goes on when it is approved. */
export type RefusedLoad = { load: string; state: string; objections: Objection[]; request: LoadRequest };

/** Every refused load onto what is served now: publishing one removes the work of all others. */
export async function refusedLoads(storage: Storage): Promise<RefusedLoad[]> {
  const keys = (await storage.list(paths.loads)).map(({ key }) => key);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.plan(id) ? [id] : [];
  });
  const found = await Promise.all(
    ids.map(async (id) => ({
      plan: await getJson<Plan>(storage, paths.plan(id)),
      load: await getJson<Load>(storage, paths.load(id)),
    })),
  );
  return found
    .filter(({ plan }) => !plan.go)
    .map(({ plan, load }) => ({
      load: load.id,
      state: load.state,
      objections: plan.objections,
      request: { ...requestOf(load), approve: load.id },
    }));
}

/** What makes this very load again. An extract that was gone back from is asked for explicitly. */
function requestOf({ kind, target, source }: Load): LoadRequest {
  if (kind === 'rollback' && target) return { rollback: target.load };
  return { ...(source && { source: source.location }), again: true };
}
