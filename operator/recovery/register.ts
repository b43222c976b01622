import { keptSnapshots, type Manifest } from '../../loader/dataset/manifest.ts';
import { parseCheckedJson } from '../../loader/dataset/stored-form.ts';
import { paths } from '../../loader/storage/storage.ts';
import type { SetContents, SetIndex } from './backup-set.ts';

/** The part of a set about the register: the manifest as it is stored, and where its snapshots are. */
export function registerPart(
  manifest: Uint8Array | null,
  location: string,
): Pick<SetContents, 'manifest' | 'snapshots'> {
  if (!manifest) return { manifest: null, snapshots: [] };
  return {
    manifest,
    snapshots: snapshotsIn(parseCheckedJson<Manifest>(Buffer.from(manifest), paths.manifest), location),
  };
}

/** More than `snapshotsKept` can be. */
const most = 24;

function snapshotsIn(manifest: Manifest, location: string): SetIndex['snapshots'] {
  const kept = keptSnapshots(manifest, most);
  return manifest.history
    .filter(({ snapshot }) => kept.has(snapshot.id))
    .map(({ peildatum, snapshot }) => ({ peildatum, location: `${location}/${paths.snapshotOf(snapshot.id)}` }));
}
