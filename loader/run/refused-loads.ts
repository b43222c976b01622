import type { Objection } from '../dataset/guard.ts';
import type { Load } from '../dataset/load.ts';
import type { Plan } from '../steps/load-report.ts';
import { paths } from '../storage/paths.ts';
import { getJson, type Storage } from '../storage/storage.ts';

/** A load that the guard refused, or would refuse; it continues when it is approved. */
export type RefusedLoad = { load: string; peildatum: string; objections: Objection[] };

/** Every refused load onto the live dataset. Publishing a load removes the work of all other loads. */
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
      peildatum: load.peildatum,
      objections: plan.objections,
    }));
}
