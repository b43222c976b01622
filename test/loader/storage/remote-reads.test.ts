import { describe, expect, it } from '@jest/globals';
import { folderStorage } from '../../../loader/storage/files.ts';
import { readAhead, sourceInTime } from '../../../loader/storage/remote-reads.ts';
import type { Source } from '../../../loader/storage/source.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const blockBytes = 1 << 20;
const bytes = Buffer.alloc(4 * blockBytes, 'abcdefg');
const folder = folderForNow('source-in-time-');
const hour = 3_600_000;
let folders = 0;

const newStorage = () => folderStorage(`${folder}/${folders++}`);

/** A source of four blocks that counts its reads, and never answers one once it `stalls`. */
function slowSource({ ranges = true, etag = '"a"' }: { ranges?: boolean; etag?: string | null } = {}) {
  const state = { reads: 0, stalls: false };
  const never = new Promise<never>(() => undefined);
  const source: Source = {
    version: { location: 'https://slow.example.nl/extract.zip', size: bytes.length, etag, lastModified: null },
    isRemote: true,
    access: ranges
      ? {
          size: bytes.length,
          async read(position, length) {
            if (state.stalls) return never;
            state.reads++;
            return bytes.subarray(position, position + length);
          },
        }
      : null,
    async *stream() {
      yield bytes.subarray(0, 3 * blockBytes);
      if (state.stalls) await never;
      yield bytes.subarray(3 * blockBytes);
    },
    close: async () => undefined,
  };
  return { source, state };
}

async function readAll(source: Source): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes) {
    blocks.push((await source.access?.read(at, blockBytes)) ?? Buffer.alloc(0));
  }
  return Buffer.concat(blocks);
}

describe('a source with ranges that is too slow for one step', () => {
  it('resumes where the previous step ran out of time', async () => {
    const storage = newStorage();
    const { source, state } = slowSource();
    let left = hour;
    const first = sourceInTime(source, storage, () => left);
    await first.access?.read(0, blockBytes);
    await first.access?.read(blockBytes, blockBytes);
    [state.stalls, left] = [true, 45_001];
    await expect(readAll(first)).rejects.toMatchObject({ name: 'SourceUnfinishedError' });

    Object.assign(state, { stalls: false, reads: 0 });
    expect(bytes.equals(await readAll(sourceInTime(source, storage, () => hour)))).toBe(true);
    expect(state.reads).toBe(2);
  });

  it('says what to do when nothing arrived', async () => {
    const { source, state } = slowSource();
    state.stalls = true;
    const reading = readAll(sourceInTime(source, newStorage(), () => 45_001));
    await expect(reading).rejects.toMatchObject({
      name: 'SourceTooSlowError',
      message: expect.stringMatching(/no part of 4 MB arrived .* load run --extract FILE --stage NAME\.$/),
    });
  });

  it('does not resume with another version of the extract', async () => {
    const storage = newStorage();
    await readAll(sourceInTime(slowSource().source, storage, () => hour));
    const { source, state } = slowSource({ etag: '"b"' });
    await readAll(sourceInTime(source, storage, () => hour));
    expect(state.reads).toBe(4);
  });

  it('keeps nothing from a server that does not identify versions', async () => {
    const storage = newStorage();
    await readAll(sourceInTime(slowSource({ etag: null }).source, storage, () => hour));
    expect(await storage.list('')).toEqual([]);
  });
});

describe('a source without ranges that is too slow for one step', () => {
  it('fails with how much arrived and what to do', async () => {
    const { source, state } = slowSource({ ranges: false });
    state.stalls = true;
    const storage = newStorage();
    const stored = storage.putStream('whole', sourceInTime(source, storage, () => 45_001).stream());
    await expect(stored).rejects.toMatchObject({
      name: 'SourceTooSlowError',
      message: expect.stringMatching(/: 3 MB of 4 MB arrived .* no Range support .* load run --extract FILE/),
    });
    expect(await storage.list('')).toEqual([]);
  });

  it('is read completely if there is time', async () => {
    const { source } = slowSource({ ranges: false });
    const chunks: Uint8Array[] = [];
    for await (const chunk of sourceInTime(source, newStorage(), () => hour).stream()) chunks.push(chunk);
    expect(bytes.equals(Buffer.concat(chunks))).toBe(true);
  });
});

it('a source stays the same when the step has no time limit', () => {
  const { source } = slowSource();
  expect(sourceInTime(source, newStorage(), () => Number.POSITIVE_INFINITY)).toBe(source);
});

describe('reading ahead', () => {
  const file = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));

  it('returns the same bytes in fewer and larger reads', async () => {
    const reads: number[] = [];
    const source = {
      size: file.length,
      read: async (position: number, length: number) => {
        reads.push(position);
        return file.subarray(position, position + length);
      },
    };
    const ahead = readAhead(source, { blockBytes: 64_000 });
    const chunks: Buffer[] = [];
    for (let at = 0; at < file.length; at += 1000) chunks.push(await ahead.read(at, 1000));
    expect(Buffer.concat(chunks).equals(file)).toBe(true);
    expect(reads).toEqual([0, 64_000, 128_000, 192_000, 256_000]);
    reads.length = 0;
    await readAhead(source, { until: 1500, blockBytes: 1000 }).read(0, 1200);
    expect(reads).toEqual([0, 1000]);
    expect((await ahead.read(10_000, 200_000)).equals(file.subarray(10_000, 210_000))).toBe(true);
  });

  it('reads again after a failure', async () => {
    let failing = true;
    const read = async (position: number, length: number) => {
      if (failing) throw new Error('cut');
      return file.subarray(position, position + length);
    };
    const ahead = readAhead({ size: file.length, read });
    await expect(ahead.read(0, 10)).rejects.toThrow('cut');
    failing = false;
    expect((await ahead.read(0, 10)).length).toBe(10);
  });
});
