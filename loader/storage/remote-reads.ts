import { createHash } from 'node:crypto';
import type { RandomAccess } from '../zip/random-access.ts';
import { type Source, SourceTooSlowError, SourceUnfinishedError } from './source.ts';
import { paths, type Storage } from './storage.ts';

/** Reserved for storing what was read and for ending the step with an error that says what to do. */
const reserveMilliseconds = 45_000;
/** Smaller reads are of zip directories: cheaper to repeat than to keep. */
const smallestKept = 256 * 1024;

/**
 * The source for a step with a time limit, which keeps each large read, so that the step can continue. A read that
 * takes too long fails with SourceUnfinishedError if anything was kept, else with SourceTooSlowError. @param
 * remainingMilliseconds until the step times out
 */
export function sourceInTime(source: Source, storage: Storage, remainingMilliseconds: () => number): Source {
  const { version, access } = source;
  if (!/^https?:/i.test(version.location) || !Number.isFinite(remainingMilliseconds())) return source;
  // Two servers behind one URL may have different ETags.
  const mark = version.lastModified ?? version.etag;
  const hash = createHash('sha256')
    .update(JSON.stringify([version.location, version.size, mark]))
    .digest('hex');
  let kept = 0;

  const inTime = async <T>(work: Promise<T>, tooLate: () => Error): Promise<T> => {
    work.catch(() => undefined); // nothing awaits it after the time limit
    let timer: NodeJS.Timeout | undefined;
    const end = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooLate()), Math.max(0, remainingMilliseconds() - reserveMilliseconds));
    });
    try {
      return await Promise.race([work, end]);
    } finally {
      clearTimeout(timer);
    }
  };
  const unfinished = () => (kept > 0 ? new SourceUnfinishedError(version.location) : new SourceTooSlowError(version));

  return {
    ...source,
    access: access && {
      size: access.size,
      async read(position, length) {
        if (length < smallestKept || mark === null) return inTime(access.read(position, length), unfinished);
        const key = paths.incoming(`${hash.slice(0, 16)}-${position}-${length}`);
        const found = await storage.get(key);
        if (found?.length === length) return found;
        const bytes = await inTime(access.read(position, length), unfinished);
        await storage.put(key, bytes);
        kept++;
        return bytes;
      },
    },
    async *stream() {
      const chunks = source.stream()[Symbol.asyncIterator]();
      let bytes = 0;
      try {
        for (;;) {
          const next = await inTime(chunks.next(), () => new SourceTooSlowError(version, bytes));
          if (next.done) return;
          bytes += next.value.length;
          yield next.value;
        }
      } finally {
        chunks.return?.().catch(() => undefined);
      }
    },
  };
}

const usualBlockBytes = 8 * 1024 * 1024;

/** Reads blocks one ahead, for sequential reading by requests: at most three at once, none from `until` on. */
export function readAhead(
  source: RandomAccess,
  { until = source.size, blockBytes = usualBlockBytes }: { until?: number; blockBytes?: number } = {},
): RandomAccess {
  let held: Block | undefined;
  let coming: Block | undefined;

  const begin = (position: number): Block | undefined => {
    const length = Math.min(blockBytes, until - position);
    if (length <= 0) return undefined;
    const bytes = source.read(position, length);
    bytes.catch(() => undefined); // rejects for whoever awaits it, which may be nobody
    return { position, length, bytes };
  };

  const blockAt = async (position: number): Promise<{ start: number; bytes: Buffer }> => {
    if (!holds(held, position)) {
      held = holds(coming, position) ? coming : begin(position);
      coming = held && begin(held.position + held.length);
    }
    const block = held as Block; // defined, since `position` is before `until`
    try {
      return { start: block.position, bytes: await block.bytes };
    } catch (error) {
      held = undefined;
      coming = undefined;
      throw error;
    }
  };

  return {
    size: source.size,
    async read(position, length) {
      if (position + length > until) return source.read(position, length);
      const pieces: Buffer[] = [];
      for (let at = position; at < position + length; ) {
        const { start, bytes } = await blockAt(at);
        const piece = bytes.subarray(at - start, position + length - start);
        pieces.push(piece);
        at += piece.length;
      }
      return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    },
  };
}

type Block = { position: number; length: number; bytes: Promise<Buffer> };

function holds(block: Block | undefined, position: number): boolean {
  return block !== undefined && position >= block.position && position < block.position + block.length;
}
