import type { Objection } from '../dataset/guard.ts';
import type { Plan } from '../steps/load-report.ts';
import { findJson, paths, type Storage } from '../storage/storage.ts';

/** A load that the guard refused, or would refuse; it continues when it is approved. */
export type RefusedLoad = { load: string; peildatum: string; objections: Objection[] };

/** Every refused load onto the live dataset. Publishing a load removes the work of all other loads. */
export async function refusedLoads(storage: Storage): Promise<RefusedLoad[]> {
  return (await refusedPlans(storage)).map(({ load, peildatum, objections }) => ({ load, peildatum, objections }));
}

/** What each of them would change, by date. */
export async function refusedPlans(storage: Storage): Promise<Plan[]> {
  const keys = (await storage.list(paths.loads)).map(({ key }) => key);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.plan(id) ? [id] : [];
  });
  const plans = await Promise.all(ids.map((id) => findRefusedPlan(storage, id)));
  return plans.filter((plan) => plan !== null).toSorted((a, b) => (a.load < b.load ? -1 : 1));
}

/** The plan of one refused load; `null` where it is not refused, or its work is gone. */
export async function findRefusedPlan(storage: Storage, load: string): Promise<Plan | null> {
  const plan = await findJson<Plan>(storage, paths.plan(load));
  return plan && !plan.go ? plan : null;
}
