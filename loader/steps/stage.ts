import { fileLabel, memberAccess } from '../bag/extract-members.ts';
import { extractName, type Load } from '../dataset/load.ts';
import { readExtract, unlimited } from '../storage/members.ts';
import { openSource } from '../storage/open.ts';
import {
  inTime,
  isSameVersion,
  SourceChangedError,
  SourceTooSlowError,
  SourceUnfinishedError,
} from '../storage/source.ts';
import { getJson, paths } from '../storage/storage.ts';
import { entryStream } from '../zip/zip.ts';
import { lambdaStep } from './lambda-step.ts';
import type { Step, StepContext } from './step.ts';

/**
 * Copies the members, inflated and verified. @throws SourceChangedError if it is not what
 * `discover` found
 */
async function stage(context: StepContext, loadId: string): Promise<void> {
  const { storage, progress, remainingMilliseconds = unlimited } = context;
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { source: expected, members } = load;
  if (!expected) return;
  const key = (index: number) => paths.member(load.id, index, members[index]?.name ?? '');
  const missing: number[] = [];
  for (const index of members.keys()) if (!(await storage.open(key(index)))) missing.push(index);
  if (missing.length === 0) return;

  const bytes = missing.reduce((sum, index) => sum + (members[index]?.path.at(-1)?.size ?? 0), 0);
  const shown = progress.begin('stage', { bytes });
  const source = await openSource(expected.location);
  if (!source) return;
  let stored = 0;
  const copy: Parameters<typeof readExtract<void>>[2] = async (access, spool) => {
    const label = extractName(load);
    for (const index of missing) {
      const member = members[index];
      const entry = member?.path.at(-1);
      if (!member || !entry) continue;
      const outer = await memberAccess(
        access,
        { ...member, path: member.path.slice(0, -1) },
        label,
        spool,
      );
      const chunks = entryStream(outer, entry, fileLabel(label, member));
      await storage.putStream(
        key(index),
        counted(chunks, (count) => shown.advance({ bytes: count })),
      );
      stored++;
    }
  };
  try {
    if (!isSameVersion(source.version, expected)) throw new SourceChangedError(expected.location);
    await inTime(readExtract(storage, source, copy), remainingMilliseconds(), () =>
      stored > 0 ? new SourceUnfinishedError(expected.location) : new SourceTooSlowError(expected),
    );
  } finally {
    await source.close();
  }
  shown.end();
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** Copies the members of the extract to the storage. */
export const step: Step = {
  async run(context, { load }) {
    await stage(context, load);
    return { load };
  },
};

export const handler = /* @__PURE__ */ lambdaStep('stage', step);
