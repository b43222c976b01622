import { refusedLoads } from '../../loader/run/refused-loads.ts';
import { readManifest } from '../../loader/steps/manifest.ts';
import type { Storage } from '../../loader/storage/storage.ts';
import type { Register } from './visit/visit.ts';

const loadsShown = 12;

/** The register as the loader's storage describes it: what is live, the last loads, and those that wait for approval. */
export async function storedRegister(storage: Storage): Promise<Register> {
  const [{ published, history }, refused] = await Promise.all([readManifest(storage), refusedLoads(storage)]);
  return {
    snapshotDate: published?.peildatum ?? null,
    loads: history.slice(0, loadsShown).map(({ load, peildatum, at, keys, added, changed, removed }) => ({
      id: load,
      date: peildatum,
      at,
      keys,
      added,
      changed,
      removed,
    })),
    waiting: refused.map(({ load, peildatum, objections }) => ({
      id: load,
      date: peildatum,
      why: objections.map(({ message }) => message),
    })),
  };
}
