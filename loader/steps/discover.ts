import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { findMembers } from '../bag/extract-members.ts';
import { extractIdentity, type Load, loadId } from '../dataset/load.ts';
import type { Manifest } from '../dataset/manifest.ts';
import { openSource } from '../storage/open.ts';
import type { Source } from '../storage/source.ts';
import { openObject, putJson, type Storage } from '../storage/storage.ts';
import type { RandomAccess } from '../zip/random-access.ts';
import { finishPending } from './finish-pending.ts';
import { currentManifest, type Found, type Places } from './manifest.ts';
import { paths } from './paths.ts';
import { storageSpool } from './stage.ts';

export type DiscoverInput = {
  /** A URL, `s3://bucket/key` or the path of a file. */
  source: string;
  /** Loads the extract even if it is the one that is served, or one that was gone back from. */
  again?: boolean;
  /** Only looks: plans onto a load that died while applying as if it were finished. */
  planOnly?: boolean;
};

/**
 * Asks the source whether it has another state than the one that is served. Reads the directories of the zips and the
 * Leveringsdocument, by range. A load that died while applying comes first.
 * @throws SourceError, ExtractError, ForeignStorageError, WorkGoneError
 */
export async function discover({ storage, addresses }: Places, input: DiscoverInput): Promise<Found> {
  const manifest = await currentManifest(storage, addresses);
  const { pending } = manifest;
  if (pending && !input.planOnly) return finishPending(storage, pending);
  const base = pending ?? manifest.published;

  const known = input.again ? undefined : (base?.source ?? undefined);
  const source = await openSource(input.source, known);
  if (!source) return { action: 'none', reason: `${input.source} has not changed`, live: base };
  try {
    const load = await describe(storage, source, base);
    const reason = input.again ? null : whyNot(load, base?.identity, manifest);
    if (reason) return { action: 'none', reason, live: base };
    await putJson(storage, paths.load(load.id), load);
    return { action: 'load', load: load.id, peildatum: load.peildatum };
  } finally {
    await source.close();
  }
}

async function describe(storage: Storage, source: Source, base: Manifest['published']): Promise<Load> {
  const { version } = source;
  const label = basename(version.location);
  const access = await readable(storage, source);
  const { peildatum, members } = await findMembers(access, label, { spool: storageSpool(storage, version) });
  const identity = extractIdentity(peildatum, members);
  return {
    id: loadId(peildatum, identity, base?.load ?? null),
    kind: 'extract',
    peildatum,
    base: base && { load: base.load, snapshot: base.snapshot },
    target: null,
    source: version,
    members,
    identity,
  };
}

function whyNot(load: Load, liveIdentity: string | undefined, manifest: Manifest): string | null {
  if (load.identity === liveIdentity) return `the state of ${load.peildatum} is the one that is served`;
  if (manifest.rejected.includes(load.identity)) {
    return `the state of ${load.peildatum} was rolled back; "load run --again" loads it all the same`;
  }
  return null;
}

const wholeAttempts = 3;

/** The extract by range; of a server that can't, the whole of it goes through the storage first. */
export async function readable(storage: Storage, source: Source): Promise<RandomAccess> {
  if (source.access) return source.access;
  const { version } = source;
  const name = createHash('sha256').update(JSON.stringify(version)).digest('hex').slice(0, 16);
  const key = paths.incoming(`${name}.zip`);
  const versioned = version.etag !== null || version.lastModified !== null;
  if (!versioned || !(await storage.open(key))) {
    for (let attempt = 1; ; attempt++) {
      try {
        await storage.putStream(key, source.stream());
        break;
      } catch (error) {
        if (attempt === wholeAttempts) throw error;
      }
    }
  }
  return openObject(storage, key);
}
