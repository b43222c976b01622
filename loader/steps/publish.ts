import type { StoredAddress } from '../../core/addresses/address-item.ts';
import { parseLine, unpackWrites } from '../addresses/lines.ts';
import {
  type ChangeFile,
  complete,
  keptSnapshots,
  type Manifest,
  type ManifestEntry,
} from '../dataset/load.ts';
import { LoadError } from '../load-error.ts';
import { isPastDelivery } from '../mutations/delivery-copies.ts';
import { datesOfName } from '../mutations/mutation-lists.ts';
import type { AddressTable } from '../storage/address-table.ts';
import type { Fence } from '../storage/lock.ts';
import { getJson, getUnpacked, paths, type Storage } from '../storage/storage.ts';
import { currentManifest, differingKeys, putManifest } from '../storage/stored-loads.ts';
import { snapshotLines } from '../storage/stored-register.ts';
import { lambda } from './lambda-step.ts';
import type { Step, StepContext, StepInput } from './step.ts';

/**
 * Completes a load: checks that all was applied and that a sample reads back, names the snapshot in
 * the table, and updates the manifest last. Removes old snapshots, work of loads, and old
 * deliveries. @throws ReadBackError, LockedError
 */
async function publish(context: StepContext, { load }: StepInput): Promise<ManifestEntry> {
  const { storage, addresses, keep } = context;
  const fence = await context.fence();
  const manifest = await currentManifest(storage, addresses);
  const { pending, published } = manifest;
  if (pending?.load !== load) {
    if (published?.load === load) return published; // it was published, and the response was lost
    throw new Error(`Load ${load} is not the pending load. Run the load again.`);
  }
  const files = await getJson<ChangeFile[]>(storage, paths.changeFiles(load));
  const applied = new Set(await storage.list(paths.appliedAll(load)));
  const missing = files.filter(({ changes }) => !applied.has(paths.applied(load, changes)));
  if (missing.length > 0) {
    throw new Error(
      `${missing.length} of ${files.length} change files of ${load} were not applied. Run the load again.`,
    );
  }
  await readBack(storage, addresses, pending, files);
  await addresses.setDataset({ peildatum: pending.peildatum, load }, fence);
  const done = complete(manifest, new Date().toISOString());
  await fence.confirm(0);
  await putManifest(storage, done, manifest);
  await sweep(storage, done, keep, fence);
  return done.published ?? pending;
}

const sampledFiles = 20;
const sampledKeys = 10;

/** Keys spread over the change files, and some that no file changes, if there are any. */
async function readBack(
  storage: Storage,
  addresses: AddressTable,
  { load, snapshot }: ManifestEntry,
  files: ChangeFile[],
): Promise<void> {
  const expected = new Map<string, StoredAddress | undefined>();
  for (const { changes } of spread(files, sampledFiles)) {
    const writes = await getUnpacked(storage, paths.changes(load, changes), unpackWrites);
    for (const write of spread(writes, sampledKeys)) {
      if ('remove' in write) expected.set(write.remove, undefined);
      else {
        expect(write.put);
      }
    }
  }
  for (const segment of spread(snapshot.segments, 1)) {
    for (const line of spread(await snapshotLines(storage, snapshot, segment), sampledKeys)) {
      expect(line);
    }
  }
  function expect(line: string): void {
    const address = parseLine(line);
    expected.set(address.key, address);
  }

  const wrong = await differingKeys(addresses, expected);
  if (wrong.length === 0) return;
  // So that the next run writes everything again.
  await storage.delete(files.map(({ changes }) => paths.applied(load, changes)));
  throw new LoadError(
    'ReadBackError',
    `${wrong.length} of ${expected.size} addresses read back differ from the written ones, among them ${wrong.slice(0, 3).join(', ')}. ` +
      'Something else writes to this table, or it lost writes. Run "load repair", which compares all of it, and then the ' +
      'load again: it writes all of its changes again.',
  );
}

function spread<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(items.length / count));
  return items.filter((_, index) => index % step === 0).slice(0, count);
}

async function sweep(
  storage: Storage,
  manifest: Manifest,
  keep: number,
  fence: Fence,
): Promise<void> {
  const kept = keptSnapshots(manifest, keep);
  const old = (await storage.list(paths.snapshots)).filter(
    (key) => !kept.has(key.split('/')[1] ?? ''),
  );
  const work = await storage.list(paths.loads);
  const deliveries = (await storage.list(paths.mutations)).filter((key) => isPast(key, manifest));
  await fence.confirm(0); // another load may have been published since, and keep other snapshots
  await storage.delete([...old, ...work, ...deliveries]);
}

function isPast(key: string, { published }: Manifest): boolean {
  const dates = datesOfName(key.slice(paths.mutations.length, key.lastIndexOf('-')), {
    nearly: true,
  });
  return dates !== null && published !== null && isPastDelivery(dates, published.peildatum);
}

/** Completes the load; returns the manifest's entry of the live dataset. */
export const step: Step<ManifestEntry> = {
  async run(context, input) {
    const shown = context.progress.begin('publish', {});
    const entry = await publish(context, input);
    shown.end();
    return entry;
  },
};

export const handler = /* @__PURE__ */ lambda(
  'publish',
  'load',
  async (input, deployment, invocation) => {
    const entry = await step.run(deployment.context(input.owner, invocation), input);
    const { audit } = entry;
    if (audit) deployment.report('auditDifferences', audit.added + audit.changed + audit.removed);
    return entry;
  },
);
