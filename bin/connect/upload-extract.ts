import { basename } from 'node:path';
import { extractIdentity } from '../../loader/dataset/load.ts';
import { findMembers } from '../../loader/pipeline/extract-members.ts';
import type { Progress } from '../../loader/progress.ts';
import { fileSource } from '../../loader/storage/file-source.ts';
import type { Source } from '../../loader/storage/source.ts';
import type { Storage } from '../../loader/storage/storage.ts';

/** Whether a source is a file here, which a deployment can't reach. */
export function isOnThisMachine(source: string): boolean {
  return !/^(?:https?|s3):\/\//i.test(source);
}

/**
 * Copies an extract into the bucket, once, and gives where it is: `s3://BUCKET/uploads/...`. A file that is no extract is
 * refused before it is sent.
 * @throws SourceError, ExtractError
 */
export async function uploadExtract(
  path: string,
  { storage, bucket, progress }: { storage: Storage; bucket: string; progress: Progress },
): Promise<string> {
  const source = await fileSource(path);
  if (!source?.access) throw new Error(`${path} can't be read by range`);
  try {
    const { location } = source.version;
    const { size } = source.access;
    const { peildatum, members } = await findMembers(source.access, basename(location));
    const key = `uploads/${extractIdentity(peildatum, members)}-${size}.zip`;
    if (!(await storage.open(key))) await send(storage, { key, source, bytes: size, progress });
    return `s3://${bucket}/${key}`;
  } finally {
    await source.close();
  }
}

type Sending = { key: string; source: Source; bytes: number; progress: Progress };

async function send(storage: Storage, { key, source, bytes, progress }: Sending): Promise<void> {
  const shown = progress.begin('stage', { bytes });
  const counted = async function* () {
    for await (const chunk of source.stream()) {
      shown.advance({ bytes: chunk.length });
      yield chunk;
    }
  };
  await storage.putStream(key, counted());
  shown.end();
}
