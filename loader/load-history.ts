import type { Manifest, ManifestEntry } from './dataset/manifest.ts';
import { currentManifest } from './steps/current-manifest.ts';
import { paths } from './steps/paths.ts';
import type { Places } from './steps/step.ts';

/** What is served, what is under way, and how old the served state is. Plain JSON. */
export type LoadStatus = Pick<Manifest, 'published' | 'pending'> & {
  /** Whole days since the date of the state; `null` when nothing is served. */
  ageDays: number | null;
};

/** @throws ForeignStorageError */
export async function loadStatus(places: Places, now = Date.now()): Promise<LoadStatus> {
  const { published, pending } = await currentManifest(places.storage, places.addresses);
  const ageDays = published && Math.floor((now - Date.parse(published.state)) / 86_400_000);
  return { published, pending, ageDays };
}

/** Published loads from new to old; `kept` ones can be gone back to. @throws ForeignStorageError */
export async function loadHistory({ storage, addresses }: Places): Promise<(ManifestEntry & { kept: boolean })[]> {
  const { history } = await currentManifest(storage, addresses);
  const keys = await storage.list(paths.snapshots);
  const snapshots = new Set(keys.map(({ key }) => key.split('/')[1]));
  return history.map((entry) => ({ ...entry, kept: snapshots.has(entry.snapshot.id) }));
}
