import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { findMembers } from '../../loader/bag/extract-members.ts';
import { extractIdentity } from '../../loader/dataset/load.ts';
import type { Progress } from '../../loader/progress.ts';
import { fileSource } from '../../loader/storage/files.ts';
import { listMutations } from '../../loader/storage/mutation-list.ts';
import type { Source } from '../../loader/storage/source.ts';
import type { Storage } from '../../loader/storage/storage.ts';

/** Whether a source is a file on this machine, which a deployment can't read. */
export function isOnThisMachine(source: string): boolean {
  return !/^(?:https?|s3):\/\//i.test(source);
}

/**
 * Uploads an extract to the bucket unless it is there already, and returns its location: `s3://BUCKET/uploads/...`. A file
 * that is no extract is refused before the upload.
 * @throws SourceError, ExtractError
 */
export async function uploadExtract(
  path: string,
  { storage, bucket, progress }: { storage: Storage; bucket: string; progress: Progress },
): Promise<string> {
  const source = await fileSource(path);
  if (!source?.access) throw new Error(`${path} can't be read in ranges`);
  try {
    const { location } = source.version;
    const { size } = source.access;
    const { peildatum, members } = await findMembers(source.access, basename(location));
    const key = `uploads/${extractIdentity(peildatum, members)}-${size}.zip`;
    if (!(await storage.open(key))) await upload(storage, { key, source, bytes: size, progress });
    return `s3://${bucket}/${key}`;
  } finally {
    await source.close();
  }
}

/** Uploads the deliveries that are on this machine; a list or a zip elsewhere stays where it is. @throws SourceError */
export async function uploadMutations(
  locations: readonly string[],
  { storage, bucket }: { storage: Storage; bucket: string },
): Promise<string[]> {
  const found: string[] = [];
  for (const location of locations) {
    if (!isOnThisMachine(location)) {
      found.push(location);
      continue;
    }
    for (const { name, location: file } of await listMutations(location)) {
      const bytes = isOnThisMachine(file) ? await readFile(file) : null;
      if (!bytes) {
        found.push(file);
        continue;
      }
      const key = `uploads/${crc32(bytes).toString(16)}/${name}`;
      if (!(await storage.open(key))) await storage.put(key, bytes);
      found.push(`s3://${bucket}/${key}`);
    }
  }
  return found;
}

type Upload = { key: string; source: Source; bytes: number; progress: Progress };

async function upload(storage: Storage, { key, source, bytes, progress }: Upload): Promise<void> {
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
