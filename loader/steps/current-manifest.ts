import { emptyManifest, type Manifest } from '../dataset/manifest.ts';
import type { AddressTable } from '../storage/address-table.ts';
import { putJson, type Storage } from '../storage/storage.ts';
import { paths } from './paths.ts';

/** The storage and the table do not belong together, so no difference between them can be known. */
export class ForeignStorageError extends Error {
  override readonly name = 'ForeignStorageError';
}

/**
 * The manifest, held against the table: a table that serves nothing is a new one, so everything has to be loaded.
 * @throws ForeignStorageError when the table serves what this storage knows nothing of
 */
export async function currentManifest(storage: Storage, addresses: AddressTable): Promise<Manifest> {
  const [stored, dataset] = await Promise.all([storage.get(paths.manifest), addresses.dataset()]);
  const manifest = stored ? (JSON.parse(stored.toString()) as Manifest) : emptyManifest;
  if (!dataset) return manifest.published ? emptyManifest : manifest;
  const { published, pending } = manifest;
  if (dataset.load !== published?.load && dataset.load !== pending?.load) {
    throw new ForeignStorageError(
      `The table serves the state of ${dataset.date} (load ${dataset.load || 'unknown'}), which this storage does not ` +
        'know. Use the storage of that load, or have the table made what this storage knows: "load repair". If the ' +
        'storage was lost: docs/runbook.md#lost-table.',
    );
  }
  return manifest;
}

/** Stores the manifest. */
export async function putManifest(storage: Storage, manifest: Manifest): Promise<void> {
  await putJson(storage, paths.manifest, manifest);
}
