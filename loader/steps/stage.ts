import { fileLabel, memberAccess } from '../bag/extract-members.ts';
import { extractName, type Load } from '../dataset/load.ts';
import { noProgress, type Progress } from '../progress.ts';
import { readExtract, unlimited } from '../storage/members.ts';
import { openSource } from '../storage/open.ts';
import { readAhead, sourceInTime } from '../storage/remote-reads.ts';
import { isSameVersion, SourceChangedError } from '../storage/source.ts';
import { getJson, paths, type Storage } from '../storage/storage.ts';
import { entryStream } from '../zip/zip.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Step } from './step.ts';

/** More bytes than a local header has: 30, the name and the extra fields. */
const localHeaderBytes = 1024;

/** Copies the members, inflated and verified. @throws SourceChangedError if it is not what `discover` found */
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
    await readExtract(storage, source, async (access, spool) => {
      for (const index of missing) {
        const member = members[index];
        const entry = member?.path.at(-1);
        if (!member || !entry) continue;
        const around = { ...member, path: member.path.slice(0, -1) };
        const outer = await memberAccess(access, around, label, spool);
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

/** Copies the members of the extract to the storage. */
export const step: Step = {
  async run({ storage, progress, remainingMilliseconds }, { load }) {
    await stage(storage, load, progress, remainingMilliseconds);
    return { load };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('stage', step);
