import type { RandomAccess } from '../zip/random-access.ts';

const usualBlockBytes = 8 * 1024 * 1024;

/**
 * Reads `source` in blocks and requests the next block ahead: for sequential reading where each read is a request.
 * Holds at most three blocks, and reads nothing ahead from `until` on.
 */
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

  /** The block that holds `position`, and its bytes. */
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
