import { createHash } from 'node:crypto';
import type { SourceVersion } from '../dataset/source-version.ts';
import type { Spool } from '../pipeline/extract-members.ts';

import { openObject, type Storage } from '../storage/storage.ts';
import { paths } from './paths.ts';

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
