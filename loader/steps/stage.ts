import { createHash } from 'node:crypto';
import { fileLabel, memberAccess, type Spool } from '../bag/extract-members.ts';
import { extractName, type Load } from '../dataset/load.ts';
import type { SourceVersion } from '../dataset/manifest.ts';
import { ExtractError } from '../extract-error.ts';
import { noProgress, type Progress } from '../progress.ts';
import { openSource } from '../storage/open.ts';
import { paths } from '../storage/paths.ts';
import { readAhead } from '../storage/read-ahead.ts';
import { isSameVersion, type Source, SourceChangedError, SourceTooSlowError } from '../storage/source.ts';
import { sourceInTime } from '../storage/source-in-time.ts';
import { getJson, openObject, type Storage } from '../storage/storage.ts';
import type { RandomAccess } from '../zip/random-access.ts';
import { entryStream } from '../zip/zip-entry.ts';
import { lambdaStep } from './lambda-step.ts';

/** Keeps an inner zip that was deflated in the storage, where it can be read by range; once for each extract. */
export function storageSpool(storage: Storage, version: SourceVersion): Spool {
  return async (stream, name, size) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([version, name, size]))
      .digest('hex')
      .slice(0, 16);
    const key = paths.incoming(`${hash}-${name}`);
    const kept = await storage.open(key);
    if (kept) {
      stream.destroy();
      return kept;
    }
    await storage.putStream(key, stream);
    return openObject(storage, key);
  };
}

const wholeAttempts = 3;

/** The time that is left to a step that nothing limits. */
export const unlimited = () => Number.POSITIVE_INFINITY;

/**
 * Reads the extract by range; of a server that can't give ranges, the whole of it is downloaded into the storage first, and
 * kept there for as long as its version stays. A kept download that turns out to be damaged is dropped and fetched again.
 */
export async function readExtract<T>(
  storage: Storage,
  source: Source,
  read: (access: RandomAccess) => Promise<T>,
): Promise<T> {
  if (source.access) return read(source.access);
  const { version } = source;
  const name = createHash('sha256').update(JSON.stringify(version)).digest('hex').slice(0, 16);
  const key = paths.incoming(`${name}.zip`);
  const versioned = version.etag !== null || version.lastModified !== null;
  const isKept = versioned && (await storage.open(key)) !== null;
  try {
    return await read(await download(storage, source, key, isKept));
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    await storage.delete([key]);
    if (!isKept) throw error;
    return read(await download(storage, source, key, false));
  }
}

async function download(storage: Storage, source: Source, key: string, isKept: boolean): Promise<RandomAccess> {
  if (!isKept) {
    let broke: unknown;
    for (let attempt = 1; ; attempt++) {
      try {
        await storage.putStream(key, source.stream());
        break;
      } catch (error) {
        // With all of the time, the download may succeed that broke before: report what broke it.
        if (error instanceof SourceTooSlowError) throw broke ?? error;
        if (attempt === wholeAttempts) throw error;
        broke = error;
      }
    }
  }
  return openObject(storage, key);
}

/** The most that lies before the bytes of an entry: 30, its name and its extra fields. */
const localHeaderBytes = 1024;

/**
 * Copies the inner zips that addresses are made of into the storage, without their outer compression and with their
 * checksums checked, so that they can be read by range. Nothing else of the extract is read.
 * @throws SourceChangedError when the extract is another one than `discover` saw
 */
export async function stage(
  storage: Storage,
  loadId: string,
  progress: Progress = noProgress,
  remainingMilliseconds: () => number = unlimited,
): Promise<void> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { source: expected, members } = load;
  if (!expected) return;
  const key = (index: number) => paths.member(load.id, index, members[index]?.name ?? '');
  const missing: number[] = [];
  for (const index of members.keys()) if (!(await storage.open(key(index)))) missing.push(index);
  if (missing.length === 0) return;

  const bytes = missing.reduce((sum, index) => sum + (members[index]?.path.at(-1)?.size ?? 0), 0);
  const shown = progress.begin('stage', { bytes });
  const opened = await openSource(expected.location);
  if (!opened) return;
  const source = sourceInTime(opened, storage, remainingMilliseconds);
  try {
    if (!isSameVersion(source.version, expected)) throw new SourceChangedError(expected.location);
    const label = extractName(load);
    await readExtract(storage, source, async (access) => {
      for (const index of missing) {
        const member = members[index];
        const entry = member?.path.at(-1);
        if (!member || !entry) continue;
        const around = { ...member, path: member.path.slice(0, -1) };
        const outer = await memberAccess(access, around, label, storageSpool(storage, expected));
        const until = Math.min(outer.size, entry.headerOffset + localHeaderBytes + entry.compressedSize);
        const inTurn = source.isRemote ? readAhead(outer, { until }) : outer;
        const chunks = entryStream(inTurn, entry, fileLabel(label, member));
        await storage.putStream(
          key(index),
          counted(chunks, (count) => shown.advance({ bytes: count })),
        );
      }
    });
  } finally {
    await source.close();
  }
  shown.end();
}

async function* counted(chunks: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** Copies the members into the bucket. */
export const handler = /* @__PURE__ */ lambdaStep('stage', async ({ load }, { storage }, invocation) => {
  await stage(storage, load, noProgress, () => invocation.getRemainingTimeInMillis());
  return { load };
});
